package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// severityTable has, for every fault, sessions in which it has different severities, with all
// expected findings.
var severityTable = []struct {
	name  string
	file  func(g *growing)
	tail  string           // text after the last line
	agent func(g *growing) // a subagent, or nil
	want  []string         // fault, severity, line, uuid
}{
	{name: "in order", file: func(g *growing) { g.user("q", "", "hello"); g.answer("a", "q", "m", say("hi")) }},

	{name: "an entry torn", file: func(g *growing) { g.user("q", "", "hello") }, tail: `{"parentUuid":"u-q","type":"us`, want: []string{"torn-tail breaks-resume 2 -"}},
	{name: "a record torn", file: func(g *growing) { g.user("q", "", "hello") }, tail: `{"type":"tag","ta`, want: []string{"torn-tail breaks-display 2 -"}},
	{name: "no line feed", file: func(g *growing) { g.user("q", "", "hello") }, tail: `{"type":"tag","tag":"x"}`, want: []string{"torn-tail breaks-display 2 -"}},

	{name: "an entry garbled", file: func(g *growing) { g.user("q", "", "hello"); g.raw(`{"parentUuid":"u-q","type`); g.user("e", "q", "on") }, want: []string{"bad-line breaks-resume 2 -"}},
	{name: "not an object", file: func(g *growing) { g.user("q", "", "hello"); g.raw(`["x"]`) }, want: []string{"bad-line breaks-display 2 -"}},

	{name: "cut off from what was said", file: func(g *growing) { g.user("q", "", "hello"); g.user("e", "gone", "on") }, want: []string{"missing-parent breaks-resume 2 u-e"}},
	{name: "cut off from nothing", file: func(g *growing) { g.user("q", "gone", "hello"); g.user("e", "q", "on") }, want: []string{"missing-parent breaks-display 1 u-q"}},
	{name: "a branch cut off", file: func(g *growing) { g.user("q", "", "hello"); g.user("x", "gone", "aside"); g.user("e", "q", "on") }, want: []string{"missing-parent breaks-display 2 u-x"}},
	{name: "a note cut off", file: func(g *growing) {
		g.user("q", "", "hello")
		g.add("attachment", "x", "gone", map[string]any{"attachment": map[string]any{"type": "date"}})
		g.user("e", "q", "on")
	}, want: []string{"missing-parent harmless 2 u-x"}},

	{name: "a circle in the conversation", file: func(g *growing) { g.user("x", "y", "hello"); g.user("y", "x", "on"); g.user("e", "y", "end") }, want: []string{"parent-cycle breaks-resume 1 u-x"}},
	{name: "a circle beside it", file: func(g *growing) {
		g.user("q", "", "hello")
		g.user("x", "y", "aside")
		g.user("y", "x", "aside")
		g.user("e", "q", "on")
	}, want: []string{"parent-cycle breaks-display 2 u-x"}},

	{name: "repeated", file: func(g *growing) { g.user("q", "", "hello"); g.raw(g.lines[0]); g.user("e", "q", "on") }, want: []string{"duplicate-uuid harmless 2 u-q"}},
	{name: "repeated so that it is the end", file: func(g *growing) {
		g.user("q", "", "hello")
		g.user("x", "q", "rewound")
		g.user("e", "q", "on")
		g.raw(g.lines[1])
	}, want: []string{"duplicate-uuid breaks-resume 4 u-x"}},
	{name: "another entry with another parent", file: func(g *growing) {
		g.user("q", "", "hello")
		g.user("x", "q", "one")
		g.user("x", "", "two")
		g.user("e", "x", "on")
	}, want: []string{"duplicate-uuid breaks-resume 3 u-x"}},
	{name: "another entry", file: func(g *growing) {
		g.user("q", "", "hello")
		g.user("x", "q", "one")
		g.user("x", "q", "two")
		g.user("e", "x", "on")
	}, want: []string{"duplicate-uuid breaks-display 3 u-x"}},

	{name: "a call in the conversation", file: func(g *growing) { g.user("q", "", "hello"); g.answer("a", "q", "m", use("t")); g.user("e", "a", "on") }, want: []string{"orphan-tool-use breaks-resume 2 u-a"}},
	{name: "a call beside it", file: func(g *growing) { g.user("q", "", "hello"); g.answer("x", "q", "m", use("t")); g.user("e", "q", "on") }, want: []string{"orphan-tool-use harmless 2 u-x"}},
	{name: "a call whose result is beside it", file: func(g *growing) {
		g.user("q", "", "hello")
		g.answer("a", "q", "m", use("t"))
		g.add("user", "r", "q", map[string]any{"isSidechain": true, "message": map[string]any{"role": "user", "content": []any{result("t")}}})
		g.user("e", "a", "on")
	}, want: []string{"orphan-tool-use breaks-resume 2 u-a"}},
	{name: "an agent that was stopped in a call", file: func(g *growing) { g.user("q", "", "hello") },
		agent: func(g *growing) { g.user("q2", "", "work"); g.answer("a2", "q2", "m", use("t")) }},
	{name: "an agent that went on from a call", file: func(g *growing) { g.user("q", "", "hello") },
		agent: func(g *growing) {
			g.user("q2", "", "work")
			g.answer("a2", "q2", "m", use("t"))
			g.user("e2", "a2", "on")
		},
		want: []string{"agent orphan-tool-use breaks-resume 2 u-a2"}},

	{name: "a result in the conversation", file: func(g *growing) {
		g.user("q", "", "hello")
		g.user("r", "q", []any{result("t")})
		g.user("e", "r", "on")
	}, want: []string{"orphan-tool-result breaks-resume 2 u-r"}},
	{name: "a result before its call", file: func(g *growing) {
		g.user("r", "", []any{result("t")})
		g.answer("a", "r", "m", use("t"))
		g.user("r2", "a", []any{result("t")})
	}, want: []string{"orphan-tool-result breaks-resume 1 u-r"}},
	{name: "a result beside it", file: func(g *growing) {
		g.user("q", "", "hello")
		g.user("x", "q", []any{result("t")})
		g.user("e", "q", "on")
	}, want: []string{"orphan-tool-result harmless 2 u-x"}},

	{name: "thinking in the conversation", file: func(g *growing) { g.user("q", "", "hello"); g.answer("a", "q", "m", emptied, say("hi")) }, want: []string{"emptied-thinking breaks-resume 2 u-a"}},
	{name: "thinking beside it", file: func(g *growing) {
		g.user("q", "", "hello")
		g.answer("x", "q", "m", emptied, say("hi"))
		g.user("e", "q", "on")
	}, want: []string{"emptied-thinking harmless 2 u-x"}},
	{name: "thinking that was not asked for", file: func(g *growing) {
		g.user("q", "", "hello")
		g.add("assistant", "a", "q", map[string]any{"thinkingDisplay": "omitted", "message": map[string]any{"role": "assistant", "id": "m", "content": []any{emptied, say("hi")}}})
	}},

	{name: "a long message in the conversation", file: func(g *growing) { g.user("q", "", long) }, want: []string{"oversized-line breaks-resume 1 u-q"}},
	{name: "a long message beside it", file: func(g *growing) { g.user("q", "", "hello"); g.user("x", "q", long); g.user("e", "q", "on") }, want: []string{"oversized-line harmless 2 u-x"}},
	{name: "a long line", file: func(g *growing) {
		g.add("user", "q", "", map[string]any{"toolUseResult": long, "message": map[string]any{"role": "user", "content": "hello"}})
	}, want: []string{"oversized-line breaks-display 1 u-q"}},
	{name: "a long record", file: func(g *growing) { g.user("q", "", "hello"); g.raw(`{"type":"newer","x":"` + long + `"}`) }, want: []string{"oversized-line harmless 2 -"}},

	{name: "several at once", file: func(g *growing) {
		g.user("q", "", "hello")
		g.raw("[]")
		g.answer("a", "gone", "m", use("t"), emptied)
	}, want: []string{"bad-line breaks-display 2 -", "missing-parent breaks-resume 3 u-a", "orphan-tool-use breaks-resume 3 u-a", "emptied-thinking breaks-resume 3 u-a"}},
}

var (
	emptied = map[string]any{"type": "thinking", "thinking": "", "signature": "s"}
	long    = strings.Repeat("much ", 400)
)

func say(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// raw adds a line unchanged.
func (g *growing) raw(line string) { g.lines = append(g.lines, line) }

// TestSeverity compares the findings with the table: all of them, and no others.
func TestSeverity(t *testing.T) {
	faults := map[Fault]bool{}
	for _, tt := range severityTable {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "projects", "-p", growthID+".jsonl")
			write := func(path, tail string, file func(*growing)) {
				g := &growing{t: t}
				file(g)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.Join(g.lines, "\n")+"\n"+tail), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(path, tt.tail, tt.file)
			if tt.agent != nil {
				write(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-x.jsonl"), "", tt.agent)
			}
			findings, err := File(path).Examine(t.Context(), &ExamineOptions{MaxLine: 1000})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				faults[f.Fault] = true
				text := fmt.Sprint(f.Fault, " ", f.Severity, " ", f.Line, " ", f.UUID)
				if f.UUID == "" {
					text += "-"
				}
				if f.Path != path {
					text = "agent " + text
				}
				got = append(got, text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
	if len(faults) != 9 {
		t.Errorf("%d of 9 faults are in the table", len(faults))
	}
}
