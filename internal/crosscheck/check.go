package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// errFaults is the error for a module with faults, which have been printed.
var errFaults = errors.New("there are faults")

// listed is a package as go list tells of it.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Standard   bool
	DepOnly    bool
	Error      *struct{ Err string }
	Module     *struct{ GoVersion string }
}

// checkSystem type-checks the module in dir and its tests for a system.
func checkSystem(ctx context.Context, dir, system string, out io.Writer) error {
	packages, err := list(ctx, dir, system)
	if err != nil {
		return err
	}
	c := &checker{fset: token.NewFileSet(), system: system, done: map[string]*types.Package{"unsafe": types.Unsafe}}
	files := c.parse(packages)
	for i, p := range packages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.check(p, files[i])
	}
	for _, fault := range c.faults {
		fmt.Fprintln(out, fault)
	}
	if len(c.faults) > 0 {
		return errFaults
	}
	return nil
}

// list returns the packages of the module and of its tests with everything that they need, each after what it needs.
func list(ctx context.Context, dir, system string) ([]*listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-test",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Standard,DepOnly,Error,Module", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var packages []*listed
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		// The program that runs the tests is made by go test, and unsafe by the compiler.
		if !strings.HasSuffix(p.ImportPath, ".test") && p.ImportPath != "unsafe" {
			packages = append(packages, p)
		}
	}
}

// checker has the packages that have been checked.
type checker struct {
	fset   *token.FileSet
	system string
	done   map[string]*types.Package
	faults []string
	seen   map[string]bool
}

// fault notes a fault once: a package and its variant with tests have the same ones.
func (c *checker) fault(text string) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[text] {
		c.seen[text] = true
		c.faults = append(c.faults, c.system+": "+text)
	}
}

// parsed are the files of a package.
type parsed struct {
	files []*ast.File
	errs  []error
}

// parse reads the files of all packages.
func (c *checker) parse(packages []*listed) []parsed {
	all := make([]parsed, len(packages))
	var work sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, p := range packages {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, name := range p.GoFiles {
				if !filepath.IsAbs(name) {
					name = filepath.Join(p.Dir, name)
				}
				f, err := parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution)
				if err != nil {
					all[i].errs = append(all[i].errs, err)
					continue
				}
				all[i].files = append(all[i].files, f)
			}
		})
	}
	work.Wait()
	return all
}

// check type-checks a package. Of one outside of the module only what it offers is looked at, and its faults are its own.
func (c *checker) check(p *listed, text parsed) {
	ours := !p.DepOnly
	report := func(err error) {
		if ours {
			c.fault(err.Error())
		}
	}
	if p.Error != nil && ours {
		c.fault(p.ImportPath + ": " + strings.TrimSpace(p.Error.Err))
	}
	for _, err := range text.errs {
		report(err)
	}
	conf := types.Config{
		Importer:         importer{c, p.ImportMap},
		IgnoreFuncBodies: !ours,
		FakeImportC:      true,
		Error:            report,
		Sizes:            types.SizesFor("gc", runtime.GOARCH),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, _ := conf.Check(path, c.fset, text.files, nil) // its errors went to report
	c.done[p.ImportPath] = pkg
}

// importer finds what a package imports among those that have been checked.
type importer struct {
	c     *checker
	names map[string]string // where go list says that an import is another package
}

func (i importer) Import(path string) (*types.Package, error) {
	if name, ok := i.names[path]; ok {
		path = name
	}
	if pkg := i.c.done[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("%s was not found", path)
}
