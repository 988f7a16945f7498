package lexers_test

import (
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	original "github.com/alecthomas/chroma/v2/lexers"

	"github.com/seed7221b0f9/parley/internal/lexers"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

func tokens(t *testing.T, l chroma.Lexer, text string) []chroma.Token {
	t.Helper()
	if l == nil {
		t.Fatal("no grammar")
	}
	all, err := chroma.Tokenise(chroma.Coalesce(l), nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTokens compares the tokens of each grammar with those of chroma's grammar.
func TestTokens(t *testing.T) {
	for name, text := range map[string]string{
		"x.go":       "package x // as it is\n\nfunc f(a int) string { return `b` + \"c\\n\" + fmt.Sprint(0x1f, 1.5e3, nil) }\n",
		"x.py":       "@cached\ndef f(a: int) -> str:\n    '''Say it.'''\n    return f\"{a!r}\" if a else None\n",
		"x.ts":       "export const f = async <T>(a: T): Promise<string> => `${a} 1`;\n",
		"x.tsx":      "const a = <b className=\"c\">{d}</b>;\n",
		"x.html":     "<!doctype html><style>a { color: red }</style><script>let a = 1;</script><p class=a>&amp;</p>\n",
		"x.php":      "<p><?php echo \"a $b\"; // c\n?></p>\n",
		"x.md":       "# A\n\n- b `c` **d**\n\n```go\nvar x = 1\n```\n",
		"x.sh":       "if [ -n \"$a\" ]; then echo \"${a%b}\" | sed 's/a/b/'; fi\n",
		"x.rs":       "fn main() { let mut a: Vec<u8> = vec![b'x']; println!(\"{}\", a.len()); }\n",
		"x.sql":      "SELECT a, count(*) FROM b WHERE c = 'd' GROUP BY 1;\n",
		"Dockerfile": "FROM a:1 AS b\nRUN set -e; echo c\n",
		"Makefile":   "a: b ## c\n\t@echo $(D)\n",
		"x.vue":      "<template><p>{{ a }}</p></template><script>export default {}</script>\n",
		"x.yaml":     "a: [1, \"b\"] # c\nd:\n  - e: null\n",
		"x.json":     "{\"a\": [1, true, null, \"b\"]}\n",
		"x.diff":     "--- a\n+++ b\n@@ -1 +1 @@\n-c\n+d\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, want := tokens(t, lexers.Match(name), text), tokens(t, original.Match(name), text)
			if len(got) < 3 {
				t.Errorf("only %d tokens", len(got))
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("token %d differs:\n%v\n%v", i, got, want)
				}
			}
		})
	}
}

// TestAll reads every grammar and the grammars that it refers to, with a text that uses many kinds
// of tokens.
func TestAll(t *testing.T) {
	const text = "<a b=\"c\">{{ d }}</a> // e\nif (f == 'g') { h(1.5); } # i\n<?php ?>\n```go\nj\n```\n"
	names := lexers.Names()
	if len(names) < 150 {
		t.Errorf("%d grammars", len(names))
	}
	for i, name := range names {
		if i%short.Count(15, 1, 1) != 0 {
			continue
		}
		l := lexers.Get(name)
		if l == nil || original.Get(name) == nil {
			t.Errorf("no grammar %q", name)
			continue
		}
		for _, pattern := range l.Config().Filenames {
			file := strings.NewReplacer("*", "x", "?", "x", "[345]", "3").Replace(pattern)
			theirs := original.Match(file)
			if theirs == nil || lexers.Get(theirs.Config().Name) == nil {
				continue // chroma's grammar refers to one that is not included
			}
			if own := lexers.Match(file); own == nil || own.Config().Name != theirs.Config().Name {
				t.Errorf("%s: the grammar is not that of %s", file, theirs.Config().Name)
			}
		}
		var all strings.Builder
		for _, token := range tokens(t, l, text) {
			all.WriteString(token.Value)
		}
		if strings.TrimRight(all.String(), "\n") != strings.TrimRight(text, "\n") {
			t.Errorf("%s: the tokens are not the text: %q", name, all.String())
		}
	}
}

// TestGet_unknown looks up unknown languages and files.
func TestGet_unknown(t *testing.T) {
	if l := lexers.Get("no such language"); l != nil {
		t.Errorf("found %s", l.Config().Name)
	}
	if l := lexers.Match("file.nosuchending"); l != nil {
		t.Errorf("found %s", l.Config().Name)
	}
}
