package repo

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines     = 600
	maxTestFileLines = 1000
	maxFuncLines     = 60
)

// goFile is a parsed file with the properties that the checks need.
type goFile struct {
	name  string
	lines int
	fset  *token.FileSet
	ast   *ast.File
}

func (f *goFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// isPublic reports whether the file belongs to a package that others can import.
func (f *goFile) isPublic() bool {
	return !f.isTest() && f.ast.Name.Name != "main" && !slices.Contains(strings.Split(f.name, "/"), "internal")
}

// at formats a complaint about a position in the file.
func (f *goFile) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.name, f.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

// parseGo parses a file. The result is cached, because several tests check all files.
func parseGo(name string, src []byte) (*goFile, error) {
	key := name + "\x00" + string(src)
	if f, ok := parsedFiles[key]; ok {
		return f, nil
	}
	f, err := parseFile(name, src)
	if err == nil {
		parsedFiles[key] = f
	}
	return f, err
}

var parsedFiles = map[string]*goFile{}

func parseFile(name string, src []byte) (*goFile, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &goFile{name: name, lines: bytes.Count(src, []byte("\n")), fset: fset, ast: file}, nil
}

// styleChecks are the rules for every Go file that is not generated. Each returns a list of
// complaints.
var styleChecks = []func(*goFile) []string{
	checkFileLength,
	checkFuncLength,
	checkCalls,
	checkComments,
	checkDocs,
	checkPackageName,
}

func checkStyle(f *goFile) []string {
	if ast.IsGenerated(f.ast) {
		return nil
	}
	var wrong []string
	for _, check := range styleChecks {
		wrong = append(wrong, check(f)...)
	}
	return wrong
}

func TestStyle(t *testing.T) {
	for _, name := range sourceFiles(t, hasExt(".go")) {
		f, err := parseGo(name, readFile(t, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, wrong := range checkStyle(f) {
			t.Error(wrong)
		}
	}
}

func checkFileLength(f *goFile) []string {
	limit := maxFileLines
	if f.isTest() {
		limit = maxTestFileLines
	}
	if f.lines > limit {
		return []string{fmt.Sprintf("%s has %d lines, more than %d", f.name, f.lines, limit)}
	}
	return nil
}

var testFunc = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)($|[^a-z])`)

func checkFuncLength(f *goFile) []string {
	var wrong []string
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || f.isTest() && fn.Recv == nil && testFunc.MatchString(fn.Name.Name) {
			continue
		}
		if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
			wrong = append(wrong, f.at(fn, "%s has %d lines, more than %d", fn.Name.Name, n, maxFuncLines))
		}
	}
	return wrong
}

// clock lists the functions of package time that read or wait for the time.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// checkCalls finds tests that sleep, tests that skip without a reason, and uses of the clock in
// pure packages.
func checkCalls(f *goFile) []string {
	var wrong []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isTestingVar(sel.X) &&
				(sel.Sel.Name == "SkipNow" || sel.Sel.Name == "Skip" && len(call.Args) == 0) {
				wrong = append(wrong, f.at(call, "a skip without a reason"))
			}
			return true
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch pkg, ok := sel.X.(*ast.Ident); {
		case !ok || pkg.Name != "time":
		case f.isTest() && sel.Sel.Name == "Sleep":
			wrong = append(wrong, f.at(sel, "time.Sleep in a test; wait for what is to happen"))
		case !f.isTest() && path.Dir(f.name) == "agent/event" && slices.Contains(clock, sel.Sel.Name):
			wrong = append(wrong, f.at(sel, "time.%s: package event has no clock", sel.Sel.Name))
		}
		return true
	})
	return wrong
}

// isTestingVar reports whether an expression has a usual name of a *testing.T, B, F or TB.
func isTestingVar(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && slices.Contains([]string{"t", "b", "f", "tb"}, id.Name)
}

var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

func checkComments(f *goFile) []string {
	var wrong []string
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if m := unfinished.FindString(c.Text); m != "" {
				wrong = append(wrong, f.at(c, "%s in a comment; finish it or file an issue", m))
			}
		}
	}
	return wrong
}

// checkDocs finds exported names of public packages without a comment. In a group the comment of
// the group is sufficient. Error and other methods of standard interfaces need none.
func checkDocs(f *goFile) []string {
	if !f.isPublic() {
		return nil
	}
	var wrong []string
	complain := func(id *ast.Ident) {
		if id.IsExported() {
			wrong = append(wrong, f.at(id, "%s is exported and has no doc comment", id.Name))
		}
	}
	for _, decl := range f.ast.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Doc == nil && (decl.Recv == nil || ast.IsExported(receiver(decl)) && !wellKnown[decl.Name.Name]) {
				complain(decl.Name)
			}
		case *ast.GenDecl:
			for _, id := range undocumented(decl) {
				complain(id)
			}
		}
	}
	return wrong
}

// wellKnown are methods of standard interfaces, which need no comment.
var wellKnown = map[string]bool{"Error": true, "MarshalJSON": true, "UnmarshalJSON": true}

// undocumented returns the names of a declaration without a comment.
func undocumented(decl *ast.GenDecl) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				names = append(names, spec.Name)
			}
		case *ast.ValueSpec:
			if decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}

// receiver returns the name of a method's receiver type.
func receiver(fn *ast.FuncDecl) string {
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func checkPackageName(f *goFile) []string {
	switch name := strings.TrimSuffix(f.ast.Name.Name, "_test"); name {
	case "util", "utils", "common", "types", "helper", "helpers":
		return []string{fmt.Sprintf("%s: package %s says nothing; name it after what it holds", f.name, name)}
	}
	return nil
}

func TestCheckStyle(t *testing.T) {
	long := strings.Repeat("\n", maxFuncLines)
	tests := []struct {
		title, name, src string
		want             string // part of the only complaint; empty for no complaint
	}{
		{"clean", "a/a.go", "package a\n// F does.\nfunc F() {}\n", ""},
		{"no doc on a func", "a/a.go", "package a\nfunc F() {}\n", "F is exported"},
		{"no doc on a method", "a/a.go", "package a\n// T is.\ntype T[E any] struct{}\nfunc (*T[E]) M() {}\n", "M is exported"},
		{"method of an unexported type", "a/a.go", "package a\ntype t struct{}\nfunc (t) M() {}\n", ""},
		{"no doc in a group", "a/a.go", "package a\nconst (\n\tA = 1 // A is.\n\tB = 2\n)\n", "B is exported"},
		{"doc on a group", "a/a.go", "package a\n// Both.\nconst (\n\tA = 1\n\tB = 2\n)\n", ""},
		{"internal", "internal/a/a.go", "package a\nfunc F() {}\n", ""},
		{"long file", "a/a.go", "package a\n" + strings.Repeat("\n", maxFileLines), "601 lines"},
		{"long test file", "a/a_test.go", "package a\n" + strings.Repeat("\n", maxFileLines), ""},
		{"long func", "a/a.go", "package a\nfunc f() {" + long + "}\n", "f has 61 lines"},
		{"long test func", "a/a_test.go", "package a\nfunc TestF() {" + long + "}\n", ""},
		{"long func of a test", "a/a_test.go", "package a\nfunc Testify() {" + long + "}\n", "61 lines"},
		{"generated", "a/a.go", "// Code generated by x. DO NOT EDIT.\npackage a\nfunc F() {" + long + "}\n", ""},
		{"sleep in a test", "a/a_test.go", "package a\nfunc f() { time.Sleep(1) }\n", "time.Sleep"},
		{"sleep elsewhere", "a/a.go", "package a\nfunc f() { time.Sleep(1) }\n", ""},
		{"clock in events", "agent/event/a.go", "package event\nvar now = time.Now\n", "no clock"},
		{"skip", "a/a_test.go", "package a\nfunc f() { t.Skip() }\n", "without a reason"},
		{"skip now", "a/a_test.go", "package a\nfunc f() { tb.SkipNow() }\n", "without a reason"},
		{"skip with a reason", "a/a_test.go", "package a\nfunc f() { t.Skip(\"no cgo\") }\n", ""},
		{"unfinished", "a/a.go", "package a\n\n// TO" + "DO: more\nfunc f() {}\n", "finish it"},
		{"package name", "a/a.go", "package util\n", "says nothing"},
	}
	for _, tt := range tests {
		f, err := parseGo(tt.name, []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		got := checkStyle(f)
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
			t.Errorf("%s: got %q, want %q", tt.title, got, tt.want)
		}
	}
}
