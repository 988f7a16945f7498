package acpagent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// asking runs an agent that sends requests to the client during a turn, and returns the answers as
// JSON.
func asking(t *testing.T, dir string, requests ...any) (answers []string) {
	t.Helper()
	var steps []acptest.Step
	for i := 0; i < len(requests); i += 2 {
		steps = append(steps, acptest.Call(i, requests[i].(string), requests[i+1]), acptest.Answered(i))
	}
	a := &acptest.Agent{Exchanges: []acptest.Exchange{
		hello(""), acptest.On("session/new", acptest.Reply(map[string]string{"sessionId": "s"})),
		acptest.On("session/prompt", append(steps, acptest.Reply(map[string]string{"stopReason": "end_turn"}))...),
	}}
	s, err := scripted(a).Open(t.Context(), agent.Options{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(t.Context(), agent.Input{UUID: "u", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if !events(t, s, func(ev event.Event) bool { _, ok := ev.(*event.ResultMessage); return ok }) {
		t.Fatal("the turn does not end")
	}
	for _, m := range a.Received() {
		if m.Method == "" {
			answers = append(answers, string(m.Result)+string(m.Error))
		}
	}
	return answers
}

// An agent can read and write files in the session's directory only. A link to the outside is refused.
func TestFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("1\n2\n3\n4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	read := func(path string) (string, any) {
		return "fs/read_text_file", map[string]any{"sessionId": "s", "path": path}
	}
	m1, p1 := read(filepath.Join(dir, "none"))
	m2, p2 := read(filepath.Join(dir, "link"))
	m3, p3 := read(secret)
	m4, p4 := read("a.txt")
	got := asking(t, dir,
		"fs/read_text_file", map[string]any{"sessionId": "s", "path": filepath.Join(dir, "a.txt"), "line": 2, "limit": 2},
		"fs/write_text_file", map[string]any{"sessionId": "s", "path": filepath.Join(dir, "new", "b.txt"), "content": "x"},
		"fs/write_text_file", map[string]any{"sessionId": "s", "path": filepath.Join(dir, "a.txt"), "content": "y"},
		m1, p1, m2, p2, m3, p3, m4, p4,
		"fs/write_text_file", map[string]any{"sessionId": "s", "path": filepath.Join(dir, "link"), "content": "broken"},
	)
	want := []string{`{"content":"2\n3\n"}`, `{}`, `{}`, "-32002", "escapes", "outside", "not absolute", "escapes"}
	if len(got) != len(want) {
		t.Fatalf("%d answers: %q", len(got), got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("answer %d is %s, want %s", i, got[i], want[i])
		}
	}
	for path, want := range map[string]string{secret: "secret", filepath.Join(dir, "new", "b.txt"): "x", filepath.Join(dir, "a.txt"): "y"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s has %q %v, want %q", path, text, err, want)
		}
	}
}

// An agent runs commands and reads the end of their output and their status. Commands that are
// still running end with the session.
func TestTerminals(t *testing.T) {
	dir := t.TempDir()
	about := func(id string) any { return map[string]any{"sessionId": "s", "terminalId": id} }
	got := asking(t, dir,
		"terminal/create", map[string]any{"sessionId": "s", "command": "sh", "args": []string{"-c", "echo out; echo $MORE >&2; exit 3"}, "env": []any{map[string]string{"name": "MORE", "value": "err"}}},
		"terminal/wait_for_exit", about("terminal-1"), "terminal/output", about("terminal-1"), "terminal/release", about("terminal-1"), "terminal/output", about("terminal-1"),
		"terminal/create", map[string]any{"sessionId": "s", "command": "echo 0123456789", "outputByteLimit": 5},
		"terminal/wait_for_exit", about("terminal-2"), "terminal/output", about("terminal-2"),
		"terminal/create", map[string]any{"sessionId": "s", "command": "sleep", "args": []string{"1000"}},
		"terminal/output", about("terminal-3"), "terminal/kill", about("terminal-3"), "terminal/wait_for_exit", about("terminal-3"),
		"terminal/create", map[string]any{"sessionId": "s", "command": "sleep", "args": []string{"1000"}},
		"terminal/create", map[string]any{"sessionId": "s", "command": "true", "cwd": filepath.Dir(dir)},
	)
	want := []string{
		`terminal-1`, `"exitCode":3`, `out`, `{}`, "-32002", `terminal-2`, `"exitCode":0`, `"output":"6789\n","truncated":true`,
		`terminal-3`, `"output":"","truncated":false}`, `{}`, `"signal"`, `terminal-4`, "outside",
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers: %q", len(got), got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("answer %d is %s, want %s", i, got[i], want[i])
		}
	}
	var output struct{ Output string }
	if err := json.Unmarshal([]byte(got[2]), &output); err != nil || !strings.Contains(output.Output, "err") {
		t.Errorf("standard error is missing: %s", got[2])
	}
}
