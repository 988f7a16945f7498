package contextref

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden is a parsed message.
type golden struct {
	Text     string     `json:"text"`
	Contexts References `json:"contexts"`
}

// TestGolden parses every message in testdata, compares it with its golden file, and builds it
// again byte for byte.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(names) < 4 {
		t.Fatalf("names is %v, err is %v; want err == nil and len(names) >= 4", names, err)
	}
	for _, name := range names {
		message := read(t, name)
		lang := Chinese
		if strings.HasPrefix(message, "> **Context**") {
			lang = English
		}
		text, refs := Parse(message)
		got, err := json.MarshalIndent(golden{text, refs}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := strings.TrimSuffix(name, ".txt") + ".json"
		if *update {
			if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(read(t, file), string(got)+"\n"); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		back, err := Build(text, refs, lang)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(message, back); diff != "" {
			t.Errorf("%s, built again:\n%s", name, diff)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGoldenHoldsEveryKind checks that the golden files contain exactly the known kinds.
func TestGoldenHoldsEveryKind(t *testing.T) {
	_, refs := Parse(read(t, filepath.Join("testdata", "seed-table.txt")))
	seen := map[Kind]bool{}
	for _, r := range refs {
		seen[r.Kind()] = true
	}
	for kind := range makers {
		if !seen[kind] {
			t.Errorf("no %s", kind)
		}
	}
	if len(refs) != len(makers) || len(readers) != len(makers) {
		t.Errorf("%d lines, %d kinds, %d icons", len(refs), len(makers), len(readers))
	}
}

func TestStaysText(t *testing.T) {
	const item = "> - 📄 `a`\n"
	for name, message := range map[string]string{
		"nothing":              "",
		"no block":             "hello",
		"not at the start":     "hello\n> **上下文资料**\n> \n" + item + "\n",
		"space before":         " > **上下文资料**\n> \n" + item + "\n",
		"other header":         "> **上下文**\n> \n" + item + "\n",
		"header of more":       "> **Context** of this\n> \n" + item + "\n",
		"lower case":           "> **context**\n> \n" + item + "\n",
		"not bold":             "> 上下文资料\n> \n" + item + "\n",
		"no items":             "> **上下文资料**\n> \n\nhello",
		"header alone":         "> **上下文资料**",
		"no blank line":        "> **上下文资料**\n> \n" + item + "hello",
		"quote goes on":        "> **上下文资料**\n> \n" + item + "> more\n\nhello",
		"two empty lines":      "> **上下文资料**\n> \n> \n" + item + "\n",
		"item without an icon": "> **Context**\n> \n> - the first point\n\nhello",
		"check marks":          "> **Context**\n> \n> - ✓ done\n> - ✗ not done\n\nhello",
		"icon in the text":     "> **Context**\n> \n> - see 📄 `a`\n\nhello",
		"no back quotes":       "> **Context**\n> \n> - 📄 my notes\n\nhello",
		"half quoted":          "> **Context**\n> \n> - 📄 `my notes\n\nhello",
		"text behind a path":   "> **Context**\n> \n> - 📄 `a` and more\n\nhello",
		"two paths":            "> **Context**\n> \n> - 📄 `a` `b`\n\nhello",
		"one bad of two":       "> **上下文资料**\n> \n" + item + "> - 💻 terminal\n\nhello",
		"count is no number":   "> **上下文资料**\n> \n> - 📁 `a` (many)\n\nhello",
		"count with a zero":    "> **上下文资料**\n> \n> - 📁 `a` (007个文件)\n\nhello",
		"dash without a quote": "> **上下文资料**\n> \n- 📄 `a`\n\nhello",
		"star for a dash":      "> **上下文资料**\n> \n> * 📄 `a`\n\nhello",
		"carriage return":      "> **上下文资料**\r> \r> - 📄 `a`\r\rhello",
		"control character":    "> **上下文资料**\n> \n> - 📄 `a\x1bb`\n\nhello",
	} {
		text, refs := Parse(message)
		if text != message || refs != nil {
			t.Errorf("%s: text %q, references %v", name, text, refs)
		}
	}
}

func TestTolerance(t *testing.T) {
	want := References{&File{Path: "a b.txt"}, &Terminal{Lines: 2, IsError: true}, &Folder{Path: "c", FileCount: new(1)}}
	for name, message := range map[string]string{
		"as it is":           "> **上下文资料**\n> \n> - 📄 `a b.txt`\n> - 💻 终端输出 (2行) ⚠️\n> - 📁 `c` (1个文件)\n\nhi",
		"no line between":    "> **上下文资料**\n> - 📄 `a b.txt`\n> - 💻 终端输出 (2行) ⚠️\n> - 📁 `c` (1个文件)\n\nhi",
		"trimmed":            "> **上下文资料**\n>\n> - 📄 `a b.txt`\n> - 💻 终端输出 (2行) ⚠️\n> - 📁 `c` (1个文件)\n\nhi",
		"CRLF":               "> **上下文资料**\r\n> \r\n> - 📄 `a b.txt`\r\n> - 💻 终端输出 (2行) ⚠️\r\n> - 📁 `c` (1个文件)\r\n\r\nhi",
		"CRLF in part":       "> **上下文资料**\r\n>\n> - 📄 `a b.txt`\r\n> - 💻 终端输出 (2行) ⚠️\n> - 📁 `c` (1个文件)\n\r\nhi",
		"spaces":             "> **上下文资料**  \n>   \n> - 📄 `a b.txt` \t\n> - 💻 终端输出 (2行) ⚠️ \n> - 📁 `c` (1个文件)\n  \nhi",
		"no variation":       "> **上下文资料**\n> \n> - 📄 `a b.txt`\n> - 💻 终端输出 (2行) \u26a0\n> - 📁 `c` (1个文件)\n\nhi",
		"English":            "> **Context**\n> \n> - 📄 `a b.txt`\n> - 💻 Terminal output (2 lines) ⚠️\n> - 📁 `c` (1 file)\n\nhi",
		"English, by rote":   "> **Context**\n> \n> - 📄 `a b.txt`\n> - 💻 Terminal output (2 lines) ⚠️\n> - 📁 `c` (1 files)\n\nhi",
		"half English":       "> **Context**\n> \n> - 📄 `a b.txt`\n> - 💻 终端输出 (2行) ⚠️\n> - 📁 `c` (1 file)\n\nhi",
		"more than one line": "> **Context**\n> \n> - 📄 `a b.txt`\n> - 💻 Terminal output (2 lines) ⚠️\n> - 📁 `c` (1 file)\n\nhi",
	} {
		text, refs := Parse(message)
		if diff := cmp.Diff(want, References(refs)); diff != "" || text != "hi" {
			t.Errorf("%s: %q\n%s; want diff == \"\" and text == \"hi\"", name, text, diff)
		}
	}
	text, refs := Parse("> **上下文资料**\n> \n> - 📄 `a`")
	if text != "" || len(refs) != 1 {
		t.Errorf("at the end of the message: %q, %v", text, refs)
	}
	text, refs = Parse("> **上下文资料**\n> \n> - 📄 `a`\n\n> **上下文资料**\n> \n> - 📄 `b`\n\nhi")
	if !strings.HasPrefix(text, "> **") || len(refs) != 1 {
		t.Errorf("two blocks: %q, %v", text, refs)
	}
}

func TestUnknownLine(t *testing.T) {
	message := "> **上下文资料**\n> \n> - 📄 `a`\n> - 🎤 录音 (12s)\n\nhi"
	text, refs := Parse(message)
	if diff := cmp.Diff([]Reference{&File{Path: "a"}, &Unknown{Line: "🎤 录音 (12s)"}}, refs); diff != "" || text != "hi" {
		t.Errorf("%q\n%s; want diff == \"\" and text == \"hi\"", text, diff)
	}
	if back, err := Build(text, refs, Chinese); back != message || err != nil {
		t.Errorf("built again: %q, %v", back, err)
	}
}

func TestRefused(t *testing.T) {
	for field, r := range map[string]Reference{
		"Path: a line break":       &File{Path: "a\nb"},
		"Path: a back quote":       &File{Path: "a`b"},
		"Path: nothing":            &File{},
		"Path: U+2028":             &File{Path: "a\u2028b"},
		"Path: not UTF-8":          &File{Path: "a\xffb"},
		"Path: of a folder":        &Folder{Path: "a\rb"},
		"FileCount: negative":      &Folder{Path: "a", FileCount: new(-1)},
		"URL: a space":             &Web{URL: "https://example.com/a b"},
		"Title: a line break":      &Web{URL: "x", Title: "a\nb"},
		"Name: a back quote":       &Symbol{Name: "`"},
		"SymbolType: a bracket":    &Symbol{Name: "a", SymbolType: "F)"},
		"File: a number":           &Symbol{Name: "a", File: "b:4"},
		"File: a space at the end": &Symbol{Name: "a", File: "b "},
		"Line: no file":            &Symbol{Name: "a", Line: 4},
		"Lines: negative":          &Terminal{Lines: -1},
		"Count: negative":          &Problems{Count: -1},
		"Severity: a bracket":      &Problems{Severity: "]"},
		"GitType: nothing":         &Git{},
		"Name: of an image":        &Image{Name: "a\x00"},
		"Line: no icon":            &Unknown{Line: "hello there"},
		"Line: an icon of ours":    &Unknown{Line: "📄 `a`"},
		"Line: alone":              &Unknown{Line: "🎤 x"},
	} {
		_, err := Build("hi", []Reference{r}, English)
		refused, ok := errors.AsType[*FieldError](err)
		if want, _, _ := strings.Cut(field, ":"); !ok || refused.Field != want || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want ok and refused.Field == want and strings.Contains(err.Error(), want)", field, err)
		}
	}
}

func TestImageSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0KB", 1: "1KB", 1024: "1KB", 12000: "12KB", -5: "0KB"} {
		if got := ImageSize(bytes); got != want {
			t.Errorf("ImageSize(%d) = %s, want %s", bytes, got, want)
		}
	}
}
