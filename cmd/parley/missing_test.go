package main

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// linkedProgram returns the path under which the test binary runs as the command; TestMain has
// created it.
func linkedProgram(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestACP_missing checks that parley acp answers an editor when the agent's program is missing, and
// names it in the answer to session/new.
func TestACP_missing(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	parley, home := linkedProgram(t), t.TempDir()
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"claude", nil, nil, "npm install -g @anthropic-ai/claude-code"},
		{"claude, by the variable", nil, []string{"PARLEY_CLI=/nowhere/claude"}, "/nowhere/claude"},
		{"claude, by the flag", []string{"--cli", "/nowhere/claude"}, []string{"PARLEY_CLI=/elsewhere/claude"}, "/nowhere/claude"},
		{"codex", []string{"--agent", "codex"}, nil, "npm install -g @openai/codex"},
		{"codex, by the variable", []string{"--agent", "codex"}, []string{"PARLEY_CODEX=/nowhere/codex"}, "/nowhere/codex"},
		{"another agent", []string{"--agent", "acp:nowhere --acp"}, nil, "nowhere"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			p := &acpagent.Provider{Command: append([]string{parley, "acp"}, tt.args...), Logger: slog.New(slog.DiscardHandler)}
			s, err := p.Open(ctx, agent.Options{Dir: home, Env: append(tt.env, "HOME="+home, "PATH="+home)})
			if err == nil {
				t.Fatal("a session was opened without an agent", s.Close())
			}
			if errors.Is(err, agent.ErrClosed) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want an answer with %q", err, tt.want)
			}
		})
	}
}

// TestCLIVariable checks that every command that starts the CLI uses the one in PARLEY_CLI or
// --cli, and never another one.
func TestCLIVariable(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	parley := linkedProgram(t)
	for name, args := range map[string][]string{
		"run": {"run", "hi"}, "chat": {"chat"}, "serve": {"serve", "--listen", "127.0.0.1:0"},
		"doctor": {"doctor"}, "acp login": {"acp", "--login", "console"}, "host join": {"host", "join", "http://127.0.0.1:1"},
	} {
		for how, more := range map[string][2]string{"variable": {"PARLEY_CLI=/nowhere/claude", ""}, "flag": {"PARLEY_CLI=/elsewhere/claude", "--cli=/nowhere/claude"}} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, parley, args...)
				if more[1] != "" {
					cmd.Args = append(cmd.Args, more[1])
				}
				own := t.TempDir()
				cmd.Dir, cmd.Env, cmd.Stdin = own, []string{"HOME=" + own, "PATH=" + own, "GORACE=atexit_sleep_ms=0", more[0]}, strings.NewReader("hi\n")
				out, err := cmd.CombinedOutput()
				if err == nil || ctx.Err() != nil || !strings.Contains(string(out), "/nowhere/claude") {
					t.Errorf("it ended with %v and printed\n%s", err, out)
				}
			})
		}
	}
}
