package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// growing is a session file under construction.
type growing struct {
	t     *testing.T
	lines []string
	last  string
}

// id returns a uuid for a name.
func (g *growing) id(name string) string { return "u-" + name }

// add adds a line of the tree; it is a root if parent is "".
func (g *growing) add(kind, name, parent string, members map[string]any) {
	g.t.Helper()
	m := map[string]any{
		"type": kind, "uuid": g.id(name), "parentUuid": nil, "sessionId": growthID, "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/p",
		"isSidechain": false,
	}
	if parent != "" {
		m["parentUuid"] = g.id(parent)
	}
	for k, v := range members {
		m[k] = v
	}
	text, err := json.Marshal(m)
	if err != nil {
		g.t.Fatal(err)
	}
	g.lines = append(g.lines, string(text))
	g.last = name
}

func (g *growing) user(name, parent string, content any) {
	g.t.Helper()
	g.add("user", name, parent, map[string]any{"message": map[string]any{"role": "user", "content": content}})
}

func (g *growing) answer(name, parent, message string, blocks ...any) {
	g.t.Helper()
	g.add("assistant", name, parent, map[string]any{"message": map[string]any{"role": "assistant", "id": message, "content": blocks}})
}

func use(id string) map[string]any {
	return map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "ls"}}
}

func result(id string) map[string]any {
	return map[string]any{"type": "tool_result", "tool_use_id": id, "content": "needle"}
}

// agentLine is the only line of a subagent.
const agentLine = `{"type":"user","uuid":"u-agent","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"needle"}}`

const growthID = "00000000-0000-4000-8000-00000000aaaa"

// shapes are sessions of size n, each with many of one thing that a file can contain.
var shapes = map[string]func(g *growing, n int){
	"talk": func(g *growing, n int) {
		parent := ""
		for i := range n {
			g.user(fmt.Sprint("q", i), parent, "needle")
			g.answer(fmt.Sprint("a", i), fmt.Sprint("q", i), fmt.Sprint("m", i), map[string]any{"type": "text", "text": "answer"})
			parent = fmt.Sprint("a", i)
		}
	},
	"repeated entries": func(g *growing, n int) {
		g.user("q", "", "needle")
		for range n {
			g.lines = append(g.lines, g.lines[0])
		}
	},
	"one uuid": func(g *growing, n int) {
		for i := range n {
			g.user("q", fmt.Sprint("p", i), fmt.Sprint("needle ", i))
			g.user(fmt.Sprint("c", i), "q", "child")
		}
	},
	"missing parents": func(g *growing, n int) {
		for i := range n {
			g.user(fmt.Sprint("q", i), fmt.Sprint("gone", i), "needle")
		}
	},
	"missing parents of results": func(g *growing, n int) {
		for i := range n {
			g.answer(fmt.Sprint("a", i), "", "m", use(fmt.Sprint("t", i)))
		}
		for i := range n {
			g.user(fmt.Sprint("r", i), fmt.Sprint("gone", i), []any{result(fmt.Sprint("t", n-1-i))})
		}
	},
	"parents behind their children": func(g *growing, n int) {
		for i := range n {
			g.user(fmt.Sprint("d", i), fmt.Sprint("p", i), "needle")
		}
		for i := range n {
			g.user(fmt.Sprint("p", i), fmt.Sprint("gone", i), "needle")
		}
	},
	"circles": func(g *growing, n int) {
		for i := range n {
			g.user(fmt.Sprint("x", i), fmt.Sprint("y", i), "needle")
			g.user(fmt.Sprint("y", i), fmt.Sprint("x", i), "needle")
		}
	},
	"one circle": func(g *growing, n int) {
		for i := range n {
			g.user(fmt.Sprint("x", i), fmt.Sprint("x", (i+1)%n), "needle")
		}
	},
	"calls without results in one line": func(g *growing, n int) {
		var blocks []any
		for i := range n {
			blocks = append(blocks, use(fmt.Sprint("t", i)))
		}
		g.user("q", "", "needle")
		g.answer("a", "q", "m", blocks...)
		g.user("end", "a", "go on")
	},
	"calls without results": func(g *growing, n int) {
		g.user("q", "", "needle")
		parent := "q"
		for i := range n {
			g.answer(fmt.Sprint("a", i), parent, fmt.Sprint("m", i), use(fmt.Sprint("t", i)))
			parent = fmt.Sprint("a", i)
		}
	},
	"results without calls in one line": func(g *growing, n int) {
		var blocks []any
		for i := range n {
			blocks = append(blocks, result(fmt.Sprint("t", i)))
		}
		g.user("q", "", "needle")
		g.user("r", "q", blocks)
	},
	"results of many answers in one line": func(g *growing, n int) {
		g.user("q", "", "needle")
		var blocks []any
		parent := "q"
		for i := range n {
			g.answer(fmt.Sprint("a", i), parent, fmt.Sprint("m", i), use(fmt.Sprint("t", i)))
			g.user(fmt.Sprint("r", i), fmt.Sprint("a", i), []any{result(fmt.Sprint("t", i))})
			parent = fmt.Sprint("r", i)
			blocks = append(blocks, result(fmt.Sprint("t", i)))
		}
		g.user("all", "q", blocks)
		g.user("end", parent, "go on")
	},
	"results of one call": func(g *growing, n int) {
		g.user("q", "", "needle")
		g.answer("a", "q", "m", use("t"))
		for i := range n {
			g.user(fmt.Sprint("r", i), "a", []any{result("t")})
		}
		g.user("end", "a", "go on")
	},
	"emptied thinking that was preserved": func(g *growing, n int) {
		g.user("q", "", "needle")
		parent := "q"
		var ids []string
		for i := range n {
			g.answer(fmt.Sprint("a", i), parent, fmt.Sprint("m", i), map[string]any{"type": "thinking", "thinking": "", "signature": "s"})
			parent = fmt.Sprint("a", i)
			ids = append(ids, g.id(parent))
		}
		g.add("system", "b", "", map[string]any{"subtype": "compact_boundary", "content": "", "logicalParentUuid": g.id(parent),
			"compactMetadata": map[string]any{"preservedMessages": map[string]any{"anchorUuid": g.id("s"), "uuids": ids}}})
		g.user("s", "b", "summary")
	},
	"compactions": func(g *growing, n int) {
		g.user("q", "", "needle")
		for i := range n {
			anchor := fmt.Sprint("s", i)
			g.add("system", fmt.Sprint("b", i), "", map[string]any{"subtype": "compact_boundary", "content": "",
				"compactMetadata": map[string]any{"preservedMessages": map[string]any{"anchorUuid": g.id(anchor), "uuids": []string{g.id("q")}}}})
			g.user(anchor, fmt.Sprint("b", i), "summary")
			g.user(fmt.Sprint("c", i), anchor, "child")
		}
	},
	"segments": func(g *growing, n int) {
		for i := range n {
			g.user(fmt.Sprint("c", i), "s0", "child")
		}
		for i := range n {
			g.add("system", fmt.Sprint("b", i), "", map[string]any{"subtype": "compact_boundary", "content": "",
				"compactMetadata": map[string]any{"preservedSegment": map[string]any{"anchorUuid": g.id(fmt.Sprint("s", i)), "headUuid": "none", "tailUuid": g.id(fmt.Sprint("s", i+1))}}})
			g.user(fmt.Sprint("s", i), fmt.Sprint("b", i), "needle")
		}
	},
	"branches": func(g *growing, n int) {
		g.user("q", "", "needle")
		g.answer("a", "q", "m", map[string]any{"type": "text", "text": "answer"})
		for i := range n {
			g.user(fmt.Sprint("x", i), "q", "rewound")
		}
		g.user("end", "a", "go on")
	},
	"attachments beside the talk": func(g *growing, n int) {
		parent := ""
		for i := range n {
			g.user(fmt.Sprint("q", i), parent, "needle")
			parent = fmt.Sprint("q", i)
		}
		for i := range n {
			g.add("attachment", fmt.Sprint("x", i), fmt.Sprint("q", i), map[string]any{"attachment": map[string]any{"type": "date"}})
		}
		g.user("end", parent, "go on")
	},
	"progress": func(g *growing, n int) {
		g.user("q", "", "needle")
		parent := "q"
		for i := range n {
			g.add("progress", fmt.Sprint("p", i), parent, nil)
			parent = fmt.Sprint("p", i)
		}
		for i := range n {
			g.user(fmt.Sprint("c", i), parent, "child")
		}
	},
	"sidechains": func(g *growing, n int) {
		parent := ""
		for i := range n {
			g.add("attachment", fmt.Sprint("p", i), parent, map[string]any{"isSidechain": true, "attachment": map[string]any{"type": "date"}})
			parent = fmt.Sprint("p", i)
		}
		for i := range n {
			g.add("attachment", fmt.Sprint("c", i), parent, map[string]any{"isSidechain": true, "attachment": map[string]any{"type": "date"}})
		}
		g.add("user", "q", "", map[string]any{"isSidechain": true, "message": map[string]any{"role": "user", "content": "needle"}})
	},
	"caveats": func(g *growing, n int) {
		parent := ""
		for i := range n {
			g.add("user", fmt.Sprint("q", i), parent, map[string]any{"isMeta": true, "message": map[string]any{"role": "user", "content": "<local-command-caveat>needle"}})
			parent = fmt.Sprint("q", i)
		}
		g.user("end", parent, "go on")
	},
	"queued prompts": func(g *growing, n int) {
		g.user("q", "", "needle")
		parent := "q"
		for i := range n {
			g.add("attachment", fmt.Sprint("p", i), parent, map[string]any{"attachment": map[string]any{"type": "queued_command", "prompt": "needle", "delivery_id": "d"}})
			parent = fmt.Sprint("p", i)
		}
	},
	"forked from many": func(g *growing, n int) {
		for i := range n {
			g.add("user", fmt.Sprint("q", i), "", map[string]any{"forkedFrom": map[string]any{"sessionId": fmt.Sprint("s", i), "messageUuid": "x"},
				"message": map[string]any{"role": "user", "content": "needle"}})
		}
	},
	"broken lines": func(g *growing, n int) {
		g.user("q", "", "needle")
		for range n {
			g.lines = append(g.lines, `{"parentUuid":"u-q","type":"user`)
		}
		g.user("end", "q", "go on")
	},
	"glued in a broken line": func(g *growing, n int) {
		g.user("q", "", "needle")
		g.lines = append(g.lines, strings.Repeat(`{"k": {"type":"","k": `, n))
		g.user("end", "q", "go on")
	},
	"nested": func(g *growing, n int) {
		g.user("q", "", "needle")
		g.lines = append(g.lines, `{"type":"user","message":`+strings.Repeat("[", 20*n)+strings.Repeat("]", 20*n)+`}`)
		g.user("end", "q", "go on")
	},
	"long line": func(g *growing, n int) { g.user("q", "", strings.Repeat("needle ", 40*n)) },
	"oversized and nested": func(g *growing, n int) {
		g.user("q", "", "needle")
		g.add("user", "x", "q", map[string]any{"toolUseResult": json.RawMessage(strings.Repeat("[", n/2) + `"` + strings.Repeat("x", 5000*n) + `"` + strings.Repeat("]", n/2)),
			"message": map[string]any{"role": "user", "content": "x"}})
	},
}

// writeShape writes a session of a shape, with a tenth as many subagents, into a separate
// directory.
func writeShape(t *testing.T, shape string, n int) *Session {
	t.Helper()
	g := &growing{t: t}
	shapes[shape](g, n)
	d := Open(t.TempDir())
	dir := filepath.Join(d.projects(), "-p")
	path := filepath.Join(dir, growthID+".jsonl")
	agents := filepath.Join(dir, growthID, "subagents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(g.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range n / 20 {
		name := filepath.Join(agents, fmt.Sprint("agent-", i))
		meta := fmt.Sprintf(`{"toolUseId":"t%d","parentAgentId":"%d"}`, i, (i+1)%(n/20))
		if err := os.WriteFile(name+".meta.json", []byte(meta), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+".jsonl", []byte(agentLine+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d.sessionAt(path)
}

// readers are the functions that read a file. last is the uuid of the last entry.
var readers = map[string]func(ctx context.Context, s *Session) error{
	"list": func(ctx context.Context, s *Session) error {
		for _, err := range s.dir.Sessions(ctx, Filter{}) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"entries": func(ctx context.Context, s *Session) error {
		for _, err := range s.Entries(ctx) {
			if bad := (*LineError)(nil); err != nil && !errors.As(err, &bad) {
				return err
			}
		}
		return nil
	},
	"conversation": func(ctx context.Context, s *Session) error {
		_, err := s.Conversation(ctx, &ConversationOptions{System: true})
		return err
	},
	"subagents": func(ctx context.Context, s *Session) error {
		list, err := s.subagents(newWork(ctx))
		for _, a := range list {
			if _, err := a.Conversation(ctx); err != nil {
				return err
			}
		}
		return err
	},
	"tree": func(ctx context.Context, s *Session) error { _, err := s.Tree(ctx); return err },
	"page": func(ctx context.Context, s *Session) error { _, err := s.Page(ctx, PageQuery{}); return err },
	"page from the start": func(ctx context.Context, s *Session) error {
		_, err := s.Page(ctx, PageQuery{From: PageStart, Limit: 1 << 30})
		return err
	},
	"search": func(ctx context.Context, s *Session) error {
		for _, err := range s.dir.Search(ctx, Query{Text: "Needle", Tool: "Bash"}) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"doctor": func(ctx context.Context, s *Session) error { _, err := s.Examine(ctx, nil); return err },
	"repair": func(ctx context.Context, s *Session) error {
		_, err := s.Repair(ctx, &RepairOptions{DryRun: true, ExamineOptions: ExamineOptions{MaxLine: 400_000}})
		return err
	},
	"fork": func(ctx context.Context, s *Session) error {
		_, err := s.dir.Fork(ctx, s.ID, nil)
		if err != nil && strings.Contains(err.Error(), "no messages to fork") {
			return nil // sidechains are not forked
		}
		return err
	},
	"fork up to": func(ctx context.Context, s *Session) error {
		_, err := s.dir.Fork(ctx, s.ID, &ForkOptions{UpTo: lastUUID(s)})
		if err != nil && (errors.Is(err, ErrNoMessage) || strings.Contains(err.Error(), "no messages to fork")) {
			return nil
		}
		return err
	},
}

// lastUUID returns the uuid of the last entry of a file.
func lastUUID(s *Session) (uuid string) {
	for e := range s.Entries(context.Background()) {
		if l := linkOrNil(e); l != nil {
			uuid = l.UUID
		}
	}
	return uuid
}

// TestGrowth runs every reader over every shape at one, two, four and eight times a size: steps and
// allocated bytes are linear in the size.
func TestGrowth(t *testing.T) {
	if raceDetector {
		t.Skip("it counts steps; make test runs it without the race detector")
	}
	const size = 40
	for shape := range shapes {
		t.Run(shape, func(t *testing.T) {
			var sessions []*Session
			for _, times := range []int{1, 2, 4, 8} {
				sessions = append(sessions, writeShape(t, shape, size*times))
			}
			for name, read := range readers {
				slack := 1.4 // slack for the logarithm
				if name == "page" {
					slack = 3.5 // a small file is read at once, a larger one in windows, each twice as long
				}
				var steps, bytes [4]float64
				for i, s := range sessions {
					steps[i], bytes[i] = measure(t, name, s, read)
				}
				for i, times := range []float64{1, 2, 4, 8} {
					if limit := slack*times*steps[0] + 400; steps[i] > limit {
						t.Errorf("%s takes %v steps at 1, 2, 4 and 8 times the size", name, steps)
						break
					}
					if limit := 1.2*slack*times*bytes[0] + 4<<20; bytes[i] > limit {
						t.Errorf("%s allocates %v bytes at 1, 2, 4 and 8 times the size", name, bytes)
						break
					}
				}
			}
		})
	}
}

func measure(t *testing.T, name string, s *Session, read func(context.Context, *Session) error) (steps, bytes float64) {
	t.Helper()
	var count int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := read(context.WithValue(t.Context(), stepCounter{}, &count), s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	runtime.ReadMemStats(&after)
	return float64(count), float64(after.TotalAlloc - before.TotalAlloc)
}

// stopping is a context that ends after a number of calls to Err, and then counts further calls.
type stopping struct {
	context.Context
	left  *int64
	ended chan struct{}
}

func stopAfter(ctx context.Context, n int64) stopping {
	return stopping{ctx, &n, make(chan struct{})}
}

// Done returns a channel that is closed when the context ends.
func (s stopping) Done() <-chan struct{} { return s.ended }

// Err returns nil for the first calls.
func (s stopping) Err() error {
	*s.left--
	if *s.left == -1 {
		close(s.ended)
	}
	if *s.left < 0 {
		return context.Canceled
	}
	return nil
}
