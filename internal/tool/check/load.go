package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load returns the packages below dir on a system, with their dependencies, and the errors that prevent compiling them.
func load(dir, system string) (pkgs []*packages.Package, found []string, err error) {
	config := &packages.Config{
		Mode:      packages.LoadAllSyntax | packages.NeedModule,
		Dir:       dir,
		Env:       append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests:     true,
		ParseFile: parseFile,
	}
	pkgs, err = packages.Load(config, "./...")
	if err != nil {
		return nil, nil, err
	}
	if len(pkgs) == 0 {
		return nil, nil, errors.New("there are no packages")
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		p.IllTyped = false
		for _, e := range p.Errors {
			if !foreignFile(e.Pos) || !strings.HasSuffix(e.Msg, "and not used") { // by the functions that parseFile has emptied
				found = append(found, e.Error())
				p.IllTyped = true
			}
		}
		for _, imported := range p.Imports {
			p.IllTyped = p.IllTyped || imported.IllTyped
		}
	})
	return pkgs, found, nil
}

// foreignFile reports whether a file is in the module cache.
func foreignFile(name string) bool {
	return strings.Contains(name, string(filepath.Separator)+filepath.Join("pkg", "mod")+string(filepath.Separator))
}

// parseFile parses a Go file, without the bodies of most functions if it is in the module cache.
func parseFile(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	f, err := parser.ParseFile(fset, name, src, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
	if f == nil || !foreignFile(name) {
		return f, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		switch {
		case !ok || fn.Body == nil || isGeneric(fn): // a generic function must have a body
		case fn.Recv == nil && fn.Name.Name == "init": // so must init
			fn.Body.List = nil
		default:
			fn.Body = nil
		}
	}
	return f, err
}

// isGeneric reports whether a function or the type of its receiver has type parameters.
func isGeneric(fn *ast.FuncDecl) bool {
	if fn.Type.TypeParams != nil {
		return true
	}
	if fn.Recv == nil {
		return false
	}
	t := fn.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	_, plain := t.(*ast.Ident)
	return !plain
}
