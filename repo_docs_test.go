package parley_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/docs"
	"github.com/seed7221b0f9/parley/server/api"
)

// docsText is all that is written below docs.
func docsText(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, name := range sourceFiles(t, func(name string) bool { return strings.HasPrefix(name, "docs/") && path.Ext(name) == ".md" }) {
		b.Write(readFile(t, name))
	}
	return b.String()
}

var sentinel = regexp.MustCompile(`^Err[A-Z]`)

// exportedErrors returns the errors that a file of a public package exports: variables named
// ErrX and types named XError.
func exportedErrors(f *goFile) (names []string) {
	for _, decl := range f.ast.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && strings.HasSuffix(spec.Name.Name, "Error") {
					names = append(names, spec.Name.Name)
				}
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					if gen.Tok == token.VAR && sentinel.MatchString(id.Name) {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

// Every error that a public package exports is found by a search in docs.
func TestErrorsAreDocumented(t *testing.T) {
	text := docsText(t)
	found := 0
	for _, name := range sourceFiles(t, hasExt(".go")) {
		f, err := parseGo(name, readFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if f.isTest() || !f.isPublic() {
			continue
		}
		for _, id := range exportedErrors(f) {
			found++
			word := f.ast.Name.Name + "." + id
			if !hasWord(text, word, "") {
				t.Errorf("%s: docs do not name %s; docs/reference/errors.md says when each is returned and what helps", name, word)
			}
		}
	}
	if found < 80 {
		t.Errorf("only %d errors were looked for", found)
	}
}

// Every method and every reason of the server is found by a search in docs, and the reference has no
// method that does not exist.
func TestMethodsAreDocumented(t *testing.T) {
	all := docsText(t)
	text, _, _ := strings.Cut(string(readFile(t, "docs/reference/methods.md")), "## Reasons")
	var known []string
	for _, m := range api.Methods {
		known = append(known, m.Name)
		if !hasWord(all, "`"+m.Name, "") && !hasWord(all, "/v1/"+m.Name, "") {
			t.Errorf("docs do not say what %s does; docs/reference/methods.md has a row for each method", m.Name)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("docs/reference/methods.md has %s, which is not a method", m[1])
		}
	}
	source := string(readFile(t, "rpc/service.go"))
	for _, m := range regexp.MustCompile(`Reason = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		if !strings.Contains(all, "`"+m[1]+"`") {
			t.Errorf("docs do not explain the reason %s; docs/reference/methods.md has a row for each", m[1])
		}
	}
}

// The README is one screen, and begins with the two commands.
func TestREADMEIsShort(t *testing.T) {
	text := string(readFile(t, "README.md"))
	if lines := strings.Count(text, "\n"); lines > 140 {
		t.Errorf("the README has %d lines, more than 140", lines)
	}
	run, test := strings.Index(text, "\nmake run "), strings.Index(text, "\nmake test ")
	if head := strings.Count(text[:max(run, 0)], "\n"); run < 0 || test < run || head > 10 {
		t.Error("the README does not begin with make run and make test")
	}
	topics, err := docs.Topics()
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		if !strings.Contains(text, "(docs/"+topic.Page+")") {
			t.Errorf("the README does not lead to docs/%s", topic.Page)
		}
	}
}

// The workflow runs the two commands, and nothing that they do not.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile(".github/workflows/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"make test", "make build", "timeout-minutes:", "permissions:"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the workflow has no %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`^actions/[a-z-]+@v\d+$`).MatchString(m[1]) {
			t.Errorf("the workflow uses %s", m[1])
		}
	}
}

var testLink = regexp.MustCompile(`\[(\w+)\]\(\.\./([\w./-]+_test\.go)\)`)

// ourCells returns the cells of the column Parley in the tables of the comparison, by line.
func ourCells(text string) map[int]string {
	cells := map[int]string{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		parts := strings.Split(strings.TrimSpace(line), "|")
		if len(parts) > 3 && !strings.HasPrefix(parts[1], "---") && strings.TrimSpace(parts[2]) != "Parley" {
			cells[number] = strings.TrimSpace(parts[2])
		}
	}
	return cells
}

// Every claim of ours in the comparison names tests that exist.
func TestComparison(t *testing.T) {
	cells := ourCells(string(readFile(t, "docs/comparison.md")))
	if len(cells) < 50 {
		t.Errorf("only %d claims were found", len(cells))
	}
	for line, cell := range cells {
		links := testLink.FindAllStringSubmatch(cell, -1)
		if len(links) == 0 {
			t.Errorf("docs/comparison.md:%d: %q names no test", line, cell)
		}
		for _, m := range links {
			if !hasTest(t, m[2], m[1]) {
				t.Errorf("docs/comparison.md:%d: %s has no %s", line, m[2], m[1])
			}
		}
	}
}

// Every promise of the page about operations names tests that exist.
func TestOperations(t *testing.T) {
	_, table, found := strings.Cut(string(readFile(t, "docs/operations.md")), "\n## What is promised\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "promise" {
			continue
		}
		rows++
		links := testLink.FindAllStringSubmatch(cells[2], -1)
		if len(links) == 0 {
			t.Errorf("docs/operations.md: %q names no test", cells[1])
		}
		for _, m := range links {
			if !hasTest(t, m[2], m[1]) {
				t.Errorf("docs/operations.md: %s has no %s", m[2], m[1])
			}
		}
	}
	if !found || rows < 10 {
		t.Errorf("only %d promises were found", rows)
	}
}

// hasTest reports whether a file declares a test of this name.
func hasTest(t *testing.T, file, name string) bool {
	t.Helper()
	if _, err := os.Stat(file); err != nil || !testFunc.MatchString(name) {
		return false
	}
	f, err := parseGo(file, readFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(f.ast.Decls, func(decl ast.Decl) bool {
		fn, ok := decl.(*ast.FuncDecl)
		return ok && fn.Recv == nil && fn.Name.Name == name
	})
}

// The texts of errors that the page about troubleshooting quotes are texts of the code. What stands
// for the rest of a text is an ellipsis.
func TestTroubleshootingTexts(t *testing.T) {
	var code strings.Builder
	for _, name := range sourceFiles(t, func(name string) bool { return hasExt(".go")(name) && !strings.HasSuffix(name, "_test.go") }) {
		code.Write(readFile(t, name))
	}
	found := 0
	for line := range strings.Lines(string(readFile(t, "docs/guide/troubleshooting.md"))) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, text := range quoted(cells[1]) {
			if !regexp.MustCompile(`^(claude|codex|transcript|eventlog): `).MatchString(text) {
				continue
			}
			found++
			for piece := range strings.SplitSeq(text, "…") {
				if !strings.Contains(code.String(), strings.TrimSpace(piece)) {
					t.Errorf("docs/guide/troubleshooting.md quotes %q, which no code says", piece)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d texts were looked for", found)
	}
}

// Every package that others can import has an example.
func TestExamples(t *testing.T) {
	packages, examples := map[string]bool{}, map[string]bool{}
	for _, name := range sourceFiles(t, hasExt(".go")) {
		dir := path.Dir(name)
		if dir == "." || strings.HasPrefix(dir, "bench") || strings.Contains("/"+dir+"/", "/internal/") || strings.Contains("/"+dir+"/", "/testdata/") {
			continue
		}
		text := string(readFile(t, name))
		if strings.HasSuffix(name, "_test.go") {
			examples[dir] = examples[dir] || strings.Contains(text, "\nfunc Example")
		} else if !strings.Contains(text, "\npackage main\n") && !strings.HasPrefix(text, "package main\n") {
			packages[dir] = true
		}
	}
	if len(packages) < 30 {
		t.Errorf("only %d packages were found", len(packages))
	}
	for dir := range packages {
		if !examples[dir] {
			t.Errorf("package %s has no example", dir)
		}
	}
}
