package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// hanging writes a program that starts a process in another session, writes its id to the file DIR/NAME.pid, and never answers.
func hanging(t *testing.T, dir, name string) (program, note string) {
	t.Helper()
	program, note = filepath.Join(dir, name), filepath.Join(dir, name+".pid")
	script := fmt.Sprintf("#!/bin/sh\nsetsid sh -c 'echo $$ >%[1]s.new; mv %[1]s.new %[1]s; exec sleep 1000' >/dev/null 2>&1 </dev/null &\nexec sleep 1000\n", note)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pid := notedPID(note); pid > 0 && sleeps(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // in case the test has failed
		}
	})
	return program, note
}

// notedPID returns the process id in a file, or 0.
func notedPID(note string) int {
	text, _ := os.ReadFile(note)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v", what, waitLimit)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestServe_sweepsAgents kills a server and the supervisors of a Claude, a Codex and an ACP agent
// and of a hook command. The next server on the same data ends the processes that they have left,
// and no others.
func TestServe_sweepsAgents(t *testing.T) {
	short.SkipLong(t, "starts servers")
	dir := t.TempDir()
	notes := map[string]string{}
	programs := map[string]string{}
	for _, name := range []string{"claude", "codex", "other", "hook"} {
		programs[name], notes[name] = hanging(t, dir, name)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, sim.PaceVariable + "=0",
		"PARLEY_CLI=" + programs["claude"], "PARLEY_CODEX=" + programs["codex"], "GORACE=atexit_sleep_ms=0"}
	acp := "acp:" + programs["other"]
	args := []string{"--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error",
		"--hook-command", programs["hook"], "--agent", "sim", "--agent", "claude", "--agent", "codex", "--agent", acp}
	bystander := exec.Command("sleep", "1000")
	bystander.Env = []string{"PARLEY_OWNER=1-0123456789abcdef", "PARLEY_PROCESS=0123456789abcdef"}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })

	first, c := serveProcess(t, env, args)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for _, provider := range []string{"claude", "codex", "acp:other"} {
		go func() { // returns when the server is killed
			_ = c.Call(ctx, "session.connect", api.ConnectParams{Provider: provider}, new(api.ConnectResult))
		}()
	}
	if err := sayHello(ctx, c); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for name, note := range notes {
		eventually(t, name+" starts", func() bool { pids[name] = notedPID(note); return pids[name] > 0 && sleeps(pids[name]) })
	}
	killWithSupervisors(t, first)
	for name, pid := range pids {
		if !sleeps(pid) {
			t.Errorf("the process of %s ended with the server: the sweep has nothing to end", name)
		}
	}
	serveProcess(t, env, args)
	for name, pid := range pids {
		eventually(t, "the process of "+name+" ends", func() bool { return !sleeps(pid) })
	}
	if !sleeps(bystander.Process.Pid) {
		t.Error("a process that is not of the server was ended")
	}
}

// sayHello runs a turn with the simulated agent, which triggers the hook command.
func sayHello(ctx context.Context, c *client.Client) error {
	return c.Call(ctx, "session.connect", api.ConnectParams{Provider: "sim", InitialPrompt: "hello"}, new(api.ConnectResult))
}

// killWithSupervisors kills a server and then its supervisors, before they can end their
// descendants.
func killWithSupervisors(t *testing.T, server *exec.Cmd) {
	t.Helper()
	var supervisors []supervise.Process
	for _, p := range supervise.Table() {
		if p.Parent == server.Process.Pid {
			supervisors = append(supervisors, p)
			p.Signal(syscall.SIGSTOP)
		}
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed
	for _, p := range supervisors {
		p.Signal(syscall.SIGKILL)
	}
}
