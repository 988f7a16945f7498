package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// acpEditor is an editor that runs parley acp.
type acpEditor struct {
	*acptest.Client
	t       *testing.T
	ctx     context.Context
	asked   chan json.RawMessage
	session string
}

func newACPEditor(t *testing.T, dir string, env []string, args ...string) *acpEditor {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cmd := exec.Command(linkedProgram(t), append([]string{"acp", "--no-prewarm"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(env, "GORACE=atexit_sleep_ms=0")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &acpEditor{t: t, ctx: ctx, asked: make(chan json.RawMessage, 10)}
	e.Client = &acptest.Client{Answer: func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		e.asked <- params
		return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": "accept"}}, nil
	}}
	e.Connect(stdout, stdin)
	t.Cleanup(func() {
		_ = e.Close()
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		cancel()
	})
	return e
}

// call makes a request and returns its result as text.
func (e *acpEditor) call(method string, params map[string]any) string {
	e.t.Helper()
	var result json.RawMessage
	if e.session != "" {
		params["sessionId"] = e.session
	}
	if err := e.Call(e.ctx, method, params, &result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return string(result)
}

func (e *acpEditor) prompt(text string) string {
	e.t.Helper()
	return e.call("session/prompt", map[string]any{"prompt": []any{map[string]string{"type": "text", "text": text}}})
}

// updates are the updates so far, joined to one text.
func (e *acpEditor) updates() string {
	var all strings.Builder
	for _, u := range e.Updates() {
		all.Write(u)
		all.WriteByte('\n')
	}
	return all.String()
}

// TestACP_settingsModel runs parley acp with the real CLI: the editor shows the model of the
// settings.
func TestACP_settingsModel(t *testing.T) {
	cli, home := e2e.CLI(t), t.TempDir()
	env, err := claudetest.HermeticEnv(home, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(home, "project")
	for _, dir := range []string{project, filepath.Join(project, ".claude")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e := newACPEditor(t, project, env, "--cli", cli)
	e.call("initialize", map[string]any{"protocolVersion": 1})
	for settings, want := range map[string]string{`{}`: "default", `{"model":"haiku"}`: "haiku"} {
		if err := os.WriteFile(filepath.Join(project, ".claude", "settings.json"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		var created struct {
			ConfigOptions []struct{ ID, CurrentValue string }
		}
		if err := json.Unmarshal([]byte(e.call("session/new", map[string]any{"cwd": project, "mcpServers": []any{}})), &created); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, o := range created.ConfigOptions {
			if o.ID == "model" {
				got = o.CurrentValue
			}
		}
		if got != want {
			t.Errorf("with %s the model is %q, want %q: %+v", settings, got, want, created)
		}
	}
}
