package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agentcheck"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// agentsCommand runs a command of parley agents in this process.
func agentsCommand(t *testing.T, args ...string) (string, int, error) {
	t.Helper()
	var out bytes.Buffer
	code := 0
	cmd := newAgents(&code)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return out.String(), code, err
}

// Agents are found on PATH. An added agent is listed and can be run by its name.
func TestAgents(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a script")
	}
	parley := linkedProgram(t)
	bin, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "opencode"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/usr/bin:/bin")
	out, _, err := agentsCommand(t, "list")
	if err != nil || !strings.Contains(out, filepath.Join(bin, "opencode")) || !strings.Contains(out, "opencode auth login") {
		t.Errorf("list: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"add", "claude", "x"}, {"add", "Two Words", "x"}, {"add", "--env", "x", "mine", "x"}, {"add", "mine"}} {
		if out, _, err := agentsCommand(t, args...); err == nil {
			t.Errorf("%q is accepted: %s", args, out)
		}
	}
	if out, code, err := agentsCommand(t, "add", "--env", "PARLEY_SIM_PACE=0", "--login", "mine login", "mine", parley, "acp", "--agent", "sim"); err != nil || code != 0 {
		t.Fatalf("add: %d %v %s", code, err, out)
	}
	if out, _, err = agentsCommand(t, "list"); err != nil || !strings.Contains(out, "mine") || !strings.Contains(out, "mine login") {
		t.Errorf("list: %v\n%s", err, out)
	}
	cmd := exec.Command(parley, "run", "--agent", "mine", "hello")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	if text, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(text)) == 0 {
		t.Errorf("run --agent mine: %v\n%s", err, text)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "parley", "agents.json"), []byte(`[{"name":"x"}]`), 0o600); err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	if _, code, _ := agentsCommand(t, "list"); code == 0 && runtime.GOOS == "linux" {
		t.Error("a list with an agent without a command is read")
	}
}

// The command prints a row for each check, and fails if one of them fails.
func TestAgents_check(t *testing.T) {
	var out bytes.Buffer
	subject := agentcheck.Subject{
		Provider: &agenttest.Provider{Dir: t.TempDir()}, Options: agent.Options{Dir: t.TempDir()}, Timeout: time.Minute,
		Prompts: agentcheck.Prompts{Say: "say hello there", Tool: "tool Bash"},
	}
	if err := checkAgent(t.Context(), &out, subject); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if rows := strings.Split(strings.TrimSpace(out.String()), "\n"); len(rows) != len(agentcheck.Checks()) || rows[0] != "say           ok" || !strings.HasPrefix(rows[7], "plan          skipped  the subject") {
		t.Errorf("the table is\n%s", out.String())
	}
	out.Reset()
	subject.Prompts = agentcheck.Prompts{Tool: "say I do not ask"}
	subject.Timeout = time.Second
	if err := checkAgent(t.Context(), &out, subject); err == nil || !strings.Contains(out.String(), "allow         failed") {
		t.Errorf("an agent that never asks passes: %v\n%s", err, out.String())
	}
	out.Reset()
	subject.Prompts = agentcheck.Prompts{Say: "die", Tool: "tool Bash"}
	if err := checkAgent(t.Context(), &out, subject); err == nil || !strings.Contains(err.Error(), "further checks were not run") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("an agent that does not answer: %v\n%s", err, out.String())
	}
	out.Reset()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := checkAgent(ctx, &out, subject); err != stopped || out.Len() > 0 {
		t.Errorf("a check that was interrupted returns %v, want %v\n%s", err, stopped, out.String())
	}
	if _, _, err := agentsCommand(t, "check", "nobody"); err == nil || !strings.Contains(err.Error(), "parley agents list") {
		t.Errorf("an agent that has no name: %v", err)
	}
}
