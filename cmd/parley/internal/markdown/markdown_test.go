package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/yuin/goldmark/text"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

var update = flag.Bool("update", false, "write the golden files")

// documents returns the inputs of the golden files.
func documents(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("names is %v, err is %v; want err == nil and len(names) != 0", names, err)
	}
	docs := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs[strings.TrimSuffix(filepath.Base(name), ".md")] = string(data)
	}
	return docs
}

// shown returns the output for a document that arrives in pieces of n bytes.
func shown(doc string, n int, style Style) string {
	var s Splitter
	var blocks []string
	for piece := range slices.Chunk([]byte(doc), n) {
		blocks = append(blocks, s.Write(string(piece))...)
	}
	blocks = append(blocks, s.Flush()...)
	for i, b := range blocks {
		blocks[i] = Render(b, style)
	}
	return strings.Join(blocks, "\n\n") + "\n"
}

func TestGolden(t *testing.T) {
	styles := []struct {
		name string
		Style
	}{
		{"80 columns", Style{Columns: 80, Color: true}}, {"40 columns", Style{Columns: 40}}, {"16 columns", Style{Columns: 16}},
	}
	for name, doc := range documents(t) {
		got := &txtar.Archive{}
		for _, style := range styles {
			text := shown(doc, 1<<20, style.Style)
			for _, n := range []int{1, 2, 3, 7, 64} {
				if diff := cmp.Diff(text, shown(doc, n, style.Style)); diff != "" {
					t.Errorf("%s in pieces of %d, %s:\n%s", name, n, style.name, diff)
				}
			}
			for line := range strings.Lines(text) {
				if w := cell.Width(cell.Plain(strings.TrimSuffix(line, "\n"))); w > style.Columns {
					t.Errorf("%s, %s: %d columns: %q", name, style.name, w, line)
				}
			}
			got.Files = append(got.Files, txtar.File{Name: style.name, Data: []byte(strings.ReplaceAll(cell.Terminal(text), "\x1b", "␛"))})
		}
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// kinds returns the blocks that the parser finds.
func kinds(doc string) []string {
	var list []string
	root := parser.Parse(text.NewReader([]byte(doc)))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		list = append(list, n.Kind().String())
	}
	return list
}

// The splitter splits like the parser.
func TestSplitAsParsed(t *testing.T) {
	docs := documents(t)
	for i, doc := range []string{
		"para\n# head\npara\n***\n- a\n- b\n\nx\n", "Setext\n===\n\nother\n---\nx", "* a\n\n  b\n\n* c\n\n1. x\n2. y\n\n+ z", "```\n\n# no head\n- no list\n```\nafter",
		"~~~~\n```\n~~~\n~~~~\n> q\nlazy\n\n> other", "    code\n\n    more\ntext", "text\n    no code\n", "| a | b |\n|--|--|\n| 1 | 2 |\n\nx", "- a\n```\ncode\n```\n- b",
		"1) a\n2) b\n3. c", "para\n2. no list\n1. list", "- \n  a\n\nb", "\r\nwin\r\n\r\ndows\r\n", "- a\n\n\n- b\n***\n- c", "#no head\n####### none\n#\n", "``` a`b\nx",
	} {
		docs[fmt.Sprint("doc ", i)] = doc
	}
	for name, doc := range docs {
		var s Splitter
		var got []string
		for _, block := range append(s.Write(doc), s.Flush()...) {
			got = append(got, kinds(block)...)
		}
		if diff := cmp.Diff(kinds(doc), got); diff != "" {
			t.Errorf("%s %q (-parser +splitter):\n%s", name, doc, diff)
		}
	}
}

// A block is returned as soon as it is complete, and incomplete ones are kept.
func TestSplitEarly(t *testing.T) {
	var s Splitter
	steps := []struct {
		piece   string
		want    []string
		pending string
	}{
		{"# Head", nil, "# Head"},
		{"ing\nSome", []string{"# Heading"}, "Some"},
		{" text\n", nil, "Some text\n"},
		{"\n", []string{"Some text"}, ""},
		{"- a\n- b\n\n", nil, "- a\n- b\n\n"},
		{"```go\n", []string{"- a\n- b"}, "```go\n"},
		{"x := 1\n\n``", nil, "```go\nx := 1\n\n``"},
		{"`\n", []string{"```go\nx := 1\n\n```"}, ""},
	}
	for _, step := range steps {
		if got := s.Write(step.piece); !slices.Equal(got, step.want) || s.Pending() != step.pending {
			t.Errorf("after %q: %q, pending %q; want %q, %q", step.piece, got, s.Pending(), step.want, step.pending)
		}
	}
	if got := s.Flush(); len(got) != 0 {
		t.Errorf("flush %q", got)
	}
}

// No text, in any form, produces an escape sequence.
func TestRenderSafe(t *testing.T) {
	const evil = "\x1b]0;x\x07 &#27;[31m &#x1b;[2J &#155;x `\x1b[1m` [a](http://x/\x1b[5m) ![i](&#27;y) <b\x1b>\n\n    \x1b[7mcode\n\n| &#27;a | b |\n|--|--|\n| \x9b | \u202e |\n"
	for _, block := range append((&Splitter{}).Write(evil), evil) {
		if got := Render(block, Style{Columns: 40}); strings.ContainsFunc(got, cell.Unsafe) {
			t.Errorf("%q; want not strings.ContainsFunc(got, cell.Unsafe)", got)
		}
		if got := cell.Plain(Render(block, Style{Columns: 40, Color: true})); strings.ContainsFunc(got, cell.Unsafe) {
			t.Errorf("in colour: %q", got)
		}
	}
	if got := Wrap("a\x1b[31mb", 0); got != "a[31mb" {
		t.Errorf("Wrap: %q", got)
	}
}

func FuzzRender(f *testing.F) {
	for _, doc := range documents(f) {
		f.Add(doc, 40)
	}
	f.Fuzz(func(t *testing.T, doc string, columns int) {
		columns = max(columns%100, 10)
		all := shown(doc, max(len(doc), 1), Style{Columns: columns})
		if got := shown(doc, 3, Style{Columns: columns}); got != all {
			t.Errorf("in pieces %q, at once %q", got, all)
		}
		if strings.ContainsFunc(all, cell.Unsafe) {
			t.Errorf("not safe: %q", all)
		}
	})
}
