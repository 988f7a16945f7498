package guide_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/guide"
)

const page = "# A page\n\n```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(word()) }\n```\n\nText.\n\n```go\nfunc word() string { return strings.ToUpper(\"x\") }\n```\n\n```sh norun: it serves\nparley serve\n```\n"

func TestSnippets(t *testing.T) {
	got := guide.Snippets("docs/guide/a.md", page)
	if len(got) != 3 || got[0].Line != 4 || got[1].Line != 14 || got[2].Lang() != "sh" {
		t.Fatalf("%+v; want len(got) == 3 and got[0].Line == 4 and got[1].Line == 14 and got[2].Lang() == \"sh\"", got)
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
		t.Errorf("%+v; want len(got) == 2 and got[0].Text == \"```go\\nx\\n```\\n\" and got[1].Text == \"var y int\\n\"", got)
	}
}

func TestName(t *testing.T) {
	for page, want := range map[string]string{"README.md": "readme", "docs/guide/migrating-from-python.md": "migratingfrompython", "docs/sizing.md": "sizing"} {
		if got := guide.Name(page); got != want {
			t.Errorf("Name(%q) = %q, want %q", page, got, want)
		}
	}
}
