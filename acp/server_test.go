package acp_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/acpagent"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/rpc"
	"github.com/seed7221b0f9/parley/ui"
)

var serverAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+\S*#token=\S+`)

// serveSim starts a server with the simulated agent and returns its address.
func serveSim(t *testing.T, dir string, env []string) string {
	t.Helper()
	cmd := exec.Command(parley(t), "serve", "--agent", "sim", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--dir", dir)
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
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if a := serverAddress.FindString(lines.Text()); a != "" {
				select {
				case found <- a:
				default:
				}
			}
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

// TestServer lets an editor use a session of a server. Another viewer sees the same, and the
// session is there when the editor comes back.
func TestServer(t *testing.T) {
	env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "PARLEY_SIM_PACE=0", "GORACE=atexit_sleep_ms=0"}
	dir := t.TempDir()
	address := serveSim(t, dir, env)
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
	var seen rpc.GetHistoryResult
	if err := viewer.Call(ctx, "session.getHistory", rpc.SessionRef{SessionID: id}, &seen); err != nil {
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

// turn sends a prompt and returns what the agent said.
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
		case *ui.TextDelta:
			text += ev.Text
		case *ui.ResultMessage:
			if ev.IsError {
				t.Errorf("the turn failed: %v", ev.Errors)
			}
			return text
		}
	}
	t.Fatal("the events ended before the turn")
	return ""
}
