package claude

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
)

// traceLog records the events of a Trace and checks their consistency.
type traceLog struct {
	t      *testing.T
	told   []string
	open   map[string]bool
	turn   bool
	output int64 // output tokens of the main conversation in the turn, -1 if unknown
	last   time.Time
}

func (l *traceLog) begin(what, id string) {
	key := what + " " + id
	if l.open[key] {
		l.t.Errorf("%s begins twice", key)
	}
	l.open[key] = true
	l.told = append(l.told, "+"+key)
}

func (l *traceLog) end(what, id string, p Period) {
	key := what + " " + id
	if !l.open[key] {
		l.t.Errorf("%s ends and has not begun", key)
	}
	delete(l.open, key)
	l.told = append(l.told, "-"+key)
	l.check(key, p)
}

func (l *traceLog) check(key string, p Period) {
	if p.Begin.IsZero() || p.End.Before(p.Begin) || p.End.After(l.last) {
		l.t.Errorf("%s: from %v to %v", key, p.Begin, p.End)
	}
}

func (l *traceLog) generation(g GenerationTrace) {
	key := "answer " + g.ID + " in " + g.ParentToolUseID
	if l.open["told "+key] && g.ID != "" {
		l.t.Errorf("%s is told twice", key)
	}
	l.open["told "+key] = true
	l.told = append(l.told, key)
	l.check(key, g.Period)
	switch {
	case g.ParentToolUseID != "" || g.Err != "":
	case g.Partial || g.Usage == nil || l.output < 0:
		l.output = -1
	default:
		l.output += g.Usage.OutputTokens
	}
}

func (l *traceLog) trace() *Trace {
	return &Trace{
		TurnBegin: func(e TurnBeginTrace) { l.begin("turn", ""); l.turn, l.output = true, 0 },
		TurnEnd: func(e TurnEndTrace) {
			for key := range l.open {
				if strings.HasPrefix(key, "tool  ") {
					l.t.Errorf("%s is open behind its turn", key)
				}
			}
			l.end("turn", "", e.Period)
			l.turn = false
			if m := e.Result; m != nil && m.Usage != nil && l.output >= 0 && !m.IsError && m.TerminalReason == message.TerminalCompleted && l.output != m.Usage.OutputTokens {
				l.t.Errorf("the answers have %d output tokens, the result %d", l.output, m.Usage.OutputTokens)
			}
		},
		FirstToken: func(FirstTokenTrace) {
			if !l.turn {
				l.t.Error("a token outside of a turn")
			}
		},
		Generation: l.generation,
		ToolBegin:  func(e ToolBeginTrace) { l.begin("tool", " "+e.ParentToolUseID+" "+e.ToolUseID) },
		ToolEnd:    func(e ToolEndTrace) { l.end("tool", " "+e.ParentToolUseID+" "+e.ToolUseID, e.Period) },
		TaskBegin:  func(e TaskBeginTrace) { l.begin("task", e.Task.TaskID) },
		TaskEnd:    func(e TaskEndTrace) { l.end("task", e.Task.TaskID, e.Period) },
	}
}

// play passes the lines of a CLI to a tracer like the reader, a millisecond apart.
func (l *traceLog) play(lines []string) {
	tr := newTracer(l.trace())
	l.last = time.Unix(1, 0)
	for _, line := range lines {
		l.last = l.last.Add(time.Millisecond)
		if m := message.DecodeLine(line); !strings.HasPrefix(message.Kind(m), "control_") && !tr.skips(line) {
			tr.stream.see(m, l.last)
		}
	}
	tr.stream.end(l.last, nil)
	for key := range l.open {
		if !strings.HasPrefix(key, "told ") {
			l.t.Errorf("%s never ends", key)
		}
	}
}

func recordedLines(t *testing.T, scenario string) (lines []string) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "wire", scenario, "stdout.jsonl"))
	if err != nil {
		t.Skip("the recording has no output")
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestTraceOfRecordings checks for every recording, complete and cut off anywhere, that
// each begin event has an end event inside of its parent, and that the tokens of the
// answers add up to those of the turn.
func TestTraceOfRecordings(t *testing.T) {
	dirs, err := os.ReadDir(filepath.Join("..", "testdata", "wire"))
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	for _, dir := range dirs {
		t.Run(dir.Name(), func(t *testing.T) {
			lines := recordedLines(t, dir.Name())
			for n := range lines {
				l := &traceLog{t: t, open: map[string]bool{}}
				l.play(lines[:n+1])
				if n == len(lines)-1 {
					turns += strings.Count(strings.Join(l.told, "\n"), "+turn")
				}
			}
		})
	}
	if turns < 100 {
		t.Errorf("only %d turns", turns)
	}
}

func TestTraceOfASubagent(t *testing.T) {
	l := &traceLog{t: t, open: map[string]bool{}}
	l.play(recordedLines(t, "agent-forward-text"))
	want := `+turn 
+tool   toolu_0001
+task TASK
answer msg_0001 in 
+tool  toolu_0001 toolu_0002
-tool  toolu_0001 toolu_0002
answer msg_0002 in toolu_0001
answer msg_0003 in toolu_0001
-task TASK
-tool   toolu_0001
answer msg_0004 in 
-turn `
	got := strings.ReplaceAll(strings.Join(l.told, "\n"), "a2a3c46f3f5d9b926", "TASK")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEmptyTraceAllocatesNothing(t *testing.T) {
	var lines []entry
	for _, scenario := range []string{"partial-tool", "agent-forward-text"} {
		for _, text := range recordedLines(t, scenario) {
			lines = append(lines, entry{text: text})
		}
	}
	req := control.Request{ID: "1", Subtype: "can_use_tool", Body: `{"tool_name":"Bash"}`}
	ctx := context.Background()
	for name, trace := range map[string]*Trace{"nil": nil, "empty": {}, "others": {Exit: func(ExitTrace) {}, Buffered: func(BufferedTrace) {}}} {
		tr := newTracer(trace)
		allocs := testing.AllocsPerRun(100, func() {
			for _, e := range lines {
				tr.line(e)
			}
			tr.prompt(ctx, promptLine{})
			tr.control("interrupt")(nil)
			tr.callback(req)(nil, nil)
			tr.stall(nil)
			tr.handshake(nil, nil)
			tr.firstMessage(entry{})
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// TestTraceSkipsPieces: only the first piece of an answer is decoded.
func TestTraceSkipsPieces(t *testing.T) {
	tr := newTracer(&Trace{Generation: func(GenerationTrace) {}})
	seen := map[string]int{}
	for _, line := range recordedLines(t, "partial-tool") {
		if m, ok := message.DecodeLine(line).(*message.StreamEvent); ok && !tr.skips(line) {
			seen[fmt.Sprintf("%T", m.Event)]++
		}
	}
	if seen["*message.ContentBlockDelta"] != 2 || seen["*message.ContentBlockStart"] != 0 || seen["*message.MessageStop"] != 2 {
		t.Errorf("seen is %v; want seen[\"*message.ContentBlockDelta\"] == 2 and seen[\"*message.ContentBlockStart\"] == 0 and seen[\"*message.MessageStop\"] == 2", seen)
	}
}

func BenchmarkTraceLine(b *testing.B) {
	e := entry{text: `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word"}},"session_id":"x"}`}
	for name, trace := range map[string]*Trace{"nil": nil, "followed": {Generation: func(GenerationTrace) {}}} {
		b.Run(name, func(b *testing.B) {
			tr := newTracer(trace)
			b.ReportAllocs()
			for b.Loop() {
				tr.line(e)
			}
			tr.close()
		})
	}
}
