package transcript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/transcript"
)

// library returns a configuration directory with some sessions to search.
func library(t *testing.T) *transcript.Dir {
	t.Helper()
	config := t.TempDir()
	put := func(project, id, modified string, lines ...string) {
		t.Helper()
		path := filepath.Join(config, "projects", project, id)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.DateOnly, modified)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	const one, two = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"
	put("-home-dev-one", one+".jsonl", "2026-03-01",
		`{"parentUuid":null,"type":"user","uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z","cwd":"/home/dev/it's one","gitBranch":"main","message":{"role":"user","content":"Find the NEEDLE in\nthe haystack"}}`,
		`{"parentUuid":"u1","type":"assistant","uuid":"a1","timestamp":"2026-01-01T10:00:01.000Z","gitBranch":"main","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Grep","input":{"pattern":"needle"}}]}}`,
		`{"parentUuid":"a1","type":"user","uuid":"r1","timestamp":"2026-01-01T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt: a needle"}]},"toolUseResult":{"stdout":"needle"}}`,
		`{"type":"api-request-blob","hash":"x","message":{"content":"needle"}}`,
		`not JSON: needle`,
		`{"parentUuid":"r1","type":"assistant","uuid":"a2","timestamp":"2026-01-02T10:00:01.000Z","gitBranch":"main","message":{"id":"m2","role":"assistant","content":[{"type":"thinking","thinking":"\u004eeedle?"},{"type":"text","text":"Here: \u65e5\u672c\u8a9e and 日本人, \"quoted\" caf\u00E9 ПРИВЕТ \ud83d\udc69 a\u003cb"}]}}`,
		`{"type":"custom-title","customTitle":"The needle session","sessionId":"`+one+`"}`)
	put("-home-dev-one", filepath.Join(one, "subagents", "agent-a0.jsonl"), "2026-03-01",
		`{"parentUuid":null,"isSidechain":true,"agentId":"a0","type":"user","uuid":"s1","timestamp":"2026-01-01T11:00:00.000Z","message":{"role":"user","content":"look for a Needle too"}}`)
	put("-home-dev-two", two+".jsonl", "2026-04-01",
		`{"parentUuid":null,"type":"user","uuid":"u9","timestamp":"2026-04-01T00:00:00.000Z","cwd":"/home/dev/two","gitBranch":"dev","message":{"role":"user","content":"another needle"}}`)
	return transcript.Open(config)
}

func TestSearch(t *testing.T) {
	dir := library(t)
	day := func(s string) time.Time { d, _ := time.Parse(time.DateOnly, s); return d }
	second, tools := day("2026-01-01").Add(10*time.Hour+2*time.Second), []transcript.Role{transcript.RoleTool}
	tests := []struct {
		name  string
		query transcript.Query
		want  []string // entry, role, tool
	}{
		{"all", transcript.Query{Text: "needle"}, []string{"u9 user", "u1 user", "a1 tool Grep", "r1 tool Grep", "a2 assistant", " title", "s1 user"}},
		{"case", transcript.Query{Text: "NEEDLE", CaseSensitive: true}, []string{"u1 user"}},
		{"role", transcript.Query{Text: "needle", Roles: []transcript.Role{transcript.RoleTool, transcript.RoleTitle}}, []string{"a1 tool Grep", "r1 tool Grep", " title"}},
		{"tool", transcript.Query{Text: "needle", Tool: "Grep"}, []string{"a1 tool Grep", "r1 tool Grep"}},
		{"another tool", transcript.Query{Text: "needle", Tool: "Bash"}, nil},
		{"branch", transcript.Query{Text: "needle", Filter: transcript.Filter{Branch: "dev"}}, []string{"u9 user"}},
		{"project", transcript.Query{Text: "needle", Filter: transcript.Filter{Dir: "/home/dev/two"}}, []string{"u9 user"}},
		{"since", transcript.Query{Text: "needle", Filter: transcript.Filter{Since: day("2026-01-02")}}, []string{"u9 user", "a2 assistant"}},
		{"until", transcript.Query{Text: "needle", Filter: transcript.Filter{Until: day("2026-01-02")}}, []string{"u1 user", "a1 tool Grep", "r1 tool Grep", "s1 user"}},
		{"since a second", transcript.Query{Text: "needle", Roles: tools, Filter: transcript.Filter{Since: second}}, []string{"r1 tool Grep"}},
		{"until a second", transcript.Query{Text: "needle", Roles: tools, Filter: transcript.Filter{Until: second}}, []string{"a1 tool Grep"}},
		{"main only", transcript.Query{Text: "too", MainOnly: true}, nil},
		{"hits", transcript.Query{Text: "needle", Hits: 2}, []string{"u9 user", "u1 user"}},
		{"across lines of a text", transcript.Query{Text: "in\nthe hay"}, []string{"u1 user"}},
		{"CJK escaped", transcript.Query{Text: "日本語"}, []string{"a2 assistant"}},
		{"CJK raw", transcript.Query{Text: "本人"}, []string{"a2 assistant"}},
		{"quotes", transcript.Query{Text: `"quoted"`}, []string{"a2 assistant"}},
		{"only a quote", transcript.Query{Text: `" `}, []string{"a2 assistant"}},
		{"an accent", transcript.Query{Text: "CAFÉ"}, []string{"a2 assistant"}},
		{"Cyrillic", transcript.Query{Text: "привет"}, []string{"a2 assistant"}},
		{"an emoji", transcript.Query{Text: "👩"}, []string{"a2 assistant"}},
		{"escaped for HTML", transcript.Query{Text: "a<b"}, []string{"a2 assistant"}},
		{"nothing", transcript.Query{Text: "no such word"}, nil},
	}
	for _, tt := range tests {
		var got []string
		for hit, err := range dir.Search(t.Context(), tt.query) {
			if err != nil {
				t.Fatalf("tt.name is %v, err is %v; want err == nil", tt.name, err)
			}
			got = append(got, strings.TrimRight(fmt.Sprint(hit.UUID, " ", string(hit.Role), " ", hit.Tool), " "))
			if match := hit.Snippet[hit.Start:hit.End]; !strings.EqualFold(match, strings.ReplaceAll(tt.query.Text, "\n", " ")) {
				t.Errorf("%s: the match is %q in %q", tt.name, match, hit.Snippet)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, err := range dir.Search(t.Context(), transcript.Query{}) {
		if err == nil {
			t.Error("nothing is found")
		}
	}
}

func TestSearchHit(t *testing.T) {
	for hit, err := range library(t).Search(t.Context(), transcript.Query{Text: "look for"}) {
		if err != nil {
			t.Fatal(err)
		}
		if hit.AgentID != "a0" || hit.Session.CustomTitle != "The needle session" || hit.Snippet != "look for a Needle too" {
			t.Errorf("%+v; want hit.AgentID == \"a0\" and hit.Session.CustomTitle == \"The needle session\" and hit.Snippet == \"look for a Needle too\"", hit)
		}
		if want := `cd '/home/dev/it'\''s one' && claude --resume 11111111-0000-4000-8000-000000000001`; hit.Resume != want {
			t.Errorf("resume with %s, want %s", hit.Resume, want)
		}
	}
}

// TestSearchHit_wholeCharacters cuts the text around a match between characters, not inside of
// them.
func TestSearchHit_wholeCharacters(t *testing.T) {
	dir := transcript.Open(t.TempDir())
	text := strings.Repeat("漢", 100) + "needle" + strings.Repeat("字", 100)
	putFile(t, dir, "-p/11111111-0000-4000-8000-000000000001.jsonl", `{"parentUuid":null,"type":"user","uuid":"u1","message":{"role":"user","content":"`+text+`"}}`+"\n", time.Now())
	hits := 0
	for hit, err := range dir.Search(t.Context(), transcript.Query{Text: "needle"}) {
		if err != nil {
			t.Fatal(err)
		}
		if hits++; hit.Snippet[hit.Start:hit.End] != "needle" || !strings.Contains(text, hit.Snippet) || len(hit.Snippet) < 160 {
			t.Errorf("the match is %q in %q", hit.Snippet[hit.Start:hit.End], hit.Snippet)
		}
	}
	if hits != 1 {
		t.Errorf("%d hits", hits)
	}
}

// TestSearchFindsAll searches for pieces of every text in the corpus: all are found, in every JSON
// encoding.
func TestSearchFindsAll(t *testing.T) {
	config := t.TempDir()
	var texts []string
	for i, path := range mainFiles(t) {
		if i%6 != 0 {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i%12 == 0 {
			text = []byte(escapeAll(t, string(text)))
		}
		to := filepath.Join(config, "projects", "-p", filepath.Base(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
		messages, err := transcript.File(to).Conversation(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if s := m.Text(); len(s) > 12 {
				texts = append(texts, s[:12], s[len(s)-8:])
			}
		}
	}
	dir := transcript.Open(config)
	if len(texts) == 0 {
		t.Fatal("nothing to look for")
	}
	for _, text := range texts {
		found := false
		for hit, err := range dir.Search(t.Context(), transcript.Query{Text: strings.ToUpper(text), Hits: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			found = hit != nil
		}
		if !found {
			t.Errorf("%q is not found", text)
		}
	}
}

// escapeAll rewrites every line with all letters of its strings escaped.
func escapeAll(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if m, ok := v["message"].(map[string]any); ok {
			if s, ok := m["content"].(string); ok {
				m["content"] = "\x00" + s // marks strings to escape
			}
		}
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		before, after, ok := strings.Cut(string(plain), `"\u0000`)
		if ok {
			content, rest, _ := strings.Cut(after, `"`)
			var b strings.Builder
			for _, r := range content {
				if r >= 'a' && r <= 'z' {
					fmt.Fprintf(&b, `\u%04X`, r)
				} else {
					b.WriteRune(r)
				}
			}
			if json.Valid([]byte(before + `"` + b.String() + `"` + rest)) {
				plain = []byte(before + `"` + b.String() + `"` + rest)
			} else {
				plain = []byte(before + `"` + content + `"` + rest)
			}
		}
		out.Write(plain)
		out.WriteByte('\n')
	}
	return out.String()
}
