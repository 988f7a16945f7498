package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// goPackage is a package as go list prints it.
type goPackage struct {
	Dir, ImportPath, Name, Export      string
	GoFiles, TestGoFiles, XTestGoFiles []string
	DepOnly                            bool
}

// goList lists packages and their dependencies, compiled.
func goList(ctx context.Context, root string, patterns ...string) ([]goPackage, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-trimpath", "-buildvcs=false", "-export", "-deps", "-json=Dir,ImportPath,Name,Export,GoFiles,TestGoFiles,XTestGoFiles,DepOnly"}, patterns...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
}

// compiler checks the types of changed functions.
type compiler struct {
	root     string
	fset     *token.FileSet
	importer types.Importer
	packages map[string]*goPackage // by directory
	stubs    map[string]*ast.File  // by path: without bodies
}

func newCompiler(root string, packages []goPackage) *compiler {
	c := &compiler{root: root, fset: token.NewFileSet(), packages: map[string]*goPackage{}, stubs: map[string]*ast.File{}}
	export := map[string]string{}
	for i, p := range packages {
		export[p.ImportPath] = p.Export
		c.packages[p.Dir] = &packages[i]
	}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	return c
}

// compiles reports whether the function of a change compiles. An import that only the change makes unused does not matter: the original is in the same file.
func (c *compiler) compiles(ch *change) (bool, error) {
	path := filepath.Join(c.root, filepath.FromSlash(ch.File))
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	// The copy is a separate block, in which := declares a result of the function again.
	changed := string(text[:ch.Body[0]]) + "{" + apply(string(text), ch.Body, []edit{{ch.Start, ch.End, ch.New}}) + "}" + string(text[ch.Body[1]:])
	file, err := parser.ParseFile(c.fset, path, changed, parser.SkipObjectResolution)
	if err != nil {
		return false, nil // the change does not compile
	}
	base := c.fset.File(file.FileStart)
	from, to := base.Pos(ch.Body[0]-1), base.Pos(ch.Body[1]+len(ch.New)-len(ch.Old)+3)
	strip(file, func(n ast.Node) bool { return n.Pos() > to || n.End() < from })
	files := []*ast.File{file}
	p := c.packages[filepath.Dir(path)]
	if p == nil {
		return false, fmt.Errorf("%s belongs to no package", ch.File)
	}
	for _, name := range p.GoFiles {
		other := filepath.Join(p.Dir, name)
		if other == path {
			continue
		}
		if c.stubs[other] == nil {
			stub, err := parser.ParseFile(c.fset, other, nil, parser.SkipObjectResolution)
			if err != nil {
				return false, err
			}
			strip(stub, func(ast.Node) bool { return true })
			c.stubs[other] = stub
		}
		files = append(files, c.stubs[other])
	}
	ok := true
	conf := types.Config{Importer: c.importer, Error: func(err error) {
		if e, is := errors.AsType[types.Error](err); is && e.Pos >= from && e.Pos <= to {
			ok = false
		}
	}}
	_, _ = conf.Check(p.ImportPath, c.fset, files, nil) // every error went to conf.Error
	return ok, nil
}

// strip removes the bodies of functions from a file.
func strip(file *ast.File, which func(ast.Node) bool) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && which(f.Body) {
			f.Body = nil
		}
	}
}

// buildGo writes the changed files into dir and returns the overlay for go build.
func buildGo(root, dir string, packages map[string]*goPackage, sample []*change) (string, error) {
	byFile := map[string][]*change{}
	for _, c := range sample {
		byFile[c.File] = append(byFile[c.File], c)
	}
	replace := map[string]string{}
	put := func(path, text string) error {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[path] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	for name, list := range byFile {
		path := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if err := put(path, embed(string(text), list)); err != nil {
			return "", err
		}
		prelude := filepath.Join(filepath.Dir(path), "mutants_prelude.go")
		if replace[prelude] == "" {
			if err := put(prelude, "package "+packages[filepath.Dir(path)].Name+"\n"+goPrelude); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// tested returns the packages with tests, in order.
func tested(packages []goPackage) []goPackage {
	var list []goPackage
	for _, p := range packages {
		if !p.DepOnly && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b goPackage) int { return bytes.Compare([]byte(a.ImportPath), []byte(b.ImportPath)) })
	return list
}
