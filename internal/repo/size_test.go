package repo

import (
	"encoding/json"
	"errors"
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"
)

// maxTypes limits the types of a package, so that its documentation page stays readable.
const maxTypes = 220

// TestClaudeTypes limits the exported types of package claude: messages, tools and hooks have
// separate packages.
func TestClaudeTypes(t *testing.T) {
	types := 0
	for _, name := range sourceFiles(t, func(name string) bool { return path.Dir(name) == "claude" && path.Ext(name) == ".go" }) {
		f, err := parseGo(name, readFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if f.isTest() {
			continue
		}
		for _, decl := range f.ast.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
					types++
				}
			}
		}
	}
	if types == 0 || types > maxTypes {
		t.Errorf("package claude exports %d types, want at most %d", types, maxTypes)
	}
}

// lister is the source of a program that lists sessions.
const lister = `package main

import (
	"context"
	"fmt"

	"github.com/seed7221b0f9/parley/transcript"
)

func main() {
	for info, err := range transcript.Open("").Sessions(context.Background(), transcript.Filter{}) {
		fmt.Println(info, err)
	}
}
`

const maxLister = 6_000_000

// TestListerSize limits the size of a program that only lists sessions.
func TestListerSize(t *testing.T) {
	dir := t.TempDir()
	source, overlay, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "lister")
	place, err := filepath.Abs("internal/lister/main.go") // a package that exists only for this build
	if err != nil {
		t.Fatal(err)
	}
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {place: source}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(source, []byte(lister), 0o600), os.WriteFile(overlay, replaced, 0o600)); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-overlay", overlay, "-o", out, "./internal/lister")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxLister {
		t.Errorf("a program that lists sessions has %d bytes, want at most %d", info.Size(), maxLister)
	}
}
