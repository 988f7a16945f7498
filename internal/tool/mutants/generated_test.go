//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// place writes a file of Go and returns its changes.
func place(t *testing.T, dir, name, text string) []change {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := goChanges(dir, name)
	if err != nil {
		t.Fatalf("goChanges of %s: %v", name, err)
	}
	return list
}

func TestGoChanges(t *testing.T) {
	list := place(t, t.TempDir(), "p.go", `package p

var hook = func(n int) bool { return n > 1 }

func f(a, b string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	log.Warn("a", a)
	switch {
	case a == b:
		a = g(a, b)
	}
	for i := 0; i < 3 && a != ""; i++ {
		defer close(i)
	}
	return a, nil
}
`)
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprint(c.Line, " ", c.String()))
	}
	want := []string{
		"3 return dropped: return n > 1 → (nothing)",
		"3 comparison shifted: > → >=",
		"6 condition negated: err != nil → !(err != nil)",
		"6 error ignored: err != nil → err != nil && false",
		`7 error ignored: err → nil`,
		`7 return dropped: return "", err → (nothing)`,
		"11 condition negated: a == b → !(a == b)",
		"12 statement dropped: a = g(a, b) → (nothing)",
		"12 arguments swapped: a, b → b, a",
		`14 condition negated: i < 3 && a != "" → !(i < 3 && a != "")`,
		"14 comparison shifted: && → ||",
		"14 comparison shifted: < → <=",
		"14 comparison shifted: != → ==",
		"15 statement dropped: defer close(i) → (nothing)",
		"17 return dropped: return a, nil → (nothing)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the changes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every change that compiles can be embedded with all others: labels, results with and without names, closures.
func TestEmbed(t *testing.T) {
	short.Skip(t, "go list")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/p\n\ngo 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := place(t, dir, "p.go", `package p

func loop(n int) (sum int) {
outer:
	for i := 0; i < n; i++ {
		for j := range n {
			if j > i {
				continue outer
			}
			if sum > 100 {
				break outer
			}
			sum += j
		}
	}
	func() { sum++ }()
	return // with a name
}

func none(p *int) {
	if p == nil {
		return
	}
	*p = 1 // the last line
}

var lit = func(a, b int) int { return sub(a, b) }

func sub(a, b int) int { return a - b }

func pair() (n int, err error) {
	a, err := two() // err is the result, and another variable in a copy
	return a, err
}

func two() (int, error) { return 1, nil }
`)
	packages, err := goList(t.Context(), dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	c := newCompiler(dir, packages)
	var sample []*change
	for i := range list {
		ok, err := c.compiles(&list[i])
		if err != nil {
			t.Fatal(err)
		}
		// Mutations do not compile if they leave an unused label, a function without its last return, or an unused
		// variable in the copy.
		if bad := list[i].Kind == "error ignored" || strings.HasPrefix(list[i].Old, "return 1") || strings.HasPrefix(list[i].Old, "return sub") || strings.HasPrefix(list[i].Old, "return a") || list[i].Old == "return" && list[i].Line == 17; ok == bad {
			t.Errorf("line %d, %s: it compiles: %v, want %v", list[i].Line, &list[i], ok, !bad)
		}
		if ok {
			sample = append(sample, &list[i])
			list[i].id = len(sample)
		}
	}
	overlay, err := buildGo(dir, t.TempDir(), c.packages, sample)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte("package p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if packages, err = goList(t.Context(), dir, "."); err != nil {
		t.Fatal(err)
	}
	if _, err := goSuites(t.Context(), dir, t.TempDir(), tested(packages), true, "-overlay", overlay); err != nil {
		t.Error(err)
	}
}

// A change that a test detects is killed. One that no test detects or reaches survives. Known equivalent changes are skipped, and so are those that do not compile.
func TestGenerated(t *testing.T) {
	short.Skip(t, "go test in a copy of a module")
	root := checkout(t, nil)
	for name, text := range map[string]string{
		"g/g.go": "package g\n\nfunc Less(a, b int) bool { return a < b }\n\nfunc Unreached(a, b int) bool { return a > b }\n\nfunc Same(a, b int) int {\n\tif a < b {\n\t\treturn b\n\t}\n\treturn a\n}\n",
		"g/g_test.go": "package g\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tif Less(1, 1) {\n\t\tt.Error(\"Less(1, 1)\")\n\t}\n}\n\n" +
			"func TestSame(t *testing.T) {\n\tif Same(1, 2) != 2 || Same(2, 1) != 2 {\n\t\tt.Error(\"Same\")\n\t}\n}\n\nfunc TestBroken(t *testing.T) { t.Error(\"always\") }\n",
		"testdata/mutants/generated/equivalent.json": `[{"file": "g/g.go", "line": "if a < b {", "change": "comparison shifted: < → <=", "reason": "both are the same then"}]`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	ok, err := generated(t.Context(), &generator{job: &job{root: root, verbose: true, out: &out}, groups: []group{{name: "g"}}, limit: time.Minute, seed: 1, count: 100})
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		t.Error("75 % are enough")
	}
	for _, line := range []string{
		"caught     g/g.go:3 comparison shifted: < → <=, by TestLess",
		"SURVIVED   g/g.go:5 comparison shifted: > → >= (no test reaches it)",
		"caught     g/g.go:8 condition negated: a < b → !(a < b), by TestSame",
		"caught     g/g.go:9 return dropped: return b → (nothing), by TestSame",
		"TestBroken in ",
		"g                3 of   4 killed,  75 %",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the output lacks %q:\n%s", line, out.String())
		}
	}
}

// The list of changes that no test can detect is current: each exists.
func TestEquivalentIsNotStale(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, err := readKnown(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		if strings.HasPrefix(k.File, "web/") { // node lists their changes
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(k.File)))
			if err != nil || !strings.Contains(string(text), k.Line) {
				t.Errorf("%s: %q is not there: %v", k.File, k.Line, err)
			}
			continue
		}
		changes, err := goChanges(root, k.File)
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(changes, func(c change) bool { return c.Text == k.Line && c.String() == k.Change }) {
			t.Errorf("%s: %q: %q is not there", k.File, k.Line, k.Change)
		}
	}
}
