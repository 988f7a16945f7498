package e2e_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

var (
	backquoted = regexp.MustCompile("`([^`\n]+)`")
	tsMember   = regexp.MustCompile(`(?m)^    (\w+)(?:\?:|\()`)
	tsFunction = regexp.MustCompile(`(?m)^export declare function (\w+)`)
)

// migrationPage returns a page and the words in backquotes in it.
func migrationPage(t *testing.T, name string) (text string, words []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guide", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range backquoted.FindAllStringSubmatch(string(data), -1) {
		words = append(words, m[1])
	}
	return string(data), words
}

// block returns the text between a line and the next closing line.
func block(text, first, last string) string {
	_, text, _ = strings.Cut(text, first)
	text, _, _ = strings.Cut(text, last)
	return text
}

// The page about migrating has every option, method and function of the installed TypeScript SDK.
func TestMigratingFromTypeScript(t *testing.T) {
	t.Parallel()
	cli := e2e.CLI(t)
	data, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(cli)), "claude-agent-sdk", "sdk.d.ts"))
	if err != nil {
		t.Skipf("the types of the SDK are not beside the CLI: %v", err)
	}
	types := strings.ReplaceAll(string(data), "\r\n", "\n")
	_, words := migrationPage(t, "migrating-from-typescript.md")
	var names []string
	for _, part := range []string{
		block(types, "\nexport declare type Options = {\n", "\n};\n"),
		block(types, "\nexport declare interface Query extends", "\n}\n"),
	} {
		for _, m := range tsMember.FindAllStringSubmatch(part, -1) {
			names = append(names, m[1])
		}
	}
	for _, m := range tsFunction.FindAllStringSubmatch(types, -1) {
		names = append(names, m[1])
	}
	if len(names) < 100 {
		t.Fatalf("only %d names were found in the types", len(names))
	}
	for _, name := range names {
		if name != "query" && !slices.Contains(words, name) {
			t.Errorf("the page does not say what %s is here", name)
		}
	}
}

// The Go side of the tables of options has fields that exist.
func TestMigrationOptions(t *testing.T) {
	t.Parallel()
	goName := regexp.MustCompile(`^[A-Z]\w*$`)
	for _, page := range []string{"migrating-from-python.md", "migrating-from-typescript.md"} {
		text, _ := migrationPage(t, page)
		found := 0
		for line := range strings.Lines(block(text, "\n## Options\n", "\n## ")) {
			cells := strings.Split(line, "|")
			if len(cells) < 4 {
				continue
			}
			for _, m := range backquoted.FindAllStringSubmatch(cells[2], -1) {
				name, _, _ := strings.Cut(m[1], "[")
				if !goName.MatchString(name) {
					t.Errorf("%s: %s is not a field", page, m[1])
				}
				found++
				if _, ok := reflect.TypeFor[claude.Options]().FieldByName(name); !ok {
					t.Errorf("%s: claude.Options has no %s", page, name)
				}
			}
		}
		if found < 40 {
			t.Errorf("%s: only %d fields were found", page, found)
		}
	}
}
