package chat

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

var update = flag.Bool("update", false, "write the golden files")

// recorded returns the messages of a recording that the SDK delivers.
func recorded(t *testing.T, name string) []message.Message {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "wire", name, "stdout.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var messages []message.Message
	for text := range strings.Lines(string(data)) {
		if m := decode(t, strings.TrimSuffix(text, "\n")); delivered(m) {
			messages = append(messages, m)
		}
	}
	return messages
}

func decode(t *testing.T, text string) message.Message {
	t.Helper()
	m, err := message.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func delivered(m message.Message) bool {
	switch m := m.(type) {
	case *message.ControlRequest, *message.ControlResponse, *message.ControlCancelRequest, *message.KeepAlive:
		return false
	case *message.SessionStateChanged:
		return !m.SDKHostOnly
	}
	return true
}

// screen is a printer on a terminal, or with separate outputs.
type screen struct {
	*printer
	out, err bytes.Buffer
}

// newScreen uses a clock that advances by a tenth of a second on each call.
func newScreen(terminal bool) *screen {
	s := &screen{}
	con := &term.Console{Out: term.PenTo(&s.out, terminal), Err: term.PenTo(&s.err, terminal)}
	if terminal {
		con.Out.Width = 72
		*con.Err = *con.Out
	}
	now := time.Unix(0, 0)
	s.printer = newPrinter(con, func() time.Time {
		now = now.Add(100 * time.Millisecond)
		return now
	})
	s.stream, s.thinking = terminal, terminal
	return s
}

func (s *screen) play(messages []message.Message) {
	var conv claudeevent.Converter
	for _, m := range messages {
		for _, ev := range conv.Add(m) {
			s.event(ev)
		}
	}
	s.end()
}

func TestPrinterGolden(t *testing.T) {
	for _, name := range []string{
		"partial-tool", "partial-thinking", "parallel-tools", "tool-error", "api-429-then-ok", "api-400", "api-sse-error",
		"api-truncated", "agent-forward-text", "agent-background-stream", "interrupt-stream", "interrupt-tool",
		"unknown-content-block", "no-callback-denied", "slash-local-command", "invalid-tool-input", "max-turns",
		"stop-reason-max-tokens", "resume-missing",
	} {
		t.Run(name, func(t *testing.T) {
			terminal, apart := newScreen(true), newScreen(false)
			terminal.play(recorded(t, name))
			apart.play(recorded(t, name))
			checkGolden(t, name, &txtar.Archive{Files: []txtar.File{
				{Name: "terminal", Data: terminal.out.Bytes()},
				{Name: "stdout", Data: apart.out.Bytes()},
				{Name: "stderr", Data: apart.err.Bytes()},
			}})
		})
	}
}

func checkGolden(t *testing.T, name string, got *txtar.Archive) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txtar")
	text := txtar.Format(got)
	if *update {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

const (
	sayHello = `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hello"}]}}`
	goodEnd  = `{"type":"result","subtype":"success","is_error":false,"result":"hello","num_turns":1,"duration_ms":90000,"total_cost_usd":1.5,` +
		`"modelUsage":{"b":{"inputTokens":1500000,"outputTokens":5},"a":{"inputTokens":1,"outputTokens":12345,"cacheReadInputTokens":7}}}`
	start      = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}}}`
	begin      = `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`
	delta      = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}}`
	totalsLine = "1 turn · 1m30s · 1.5M in, 12.3k out, 7 cache read, 0 cache write · $1.5000 · a · b\n"
)

func TestPrinter(t *testing.T) {
	tests := []struct {
		title  string
		set    func(*printer)
		lines  []string
		stdout string
		stderr string
	}{
		{"usage", nil, []string{sayHello, goodEnd}, "hello\n", totalsLine},
		{"quiet", func(p *printer) { p.quiet = true }, []string{sayHello, goodEnd}, "hello\n", ""},
		{"deltas, then the rest", func(p *printer) { p.stream = true }, []string{start, begin, delta, sayHello, goodEnd}, "hello\n", totalsLine},
		{"deltas left out", nil, []string{start, begin, delta, sayHello, goodEnd}, "hello\n", totalsLine},
		{"the result alone", nil, []string{goodEnd}, "hello\n", totalsLine},
		{"an answer again", nil, []string{sayHello, sayHello, goodEnd}, "hello\n\nhello\n", totalsLine},
		{"error once", func(p *printer) { p.quiet = true }, []string{
			`{"type":"assistant","error":"rate_limit","message":{"id":"m","content":[{"type":"text","text":"Limit"}]}}`,
			`{"type":"result","subtype":"success","is_error":true,"result":"Limit"}`,
		}, "", "error: Limit\n"},
		{"error without text", func(p *printer) { p.quiet = true }, []string{`{"type":"result","subtype":"error_x","is_error":true}`}, "", "error: error_x\n"},
		{"unknown once", nil, []string{`{"type":"new_thing"}`, `{"type":"new_thing"}`, `{"type":"system","subtype":"newer"}`}, "",
			"! unknown message new_thing\n! unknown message system/newer\n"},
		{"no outcome", nil, []string{`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"a\n\u001b[2J b"}}]}}`},
			"", "● Bash  a [2J b  – no outcome\n"},
		{"structured", func(p *printer) { p.structured = true }, []string{sayHello,
			`{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":0,"structured_output":{"n":1}}`}, "{\"n\":1}\n",
			"hello\n\n0 turns · 0.0s · 0 in, 0 out, 0 cache read, 0 cache write · $0.0000\n"},
		{"control characters through a pipe", func(p *printer) { p.quiet = true }, []string{strings.Replace(sayHello, "hello", `a\u001b[0m`, 1)}, "a\x1b[0m\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			s := newScreen(false)
			if tt.set != nil {
				tt.set(s.printer)
			}
			var messages []message.Message
			for _, text := range tt.lines {
				messages = append(messages, decode(t, text))
			}
			s.play(messages)
			if diff := cmp.Diff(tt.stdout, s.out.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stderr, s.err.String()); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrinterBadLine(t *testing.T) {
	s := newScreen(false)
	s.play([]message.Message{&message.BadLine{Size: 3, Err: errors.New("it is not JSON")}})
	if got := s.err.String(); got != "error: it is not JSON\n" {
		t.Errorf("got %q", got)
	}
}

// No control character of the model or the tools reaches a terminal.
func TestTerminalSafe(t *testing.T) {
	const evil = `\u001b]0;x\u0007\u009b31m\u0000\u007f\r`
	s := newScreen(true)
	s.play([]message.Message{
		decode(t, strings.Replace(sayHello, "hello", evil, 1)),
		decode(t, `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"`+evil+`"},{"type":"tool_use","id":"t","name":"`+evil+`","input":{"command":"`+evil+`"}}]}}`),
		decode(t, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"`+evil+`"}]}}`),
		decode(t, `{"type":"`+evil+`"}`),
		decode(t, `{"type":"system","subtype":"informational","content":"`+evil+`"}`),
		decode(t, `{"type":"result","is_error":true,"subtype":"x","errors":["`+evil+`"],"modelUsage":{"`+evil+`":{}}}`),
	})
	if got := s.out.String(); strings.ContainsFunc(got, cell.Unsafe) {
		t.Errorf("control characters in %q", got)
	}
}

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":    "plain\n\ttext",
		"a\x1b[31mb":       "a[31mb",
		"a\r\nb\x07\u009b": "a\nb",
		"caf\xe9 日本":       "caf\uFFFD 日本",
	} {
		if got := term.Sanitize(in); got != want {
			t.Errorf("sanitize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	tests := []struct {
		in      string
		columns int
		want    string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"abc", 0, "abc"},
	}
	for _, tt := range tests {
		if got := term.Shorten(tt.in, tt.columns); got != tt.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.want)
		}
	}
}

func TestWantColor(t *testing.T) {
	env := func(k, v string) func(string) string {
		return func(name string) string {
			if name == k {
				return v
			}
			return ""
		}
	}
	if !term.WantColor(false, env("TERM", "xterm")) {
		t.Error("no colours on a terminal")
	}
	if term.WantColor(true, env("", "")) || term.WantColor(false, env("NO_COLOR", "1")) || term.WantColor(false, env("TERM", "dumb")) {
		t.Error("colours where none are wanted")
	}
}
