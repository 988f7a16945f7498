package parley_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// additions are the lists of CONTRIBUTING.md, by their headings, with what the example of
// each has in the files of its list. A file that the list names has to have a row here,
// and each row has to be in the list.
var additions = map[string]map[string]string{
	"An event": {
		"ui/event_notice.go":             "type Retry struct {\n\tHeader\n",
		"ui/conversation_turn.go":        "type RetryState struct",
		"ui/conversation.go":             "Retry          *RetryState",
		"ui/fold_notice.go":              "case *Retry:",
		"ui/claudeui/convert_notice.go":  "&ui.Retry{",
		"rpc/message_notice.go":          "type Retry struct",
		"rpc/kinds_message.go":           `"retry":`,
		"rpc/convert_turn.go":            "case *ui.Retry:",
		"rpc/read_turn.go":               "case *Retry:",
		"rpc/golden_events_test.go":      `"retry": &ui.Retry{`,
		"rpc/testdata/golden/retry.json": `"type": "retry"`,
		"web/src/rpc/decode.ts":          "retry: true",
		"web/src/fold/notice.ts":         "export function retry(",
		"web/src/fold/fold.ts":           `case "retry":`,
		"ui/claudeui/events_test.go":     `"Retry":`,
		"web/src/rpc/messages.ts":        `type: "retry"`,
		"web/src/fold/conversation.ts":   "retry?: RetryState",
		"web/dist/fold.mjs":              `case "retry":`,
	},
}

var (
	additionHeading = regexp.MustCompile(`(?m)^### (.+)$`)
	listedFile      = regexp.MustCompile("`((?:[a-z][\\w.-]*/)+[\\w.-]+\\.\\w+)`")
)

// addition returns the files that the list below a heading names, in its first column.
func addition(text, heading string) []string {
	_, rest, found := strings.Cut(text, "\n### "+heading+"\n")
	if !found {
		return nil
	}
	if i := additionHeading.FindStringIndex(rest); i != nil {
		rest = rest[:i[0]]
	}
	if i := strings.Index(rest, "\n## "); i >= 0 {
		rest = rest[:i]
	}
	var files []string
	for line := range strings.Lines(rest) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range listedFile.FindAllStringSubmatch(cells[1], -1) {
				files = append(files, m[1])
			}
		}
	}
	return files
}

// TestContributing holds the lists of files in CONTRIBUTING.md against the files: each is
// there, and the list's example is in it under the name that the list gives.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, marks := range additions {
		listed := map[string]bool{}
		for _, file := range addition(string(text), heading) {
			listed[file] = true
			if marks[file] == "" {
				t.Errorf("%s: CONTRIBUTING.md names %s, which has no row in additions", heading, file)
			}
		}
		for file, mark := range marks {
			if !listed[file] {
				t.Errorf("%s: CONTRIBUTING.md does not name %s", heading, file)
			}
			data, err := os.ReadFile(filepath.FromSlash(file))
			if err != nil {
				t.Errorf("%s: %v", heading, err)
				continue
			}
			if !strings.Contains(string(data), mark) {
				t.Errorf("%s: %s does not have %q", heading, file, mark)
			}
		}
	}
}

func TestAddition(t *testing.T) {
	text := "\n### A thing\n| File | What |\n| `a/b.go` (or `x/*.go`), `c/d_e.ts` | `not/this.go` |\n\n### Another\n| `f/g.go` | x |\n## End\n| `h/i.go` | x |\n"
	if got := strings.Join(addition(text, "A thing"), " "); got != "a/b.go c/d_e.ts" {
		t.Errorf("the files are %s", got)
	}
	if got := strings.Join(addition(text, "Another"), " "); got != "f/g.go" {
		t.Errorf("the files are %s", got)
	}
	if got := addition(text, "No such"); got != nil {
		t.Errorf("the files are %v", got)
	}
}
