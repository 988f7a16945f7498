package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
)

// writeAgents adds n subagents to a session, all of which name the same call as their origin, and
// all of which contain that call.
func writeAgents(t *testing.T, s *transcript.Session, n int, toolUse func(i int) (started, calls string)) {
	t.Helper()
	dir := filepath.Join(strings.TrimSuffix(s.Path, ".jsonl"), "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		started, calls := toolUse(i)
		name := filepath.Join(dir, fmt.Sprintf("agent-a%04d", i))
		meta, _ := json.Marshal(map[string]any{"agentType": "x", "toolUseId": started})
		line, _ := json.Marshal(map[string]any{
			"type": "assistant", "uuid": fmt.Sprintf("agent-%d", i), "parentUuid": nil, "isSidechain": true, "sessionId": sessionID,
			"message": assistant(fmt.Sprintf("msg_a%d", i), block("text", "text", fmt.Sprintf("agent %d speaks", i)), block("tool_use", "id", calls, "name", "Task", "input", map[string]any{})),
		})
		for ext, text := range map[string][]byte{".meta.json": meta, ".jsonl": append(line, '\n')} {
			if err := os.WriteFile(name+ext, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// call returns a session that calls one tool.
func call(t *testing.T) *transcript.Session {
	t.Helper()
	return writeSession(t, user("go"), assistant("msg_1", block("tool_use", "id", "toolu_0", "name", "Task", "input", map[string]any{})))
}

// hostile are sessions of size n, each in a shape that once took more than linear time or memory.
var hostile = map[string]func(t *testing.T, n int) *transcript.Session{
	"agents of one call": func(t *testing.T, n int) *transcript.Session {
		s := call(t)
		writeAgents(t, s, n/8, func(int) (string, string) { return "toolu_0", "toolu_0" })
		return s
	},
	"agents in agents": func(t *testing.T, n int) *transcript.Session {
		s := call(t)
		writeAgents(t, s, n/8, func(i int) (string, string) { return fmt.Sprintf("toolu_%d", i), fmt.Sprintf("toolu_%d", i+1) })
		return s
	},
	"calls": func(t *testing.T, n int) *transcript.Session {
		var blocks []any
		for range n {
			blocks = append(blocks, block("tool_use", "id", "toolu_0", "name", "Task", "input", map[string]any{}))
		}
		s := writeSession(t, user("go"), assistant("msg_1", blocks...))
		writeAgents(t, s, n/8, func(int) (string, string) { return "toolu_0", "toolu_0" })
		return s
	},
	"results": func(t *testing.T, n int) *transcript.Session {
		var calls, results []any
		for i := range n {
			calls = append(calls, block("tool_use", "id", fmt.Sprint(i), "name", "X", "input", map[string]any{}))
			results = append(results, block("tool_result", "tool_use_id", fmt.Sprint(i), "content", "x"))
		}
		return writeSession(t, user("go"), assistant("msg_1", calls...), user(results))
	},
	"nested input": func(t *testing.T, n int) *transcript.Session {
		deep := json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
		return writeSession(t, user("go"), assistant("msg_1", block("tool_use", "id", "1", "name", "X", "input", map[string]any{"a": deep}), block("newer", "a", deep)))
	},
	"quotes":   text(func(n int) string { return strings.Repeat(">", n) }),
	"items":    text(func(n int) string { return strings.Repeat("- ", n) + "a" }),
	"brackets": text(func(n int) string { return strings.Repeat("[a](", n) }),
	"stars":    text(func(n int) string { return strings.Repeat("*a_ ", n) }),
	"table": text(func(n int) string {
		return strings.Repeat("|a", n) + "|\n" + strings.Repeat("|-", n) + "|\n" + strings.Repeat("|\n", n)
	}),
	"backticks": text(func(n int) string { return strings.Repeat("`` ` ", n) }),
	"tags":      text(func(n int) string { return strings.Repeat("a <!-- ", n) }),
	// Text that only looks like code does not hide what follows.
	"stars after code":         text(func(n int) string { return "```\n   ```\n" + strings.Repeat("*a_ ", 8*n) }),
	"brackets after a comment": text(func(n int) string { return " <!--\n```\n-->\n" + strings.Repeat("[a](", 8*n) }),
	"stars after other fences": text(func(n int) string { return "~~~\n```\n~~~\n" + strings.Repeat("*a_ ", 8*n) }),
}

func text(of func(n int) string) func(t *testing.T, n int) *transcript.Session {
	return func(t *testing.T, n int) *transcript.Session { return writeSession(t, user(of(n))) }
}

// TestGrowth exports sessions of one, two, four and eight times a size: output and allocations are
// linear in the size.
func TestGrowth(t *testing.T) {
	const size = 256
	for name, make := range hostile {
		for _, format := range export.Formats {
			t.Run(name+" "+string(format), func(t *testing.T) {
				var first, firstOut float64
				for _, times := range []int{1, 2, 4, 8} {
					s := make(t, size*times)
					var out bytes.Buffer
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					if err := export.Write(t.Context(), &out, s, format, nil); err != nil {
						t.Fatal(err)
					}
					runtime.ReadMemStats(&after)
					used, written := float64(after.TotalAlloc-before.TotalAlloc), float64(out.Len())
					if times == 1 {
						first, firstOut = used, written
					}
					// A constant part, and some slack for the logarithm.
					if limit := 1.5*float64(times)*first + 4<<20; used > limit {
						t.Errorf("%d times: %.0f bytes were allocated, at once %.0f", times, used, first)
					}
					if limit := 1.5*float64(times)*firstOut + 64<<10; written > limit {
						t.Errorf("%d times: %.0f bytes were written, at once %.0f", times, written, firstOut)
					}
				}
			})
		}
	}
}

// TestAgentsOnce finds every subagent once: in the call that started it or, if it is nested too
// deeply, at the end.
func TestAgentsOnce(t *testing.T) {
	for _, name := range []string{"agents of one call", "agents in agents", "calls"} {
		s := hostile[name](t, 40*8)
		for _, format := range export.Formats {
			got := exported(t, s, format, nil)
			for i := range 40 {
				if n := strings.Count(got, fmt.Sprintf("agent %d speaks", i)); n != 1 {
					t.Errorf("%s: agent %d is %d times in %s", name, i, n, format)
				}
			}
		}
	}
}

// TestOrdinaryProseIsRendered renders ordinary texts: the documents of this repository are not too complex.
func TestOrdinaryProseIsRendered(t *testing.T) {
	for _, file := range []string{"README.md", "DESIGN.md", "CHANGELOG.md", "INVARIANTS.md", "docs/guide/stores.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := exported(t, writeSession(t, user(string(text))), export.HTML, nil); !strings.Contains(got, "<h2>"+"") || !strings.Contains(got, "<p>") {
			t.Errorf("%s is not rendered: %.400s", file, got)
		}
	}
}

// stopping is a context that ends after a number of calls to Err.
type stopping struct {
	context.Context
	left *int
}

// Err returns nil for the first calls.
func (s stopping) Err() error {
	if *s.left--; *s.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancel cancels the context before and at many points during an export: no output follows, and
// the error is that of the context.
func TestCancel(t *testing.T) {
	s := everywhere(t, "text")
	for _, format := range export.Formats {
		all := 1 << 30
		if err := export.Write(stopping{t.Context(), &all}, &bytes.Buffer{}, s, format, nil); err != nil {
			t.Fatal(err)
		}
		asked := 1<<30 - all
		if asked < 10 {
			t.Errorf("%s: the context was asked %d times", format, asked)
		}
		for at := 0; at < asked; at += 1 + asked/50 {
			left := at
			err := export.Write(stopping{t.Context(), &left}, &bytes.Buffer{}, s, format, nil)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended at %d of %d: %v", format, at, asked, err)
			}
			if left < -30 {
				t.Errorf("%s: it went on for %d looks at a context that had ended", format, -left)
			}
		}
	}
}
