package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// TestHost_hook leaves a tool call of the real CLI waiting for a hook whose process has ended, for
// longer than the hook's Timeout: the call neither runs nor fails, and the hook of the next process
// decides it.
func TestHost_hook(t *testing.T) {
	for decision, runs := range map[hook.PermissionDecision]bool{hook.DecisionAllow: true, hook.DecisionDeny: false} {
		t.Run(string(decision), func(t *testing.T) {
			w := newHookWorld(t)
			w.ask()
			select {
			case <-time.After(time.Duration(short.Count(3, 3, 180)) * time.Second): // the CLI does not report that it is waiting
			case <-w.ctx.Done():
			}
			if _, err := os.Stat(w.kept()); !errors.Is(err, fs.ErrNotExist) || len(w.api.Requests()) != 1 {
				t.Fatalf("without a process the call has run (%v), or has failed: %d requests", err, len(w.api.Requests()))
			}
			w.decide(decision)
			text, err := os.ReadFile(w.kept())
			if ran := err == nil && string(text) == "kept\n"; ran != runs || len(w.api.Requests()) != 2 {
				t.Errorf("the file has %q, %v, after %d requests; want that the call has run: %v\n%s", text, err, len(w.api.Requests()), runs, w.lastResult())
			}
		})
	}
}

// hookWorld runs a real CLI under a host, for processes that decide its calls with a hook.
type hookWorld struct {
	*testing.T
	ctx       context.Context
	cli, data string
	project   string
	env       map[string]string
	api       *claudetest.FakeAPI
}

func newHookWorld(t *testing.T) *hookWorld {
	w := &hookWorld{T: t, cli: e2e.CLI(t), env: map[string]string{"PATH": os.Getenv("PATH")}}
	w.api = claudetest.StartFakeAPI(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": "echo kept > kept", "description": "Write a file"}), claudetest.Say("It has ended.")))
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit+time.Duration(short.Count(0, 0, 180))*time.Second)
	t.Cleanup(cancel)
	w.ctx = ctx
	dir := t.TempDir()
	w.project, w.data = filepath.Join(dir, "project"), filepath.Join(dir, "data")
	env, err := claudetest.HermeticEnv(dir, w.api.URL())
	if err := errors.Join(err, claudetest.IsolateProject(w.project), host.Start(ctx, w.data, "", host.Options{})); err != nil {
		t.Fatal(err)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		w.env[name] = value
	}
	return w
}

// lastResult returns the last message of the last request: the result of the call.
func (w *hookWorld) lastResult() string {
	all := w.api.Requests()
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil || len(body.Messages) == 0 {
		return fmt.Sprint("no messages: ", err)
	}
	return string(body.Messages[len(body.Messages)-1])
}

// kept is the file that the tool call writes.
func (w *hookWorld) kept() string { return filepath.Join(w.project, "kept") }

// dial connects to the host as the next owner.
func (w *hookWorld) dial() *host.Link {
	w.Helper()
	epoch, err := host.NextEpoch(w.data)
	if err != nil {
		w.Fatal(err)
	}
	link, err := host.Dial(w.ctx, w.data, epoch)
	if err != nil {
		w.Fatal(err)
	}
	return link
}

func (w *hookWorld) options(f hook.PreToolUseFunc) *claude.Options {
	return &claude.Options{CLIPath: w.cli, Dir: w.project, CleanEnv: true, Env: w.env, SessionLock: claude.LockOff, AllowedTools: []string{"Bash"}, MaxAbsence: time.Hour,
		Hooks: &hook.Hooks{PreToolUse: []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]{{Hooks: []hook.PreToolUseFunc{f}, Timeout: time.Second}}}}
}

// ask starts the CLI, waits until it waits for the hook, and then ends the connection, as a process
// does that ends.
func (w *hookWorld) ask() {
	w.Helper()
	link := w.dial()
	asked := make(chan struct{}, 1)
	o := w.options(func(ctx context.Context, _ *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	o.Spawner = spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		return link.SpawnAgent(ctx, cmd, host.AgentOptions{Key: "hook"})
	})
	client, err := claude.Connect(w.ctx, o)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := client.Send(w.ctx, claude.Text("write it")); err != nil {
		w.Fatal(err)
	}
	<-asked
	link.Close()
	_ = client.Close() // fails, because the CLI cannot be reached
}

// decide adopts the CLI with a hook that decides, and waits for the end of the turn.
func (w *hookWorld) decide(decision hook.PermissionDecision) {
	w.Helper()
	link := w.dial()
	defer func() {
		if err := link.Stop(w.ctx); err != nil {
			w.Error(err)
		}
	}()
	agents, err := link.Agents(w.ctx)
	if err != nil || len(agents) != 1 {
		w.Fatalf("the host has %+v, %v; want one agent", agents, err)
	}
	p, err := link.Attach(w.ctx, agents[0].Number, 0)
	if err != nil {
		w.Fatal(err)
	}
	client, err := claude.Adopt(w.ctx, w.options(func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		return &hook.PreToolUseOutput{PermissionDecision: decision}, nil
	}), claude.Adoption{Process: p, Last: p.Agent().Last})
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	// WaitIdle returns immediately until the adopted client has read that a turn is running.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(w.api.Requests()) < 2 {
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.Fatal("the call has no result")
		}
	}
	if err := client.WaitIdle(w.ctx); err != nil {
		w.Fatal(err)
	}
}
