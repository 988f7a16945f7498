package guide_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/guide"
)

const page = "# A page\n\n```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(word()) }\n```\n\nText.\n\n```go\nfunc word() string { return strings.ToUpper(\"x\") }\n```\n\n```sh norun: it serves\nparley serve\n```\n"

func TestSnippets(t *testing.T) {
	got := guide.Snippets("docs/guide/a.md", page)
	if len(got) != 3 || got[0].Line != 4 || got[1].Line != 14 || got[2].Lang() != "sh" {
		t.Fatalf("%+v", got)
	}
	if why, ok := got[2].NoRun(); !ok || why != "it serves" {
		t.Errorf("reason %q, %v", why, ok)
	}
	if _, ok := got[1].NoRun(); ok {
		t.Error("a snippet that says nothing is not run")
	}
}

func TestSnippets_nested(t *testing.T) {
	got := guide.Snippets("a.md", "````text\n```go\nx\n```\n````\n\n```go\nvar y int\n```\n")
	if len(got) != 2 || got[0].Text != "```go\nx\n```\n" || got[1].Text != "var y int\n" {
		t.Errorf("%+v", got)
	}
}

func TestAssemble(t *testing.T) {
	a, err := guide.Assemble("a", guide.Snippets("docs/guide/a.md", page))
	if err != nil {
		t.Fatal(err)
	}
	if !a.HasMain || len(a.Files) != 2 {
		t.Errorf("%+v", a)
	}
	text := a.Files["page.go"]
	for _, want := range []string{"package a\nimport \"fmt\"\nimport \"strings\"\n", "//line docs/guide/a.md:6\n\n\nfunc main", "//line docs/guide/a.md:13\n\nfunc word"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	_, err = guide.Assemble("a", guide.Snippets("docs/guide/a.md", "```go\nx := 1\n```\n"))
	if err == nil || !strings.Contains(err.Error(), "docs/guide/a.md") {
		t.Errorf("statements are a piece of a file: %v", err)
	}
}

func TestName(t *testing.T) {
	for page, want := range map[string]string{"README.md": "readme", "docs/guide/migrating-from-python.md": "migratingfrompython", "docs/sizing.md": "sizing"} {
		if got := guide.Name(page); got != want {
			t.Errorf("Name(%q) = %q, want %q", page, got, want)
		}
	}
}
