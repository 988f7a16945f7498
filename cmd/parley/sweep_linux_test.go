package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// serveProcess starts parley serve as a separate process and returns a client of it.
func serveProcess(t *testing.T, env, args []string) (*exec.Cmd, *client.Client) {
	t.Helper()
	return serveProgram(t, linkedProgram(t), env, args)
}

// serveProgram is like serveProcess with a program at another path.
func serveProgram(t *testing.T, program string, env, args []string) (*exec.Cmd, *client.Client) {
	t.Helper()
	if !slices.Contains(args, "--host") {
		args = append([]string{"--no-host"}, args...) // so that the test is the same on every machine
	}
	cmd := exec.Command(program, append([]string{"serve"}, args...)...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // ends its agents; the process may have ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if link := greetingLink.FindString(lines.Text()); link != "" {
			c, err := client.New(client.Options{URL: link})
			if err != nil {
				t.Fatal(err)
			}
			return cmd, c
		}
	}
	t.Fatalf("the server prints no address; reading its output: %v", lines.Err())
	return nil, nil
}

// TestAttach_cutTurn checks that a person at a terminal sees that killing the server cut a turn off, and which tool
// did not end.
func TestAttach_cutTurn(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--agent", "sim", "--log-level", "error"}
	env = append(env, "PARLEY_SIM_PACE=0")
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	server, c := serveProcess(t, env, args)
	var r api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{InitialPrompt: "tool Bash"}, &r); err != nil {
		t.Fatal(err)
	}
	s := &simServer{T: t, c: c}
	s.until(r.SessionID, func(c *event.Conversation) bool { return c.State == "requires_action" })
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed
	serveProcess(t, env, args)
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "attach", "--data", filepath.Join(dir, "data"), r.SessionID)
	p.sees("Bash", "interrupted: the agent ended before the tool", "/help lists the commands")
	p.types("\x04")
	p.leaves(term.ExitOK)
}

// TestServe_sweeps kills a server and the supervisor of its agent, which has started a process in
// another session. That process survives. The next server on the same data ends it.
func TestServe_sweeps(t *testing.T) {
	cli := e2e.CLI(t)
	dir := t.TempDir()
	note := filepath.Join(dir, "pid")
	command := fmt.Sprintf("setsid sh -c 'echo $$ > %s; exec sleep 1000' >/dev/null 2>&1 </dev/null & while ! test -s %s; do sleep 0.1; done", note, note)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": command, "description": "Start something"}), claudetest.Say("It runs.")))
	env, err := claudetest.HermeticEnv(dir, api.URL())
	if err != nil {
		t.Fatal(err)
	}
	bin, project := filepath.Join(dir, "bin"), filepath.Join(dir, "project")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cli, filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	if err := claudetest.IsolateProject(project); err != nil {
		t.Fatal(err)
	}
	args := []string{"--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", project, "--log-level", "error"}
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PATH" {
			env[i] = name + "=" + bin + string(filepath.ListSeparator) + value
		}
		args = append(args, "--pass-env", name)
	}
	first, c := serveProcess(t, env, args)
	if _, allowed := converse(t, c, "start it"); allowed != 1 {
		t.Fatalf("permission was asked for %d times", allowed)
	}
	text, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // in case the test has failed
	killWithSupervisors(t, first)
	if !sleeps(pid) {
		t.Fatal("the process ended with the server: there is nothing to sweep")
	}
	serveProcess(t, env, args)
	eventually(t, "the process of the server that was killed ends", func() bool { return !sleeps(pid) })
}

// sleeps reports whether the process is the started one and is not a zombie.
func sleeps(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), "(sleep)") && !strings.Contains(string(text), ") Z ")
}
