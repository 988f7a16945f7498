package term

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// writers are functions that write to the outputs of the program directly.
var writers = map[string][]string{
	"os":      {"Stdout", "Stderr"},
	"fmt":     {"Print", "Printf", "Println"},
	"log":     {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default"},
	"slog":    {"Debug", "Info", "Warn", "Error", "Log", "Default", "SetDefault"},
	"syscall": {"Stdout", "Stderr", "Write"},
}

// Only outlet.go names the outputs of the program, so that all terminal output is
// sanitized.
func TestWritesGoThroughOutlet(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "../../internal/term/outlet.go" {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(writers[pkg.Name], n.Sel.Name) {
					t.Errorf("%s: %s.%s goes past the outlet", set.Position(n.Pos()), pkg.Name, n.Sel.Name)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					t.Errorf("%s: %s goes past the outlet", set.Position(n.Pos()), f.Name)
				}
			case *ast.ImportSpec:
				if n.Name != nil && n.Name.Name == "." {
					t.Errorf("%s: an import that hides where a name is from", set.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 40 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestOutlet(t *testing.T) {
	const evil = "a\x1b]0;t\x07\x1b[31mb\u009b2J\u202ec\rd\bé\xff\uFDD031\uFDD1\uFDD08\uFDD1\n"
	var got bytes.Buffer
	o := &Outlet{w: &got, TTY: true}
	if n, err := o.Write([]byte(evil)); err != nil || n != len(evil) {
		t.Errorf("wrote %d of %d, %v", n, len(evil), err)
	}
	// A style of this program is kept; one that hides text is removed.
	if want := "a]0;t[31mb2Jcdé\uFFFD\x1b[31m8\n"; got.String() != want {
		t.Errorf("on a terminal: %q, want %q", got.String(), want)
	}
	got.Reset()
	line := []byte("{\"a\":\"x\u009b\u202e\x7fé\"}\n")
	if err := o.WriteJSON(line); err != nil {
		t.Error(err)
	}
	var before, after any
	if json.Unmarshal(line, &before) != nil || json.Unmarshal(got.Bytes(), &after) != nil {
		t.Fatalf("%q is not JSON", got.String())
	}
	if strings.ContainsFunc(got.String(), cell.Unsafe) || before.(map[string]any)["a"] != after.(map[string]any)["a"] {
		t.Errorf("JSON on a terminal: %q", got.String())
	}
	got.Reset()
	elsewhere := &Outlet{w: &got}
	elsewhere.Control(EraseScreen)
	_, _ = elsewhere.Write([]byte(evil))
	if got.String() != evil {
		t.Errorf("elsewhere: %q", got.String())
	}
}
