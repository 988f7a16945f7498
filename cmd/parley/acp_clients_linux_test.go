package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

// clientScene is the output of a client in a scene.
type clientScene struct {
	Session, Outcome, Text string
	Tools, Results         []string
}

// acpxRefused is the exit code of acpx after a permission that it refused.
const acpxRefused = 5

// TestACP_otherClients runs the Python and Go clients of the protocol and acpx against parley acp and a server: a text,
// tools, a permission granted and refused, a cancellation, and an agent killed in the middle of a turn. The text that a
// client shows must equal the server's.
func TestACP_otherClients(t *testing.T) {
	if os.Getenv("PARLEY_AGENTS") != "all" {
		t.Skip("the clients are 80 MB and not installed for make test: make soak PART=agents runs this test")
	}
	installed := filepath.Dir(e2e.Peer(t, "editors"))
	t.Setenv("PARLEY_SIM_PACE", "1")
	dir := t.TempDir()
	c, _ := serveForTest(t, serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim"))
	var token api.TokensCreateResult
	if err := c.Call(t.Context(), "tokens.create", api.TokensCreateParams{Role: "operator"}, &token); err != nil {
		t.Fatal(err)
	}
	agent := []string{linkedProgram(t), "acp", "--server", c.URL() + "/#token=" + token.Token}
	run := func(t *testing.T, line ...string) []byte {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, dir
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if refused := slices.Contains(line, "--deny-all") && cmd.ProcessState.ExitCode() == acpxRefused; err != nil && !refused {
			t.Fatalf("%q: %v: %s%s", line, err, errs.Bytes(), out)
		}
		return out
	}
	for name, program := range map[string][]string{
		"go":     {filepath.Join(installed, "goclient")},
		"python": {filepath.Join(installed, "venv", "bin", "python"), filepath.Join(checkout.Root(), "bench", "editors", "client.py")},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]clientScene
			if err := json.Unmarshal(run(t, slices.Concat(program, []string{dir}, agent)...), &got); err != nil {
				t.Fatal(err)
			}
			checkScenes(t, c, got)
		})
	}
	t.Run("acpx", func(t *testing.T) {
		for _, tt := range []struct {
			flag, prompt string
			want         []string
		}{
			{"--approve-all", "say hello", []string{"Hello! I cannot answer questions", "end_turn"}},
			{"--approve-all", "tools", []string{"hello.txt", "completed", "end_turn"}},
			{"--approve-all", "bash", []string{"ls -1", "completed", "That was one command.", "end_turn"}},
			{"--deny-all", "bash", []string{"ls -1", "failed", "That was one command.", "end_turn"}},
		} {
			out := run(t, "node", filepath.Join(installed, "node_modules", "acpx", "dist", "cli.js"), "--agent", strings.Join(agent, " "), "--cwd", dir, tt.flag, "exec", tt.prompt)
			for _, want := range tt.want {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("%s %q shows no %q:\n%s", tt.flag, tt.prompt, want, out)
				}
			}
		}
		acpxCancels(t, dir, "node", filepath.Join(installed, "node_modules", "acpx", "dist", "cli.js"), "--agent", strings.Join(agent, " "), "--cwd", dir, "--format", "json", "exec", "wait")
		acpxReconnects(t, c, dir, agent, func(dir, program string, args ...string) *exec.Cmd {
			line := slices.Concat([]string{filepath.Join(installed, "node_modules", "acpx", "dist", "cli.js"), "--agent", program, "--cwd", dir, "--ttl", "1", "--approve-all", "--format", "json"}, args)
			cmd := exec.CommandContext(t.Context(), "node", line...)
			cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, dir
			return cmd
		})
	})
}

// acpxReconnects kills the agent of an acpx session in the middle of a turn. The next prompt must continue the session of the server,
// where the first turn continued to run.
func acpxReconnects(t *testing.T, c *client.Client, allowed string, agent []string, acpx func(dir, program string, args ...string) *exec.Cmd) {
	t.Helper()
	dir, err := os.MkdirTemp(allowed, "acpx")
	if err != nil {
		t.Fatal(err)
	}
	program, pids := filepath.Join(dir, "agent"), filepath.Join(dir, "pids")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho $$ >>"+pids+"\nexec "+strings.Join(agent, " ")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := acpx(dir, program, "sessions", "new").CombinedOutput(); err != nil {
		t.Fatalf("sessions new: %v: %s", err, out)
	}
	defer func() {
		if out, err := acpx(dir, program, "sessions", "close").CombinedOutput(); err != nil {
			t.Errorf("sessions close: %v: %s", err, out)
		}
	}()
	first := acpx(dir, program, "prompt", "long")
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	lines, killed := bufio.NewScanner(out), false
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !killed && strings.Contains(lines.Text(), "agent_message_chunk") {
			killed = true
			killLast(t, pids)
		}
	}
	_ = first.Wait() // its agent was killed
	if !killed {
		t.Fatal("the turn showed no text")
	}
	second, err := acpx(dir, program, "prompt", "say hello").CombinedOutput()
	if err != nil || !bytes.Contains(second, []byte("Hello!")) || !bytes.Contains(second, []byte("end_turn")) {
		t.Errorf("the next prompt: %v: %s", err, second)
	}
	var list api.ListResult
	if err := c.Call(t.Context(), "session.list", api.ListParams{}, &list); err != nil {
		t.Fatal(err)
	}
	both := 0
	for _, s := range list.Sessions {
		var r api.GetHistoryResult
		if err := c.Call(t.Context(), "session.getHistory", api.SessionRef{SessionID: s.SessionID}, &r); err != nil {
			t.Fatal(err)
		}
		if s.CWD == dir && s.Turns == 2 && strings.Contains(string(r.Conversation), `"long"`) && strings.Contains(string(r.Conversation), "Hello!") {
			both++
		}
	}
	if both != 1 {
		t.Errorf("%d sessions of the server have both turns, want 1: %+v", both, list.Sessions)
	}
}

// killLast kills the process with the last id in a file.
func killLast(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(string(text))
	pid, err := strconv.Atoi(ids[len(ids)-1])
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// acpxCancels interrupts acpx while the agent waits. The turn must end as cancelled.
func acpxCancels(t *testing.T, dir string, line ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cancelled := false
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "I look around") || strings.Contains(lines.Text(), "Waiting") {
			_ = cmd.Process.Signal(os.Interrupt) // a second signal has no further effect
		}
		cancelled = cancelled || strings.Contains(lines.Text(), `"stopReason":"cancelled"`)
	}
	_ = cmd.Wait() // the exit code is that of an interrupt
	if lines.Err() != nil || !cancelled {
		t.Errorf("an interrupt did not cancel the turn: %v", lines.Err())
	}
}

// checkScenes compares the scenes of a client with the expected ones, and its texts with those of the server.
func checkScenes(t *testing.T, c *client.Client, got map[string]clientScene) {
	t.Helper()
	want := map[string][]string{
		"text": {"end_turn"}, "tool": {"end_turn", "completed", "completed", "completed", "completed", "failed"}, "allow": {"end_turn", "completed"},
		"reject": {"end_turn", "failed"}, "cancel": {"cancelled"}, "reconnect": {"end_turn"},
	}
	for name, w := range want {
		s := got[name]
		if name == "cancel" {
			s.Results = nil // the call may begin before or after the cancellation
		}
		if diff := cmp.Diff(w, append([]string{s.Outcome}, s.Results...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var view client.View
		for ev, err := range c.Follow(t.Context(), s.Session, nil) {
			if err == nil {
				err = view.Apply(ev)
			}
			if err != nil {
				t.Fatal(err)
			}
			break // the snapshot
		}
		text := ""
		for _, item := range items(&view.Conversation) {
			if item.Message != nil && item.Message.Role == "assistant" {
				for _, b := range item.Message.Blocks {
					if b.Type == "text" {
						text += b.Text.String()
					}
				}
			}
		}
		if name == "cancel" { // updates between the cancellation and the end of the turn may be shown
			text, s.Text = text[:min(50, len(text))], s.Text[:min(50, len(s.Text))]
		}
		if diff := cmp.Diff(text, s.Text); diff != "" || text == "" {
			t.Errorf("%s: the client shows another text than the server (-server +client):\n%s", name, diff)
		}
	}
}
