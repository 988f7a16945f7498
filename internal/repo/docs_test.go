package repo

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/docs"
	"github.com/seed7221b0f9/parley/server"
)

// docsText returns the text of all files below docs.
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

// hasWord reports whether a text has a word that is not part of a longer one.
func hasWord(text, word string) bool {
	part := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		if (begin == 0 || !part(text[begin-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		at = begin + 1
	}
}

func TestHasWord(t *testing.T) {
	for text, want := range map[string]bool{"a.b": true, "xa.b a.b": true, "a.bc xa.b": false, "(a.b)": true, "": false, "a.b_ a.b": true} {
		if got := hasWord(text, "a.b"); got != want {
			t.Errorf("hasWord(%q) = %t", text, got)
		}
	}
}

// docs mentions every error that a public package exports.
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
			if !hasWord(text, word) {
				t.Errorf("%s: docs do not name %s; docs/reference/errors.md says when each is returned and what helps", name, word)
			}
		}
	}
	if found < 80 {
		t.Errorf("only %d errors were looked for", found)
	}
}

// docs mentions every method and every reason of the server, and the reference has no method that
// does not exist.
func TestMethodsAreDocumented(t *testing.T) {
	all := docsText(t)
	text, _, _ := strings.Cut(string(readFile(t, "docs/reference/methods.md")), "## Reasons")
	var known []string
	for _, m := range server.Methods() {
		known = append(known, m.Name)
		if !hasWord(all, "`"+m.Name) && !hasWord(all, "/v1/"+m.Name) {
			t.Errorf("docs do not say what %s does; docs/reference/methods.md has a row for each method", m.Name)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("docs/reference/methods.md has %s, which is not a method", m[1])
		}
	}
	source := string(readFile(t, "server/api/service.go"))
	for _, m := range regexp.MustCompile(`Reason = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		if !strings.Contains(all, "`"+m[1]+"`") {
			t.Errorf("docs do not explain the reason %s; docs/reference/methods.md has a row for each", m[1])
		}
	}
}

// The README links every page of the documentation.
func TestREADMELinksDocs(t *testing.T) {
	text := string(readFile(t, "README.md"))
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

var inBackquotes = regexp.MustCompile("`([^`]+)`")

// quoted returns the words of a text in backquotes.
func quoted(text string) (words []string) {
	for _, m := range inBackquotes.FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

var namedFile = regexp.MustCompile(`^(?:[\w.-]+/)+[\w.-]*\w\.(?:go|md|json|js|ts|mjs|txt|sh)$`)

// The files that documents in the root name in backquotes exist.
func TestNamedFiles(t *testing.T) {
	found := 0
	for _, paper := range []string{"CONTRIBUTING.md", "DESIGN.md", "INVARIANTS.md", "README.md", "SECURITY.md"} {
		for _, name := range quoted(string(readFile(t, paper))) {
			if !namedFile.MatchString(name) {
				continue
			}
			found++
			if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
				t.Errorf("%s names %s, which does not exist", paper, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d files were looked for", found)
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

// Every claim in our column of the comparison names tests that exist.
func TestComparison(t *testing.T) {
	page, _, _ := strings.Cut(string(readFile(t, "docs/comparison.md")), "## Every agent through the server") // that table has its own test
	cells := ourCells(page)
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

// Every promise in the page about operations names tests that exist.
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

var (
	testName  = regexp.MustCompile(`\bTest[A-Z]\w*`)
	testDecl  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	codeFence = regexp.MustCompile("(?ms)^```.*?^```")
)

// Every test that a document names, outside of code, exists.
func TestNamedTests(t *testing.T) {
	declared := map[string]bool{}
	for _, name := range sourceFiles(t, hasExt(".go")) {
		for _, m := range testDecl.FindAllSubmatch(readFile(t, name), -1) {
			declared[string(m[1])] = true
		}
	}
	found := 0
	for _, name := range sourceFiles(t, hasExt(".md")) {
		for _, test := range testName.FindAllString(codeFence.ReplaceAllString(string(readFile(t, name)), ""), -1) {
			if found++; !declared[test] {
				t.Errorf("%s names %s, which does not exist", name, test)
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d tests were looked for", found)
	}
}

// hasTest reports whether a file declares a test with this name.
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

// The error texts in the page about troubleshooting exist in the code. An ellipsis replaces the
// variable parts.
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
		if strings.HasPrefix(dir, "bench") || dir == "server/session" || // a part of server
			strings.Contains("/"+dir+"/", "/internal/") || strings.Contains("/"+dir+"/", "/testdata/") {
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
