package e2e_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/test/guide"
)

const module = "github.com/seed7221b0f9/parley/"

// imports are the packages that a snippet without imports may use, by name.
var imports = map[string]string{
	"bytes": "bytes", "context": "context", "errors": "errors", "filepath": "path/filepath", "fmt": "fmt", "http": "net/http",
	"json": "encoding/json", "log": "log", "net": "net", "os": "os", "signal": "os/signal", "slog": "log/slog", "strings": "strings",
	"testing": "testing", "time": "time",

	"agent": module + "agent", "claude": module + "claude", "claudeagent": module + "claude/claudeagent", "claudeotel": module + "claude/claudeotel",
	"claudepool": module + "claude/claudepool", "claudestore": module + "claude/claudestore", "claudetest": module + "claude/claudetest", "claudeevent": module + "claude/claudeevent",
	"client": module + "client", "codex": module + "codex", "codexagent": module + "codex/codexagent", "codextest": module + "codex/codextest",
	"eventlog": module + "eventlog", "export": module + "transcript/export", "handover": module + "agent/handover", "hook": module + "claude/hook",
	"item": module + "codex/item", "mcptool": module + "mcptool", "message": module + "claude/message", "postgres": module + "claude/claudestore/postgres",
	"rollout": module + "codex/rollout", "api": module + "server/api", "s3": module + "claude/claudestore/s3", "server": module + "server",
	"simagent": module + "agent/simagent", "spawn": module + "spawn", "tool": module + "claude/tool", "transcript": module + "transcript",
	"event": module + "agent/event", "usage": module + "transcript/usage",

	"mcp": "github.com/modelcontextprotocol/go-sdk/mcp", "pgxpool": "github.com/jackc/pgx/v5/pgxpool",
}

// assembly is the code of a page as one package.
type assembly struct {
	Files   map[string]string // the Go files, by name
	HasMain bool              // the page has a func main, which Main of the package calls
	Tests   []string          // the test functions, which Main runs if there is no func main

	paths map[string]bool // the imports
	body  strings.Builder // the snippets without package clauses and imports
}

// assemble puts the Go snippets of a page together as a package of the given name, with one file.
// Imports in a snippet apply to all of them. The package has a function Main if the page has a
// func main or test functions. The error names every snippet that cannot be parsed.
func assemble(name string, snippets []guide.Snippet) (*assembly, error) {
	a := &assembly{Files: map[string]string{}, paths: map[string]bool{}}
	var wrong []error
	for _, s := range snippets {
		if s.Lang() != "go" {
			continue
		}
		if err := a.add(s); err != nil {
			wrong = append(wrong, err)
		}
	}
	if a.body.Len() == 0 {
		return a, errors.Join(wrong...)
	}
	head := "package " + name + "\n"
	for _, path := range slices.Sorted(maps.Keys(a.paths)) {
		head += "import " + strconv.Quote(path) + "\n"
	}
	a.Files["page.go"] = head + a.body.String()
	switch {
	case a.HasMain:
		a.Files["main.go"] = "package " + name + "\n\nfunc Main() { main() }\n"
	case len(a.Tests) > 0:
		a.Files["main.go"] = testMain(name, a.Tests)
	}
	return a, errors.Join(wrong...)
}

func (a *assembly) add(s guide.Snippet) error {
	text := s.Text
	if !strings.HasPrefix(text, "package ") {
		text = "package main\n" + text
		s.Line--
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, s.Page, text, 0)
	if err != nil {
		return fmt.Errorf("%s: the Go snippet at line %d is not a piece of a file: %w", s.Page, s.Line, err)
	}
	a.note(file)
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || spec.Name != nil {
			return fmt.Errorf("%s: line %d: the import %s cannot be merged", s.Page, s.Line, spec.Path.Value)
		}
		a.paths[path] = true
	}
	for _, path := range needed(file) {
		a.paths[path] = true
	}
	start := file.Name.End()
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			start = gen.End()
		}
	}
	at := fset.Position(start)
	fmt.Fprintf(&a.body, "\n//line %s:%d\n%s", s.Page, s.Line+at.Line-1, text[at.Offset:])
	return nil
}

// note records the functions that can be run.
func (a *assembly) note(file *ast.File) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		switch {
		case !ok || fn.Recv != nil:
		case fn.Name.Name == "main":
			a.HasMain = true
		case strings.HasPrefix(fn.Name.Name, "Test") && len(fn.Type.Params.List) == 1 && fn.Type.TypeParams == nil:
			a.Tests = append(a.Tests, fn.Name.Name)
		}
	}
}

// needed returns the import paths for the names that a file uses and does not declare.
func needed(file *ast.File) []string {
	paths := map[string]bool{}
	unresolved := map[*ast.Ident]bool{}
	for _, id := range file.Unresolved {
		unresolved[id] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && unresolved[id] && imports[id.Name] != "" {
				paths[imports[id.Name]] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(paths))
}

func testMain(name string, tests []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport \"testing\"\n\nfunc Main() {\n\tall := []testing.InternalTest{\n", name)
	for _, t := range tests {
		fmt.Fprintf(&b, "\t\t{Name: %q, F: %s},\n", t, t)
	}
	b.WriteString("\t}\n\ttesting.Main(func(string, string) (bool, error) { return true, nil }, all, nil, nil)\n}\n")
	return b.String()
}
