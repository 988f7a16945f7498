package editor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

var serverAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+\S*#token=\S+`)

// serveAgent starts a server with an agent and returns its address.
func serveAgent(t *testing.T, name, dir string, env []string) string {
	t.Helper()
	cmd := exec.Command(parley(t), "serve", "--no-host", "--agent", name, "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--dir", dir)
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if a := serverAddress.FindString(lines.Text()); a != "" {
				select {
				case found <- a:
				default:
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("reading the output of the server: %v", err)
		}
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-done
		_ = cmd.Wait() // it was ended by a signal
	})
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case a := <-found:
		return a
	case <-timer.C:
		t.Fatal("the server printed no address")
	}
	return ""
}

// TestServer connects an editor to a session of a server. Another viewer sees the same
// conversation, and the session still exists when the editor reconnects.
func TestServer(t *testing.T) {
	t.Parallel()
	begin(t)
	env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "PARLEY_SIM_PACE=0", "GORACE=atexit_sleep_ms=0"}
	dir := t.TempDir()
	address := serveAgent(t, "sim", dir, env)
	editor := &acpagent.Provider{Command: []string{parley(t), "acp", "--server", address}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*long)
	defer cancel()
	opts := agent.Options{Dir: dir, Env: env, Partial: true}
	s, err := editor.Open(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	if text := turn(t, ctx, s, "say hello"); text == "" {
		t.Error("the agent said nothing")
	}
	id := s.ID()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	viewer, err := client.New(client.Options{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	var seen api.GetHistoryResult
	if err := viewer.Call(ctx, "session.getHistory", api.SessionRef{SessionID: id}, &seen); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(seen.Conversation), "say hello") {
		t.Errorf("another viewer sees %.500s", seen.Conversation)
	}
	again, err := editor.Resume(ctx, id, opts)
	if err != nil {
		t.Fatal(err)
	}
	if text := turn(t, ctx, again, "say hello"); text == "" {
		t.Error("the agent said nothing after the editor came back")
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := editor.Resume(ctx, "00000000-0000-4000-8000-000000000000", opts); err == nil {
		t.Error("a session that does not exist was resumed")
	}
}

// turn sends a prompt and returns the agent's text.
func turn(t *testing.T, ctx context.Context, s agent.Session, prompt string) (text string) {
	t.Helper()
	if err := s.Send(ctx, agent.Input{UUID: "u-" + prompt, Text: prompt}); err != nil {
		t.Fatal(err)
	}
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *event.TextDelta:
			text += ev.Text
		case *event.ResultMessage:
			if ev.IsError {
				t.Errorf("the turn failed: %v", ev.Errors)
			}
			return text
		}
	}
	t.Fatal("the events ended before the turn")
	return ""
}

// TestServerModes connects editors to a session of a server with the real CLI. An editor that
// resumes or loads the session gets the settings that another editor has made, and a copy is a
// separate session.
func TestServerModes(t *testing.T) {
	t.Parallel()
	begin(t)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(claudetest.Say("Said by the model.").Times(20)))
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "claude") // the server searches PATH
	if err := os.Symlink(e2e.CLI(t), link); err != nil {
		t.Fatal(err)
	}
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for k, v := range opts.Env {
		if k == "PATH" {
			v = filepath.Dir(link) + string(os.PathListSeparator) + v
		}
		env = append(env, k+"="+v)
	}
	address := serveAgent(t, "claude", opts.Dir, env)
	connect := func() *testClient {
		c, err := client.New(client.Options{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		return connectTo(t, &serveragent.Provider{Client: c}, editor.Options{})
	}
	first := connect()
	first.open(opts.Dir)
	if got := first.prompt("Remember the word heron.")(); got != "end_turn" {
		t.Fatalf("the prompt ended with %s", got)
	}
	first.call("session/set_mode", map[string]any{"sessionId": first.id, "modeId": "plan"})
	again := func(method, id string) *testClient {
		e := connect()
		var a struct {
			SessionID string
			Modes     struct {
				CurrentModeID  string
				AvailableModes []struct{ ID string }
			}
		}
		if err := json.Unmarshal(e.call(method, map[string]any{"sessionId": id, "cwd": opts.Dir, "mcpServers": []any{}}), &a); err != nil {
			t.Fatal(err)
		}
		if a.Modes.CurrentModeID != "plan" || len(a.Modes.AvailableModes) < 3 {
			t.Errorf("%s: the modes are %+v", method, a.Modes)
		}
		if e.id = id; a.SessionID != "" {
			e.id = a.SessionID
		}
		return e
	}
	loaded := again("session/load", first.id)
	for _, text := range []string{"user_message_chunk", "heron", "Said by the model."} {
		loaded.awaitText(text)
	}
	if resumed := again("session/resume", first.id); strings.Contains(resumed.all(), "heron") {
		t.Errorf("session/resume replays: %s", resumed.all())
	}
	loaded.call("session/set_mode", map[string]any{"sessionId": loaded.id, "modeId": "default"})
	first.awaitText(`"currentModeId":"default"`) // the other editor is notified
	loaded.call("session/set_mode", map[string]any{"sessionId": loaded.id, "modeId": "plan"})
	copied := again("session/fork", first.id)
	if copied.id == first.id {
		t.Fatal("the copy has the id of the session")
	}
	if got := copied.prompt("Only in the copy.")(); got != "end_turn" {
		t.Errorf("the prompt in the copy ended with %s", got)
	}
	both := again("session/load", copied.id)
	both.awaitText("heron")
	both.awaitText("Only in the copy.")
	original := again("session/load", first.id)
	original.awaitText("Said by the model.")
	if strings.Contains(original.all(), "Only in the copy.") {
		t.Errorf("the session has what was said in the copy: %s", original.all())
	}
}
