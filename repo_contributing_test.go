package parley_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// addedKinds are the rows that the table "How to add something" of CONTRIBUTING.md must have.
var addedKinds = []string{
	"a message",
	"a control request",
	"a hook",
	"an option",
}

// addRow is a row of that table.
type addRow struct {
	kind     string
	files    []string
	examples []string
}

var inBackquotes = regexp.MustCompile("`([^`]+)`")

// The lists of files are true: what the newest example of each kind is called stands in these
// files and in no other.
func TestHowToAdd(t *testing.T) {
	rows := addRows(t)
	for _, kind := range addedKinds {
		if !slices.ContainsFunc(rows, func(r addRow) bool { return r.kind == kind }) {
			t.Errorf("CONTRIBUTING.md does not say how to add %s", kind)
		}
	}
	texts := trackedTexts(t)
	for _, r := range rows {
		if len(r.files) == 0 || len(r.examples) == 0 {
			t.Errorf("%s: %d files, %d examples", r.kind, len(r.files), len(r.examples))
		}
		for name, found := range filesWith(texts, r.examples) {
			if listed := slices.Contains(r.files, name); found != listed {
				t.Errorf("%s: %s has an example: %v; it is listed: %v", r.kind, name, found, listed)
			}
		}
		for _, name := range r.files {
			if _, ok := texts[name]; !ok {
				t.Errorf("%s: there is no %s", r.kind, name)
			}
		}
	}
}

func addRows(t *testing.T) (rows []addRow) {
	t.Helper()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## How to add something\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no section of that name")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows = append(rows, addRow{strings.TrimSpace(cells[0]), quoted(cells[1]), quoted(cells[2])})
	}
	return rows
}

func quoted(cell string) (words []string) {
	for _, m := range inBackquotes.FindAllStringSubmatch(cell, -1) {
		words = append(words, m[1])
	}
	return words
}

// trackedTexts are the files of the repository, without recordings and without the papers that tell
// of everything.
func trackedTexts(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skip("this is not a checkout:", err)
	}
	texts := map[string]string{}
	for name := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(name, "testdata/") || strings.HasPrefix(name, "docs/") || strings.HasSuffix(name, ".jsonl") || !strings.Contains(name, "/") && strings.HasSuffix(name, ".md") {
			continue
		}
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // deleted and not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// filesWith says of each file whether it has one of the words.
func filesWith(texts map[string]string, words []string) map[string]bool {
	found := map[string]bool{}
	for name, text := range texts {
		found[name] = slices.ContainsFunc(words, func(w string) bool { return hasWord(text, w, "-") })
	}
	return found
}

// hasWord reports whether a text has a word with neither a letter, a digit, an underscore nor one of
// also at its sides. A regular expression for it takes fifty times as long.
func hasWord(text, word, also string) bool {
	part := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte(also, c) >= 0
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
	for text, want := range map[string]bool{
		"a.b": true, "xa.b a.b": true, "a.bc xa.b": false, "-a.b": false, "a.b-": false, "(a.b)": true, "": false, "a.b_ a.b": true,
	} {
		if got := hasWord(text, "a.b", "-"); got != want {
			t.Errorf("hasWord(%q) = %t", text, got)
		}
	}
}
