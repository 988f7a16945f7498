package claude_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
)

// An allow waits for the PermissionRequest hooks of its call: as long as they run, two seconds for a hook
// that the CLI does not call, and not at all if no hook matches.
func TestAllowWaitsForHooks(t *testing.T) {
	for _, tt := range []struct {
		name, matcher string
		called        bool          // the CLI calls the hook
		slow          time.Duration // of the hook
		decision      hook.PermissionDecision
		want          string
		took          time.Duration
	}{
		{"deny", "", true, 0, hook.DecisionDeny, `"message":"no"`, 0},
		{"slow deny", "Bash", true, time.Minute, hook.DecisionDeny, `"message":"no"`, time.Minute},
		{"allow", "Ba.*", true, time.Second, hook.DecisionAllow, `"behavior":"allow"`, time.Second},
		{"another tool", "Write|Edit", false, 0, hook.DecisionDeny, `"behavior":"allow"`, 0},
		{"a part of the name", "Ba", false, 0, hook.DecisionDeny, `"behavior":"allow"`, 0},
		{"a pattern that Go does not know", "(?!Write).*", true, time.Minute, hook.DecisionDeny, `"message":"no"`, time.Minute},
		{"not called", "*", false, 0, hook.DecisionDeny, `"behavior":"allow"`, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var answer string
				var took time.Duration
				call := map[string]any{"tool_name": "Bash", "input": map[string]any{"command": "touch f1"}, "tool_use_id": "t1"}
				program := func(cli *claudetest.CLI) int {
					if _, err := cli.Handshake(); err != nil {
						return 1
					}
					done := make(chan struct{})
					begun := time.Now()
					go func() {
						defer close(done)
						raw, err := cli.Request("can_use_tool", call)
						answer, took = string(raw), time.Since(begun)
						if err != nil {
							answer = err.Error()
						}
					}()
					if tt.called {
						cli.Request("hook_callback", map[string]any{"callback_id": "hook_0", "input": map[string]any{
							"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": call["input"]}})
					}
					<-done
					<-cli.InputEnd()
					return 0
				}
				opts := &claude.Options{Spawner: claudetest.InProcess(program), Logger: slog.New(slog.DiscardHandler),
					CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
						return &claude.Allow{}, nil
					},
					Hooks: &hook.Hooks{PermissionRequest: hook.On(tt.matcher, func(context.Context, *hook.PermissionRequestInput) (*hook.PermissionRequestOutput, error) {
						<-time.After(tt.slow)
						return &hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{Behavior: tt.decision, Message: "no"}}, nil
					})}}
				c, err := claude.Connect(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(2 * time.Minute)
				c.Close()
				if !strings.Contains(answer, tt.want) || took != tt.took {
					t.Errorf("after %v: %s", took, answer)
				}
			})
		})
	}
}

// Two equal calls each wait for a hook: the allow of the first does not release the second.
func TestAllowWaitsForHooks_alike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string, 2)
		input := map[string]any{"command": "pay 100"}
		program := func(cli *claudetest.CLI) int {
			if _, err := cli.Handshake(); err != nil {
				return 1
			}
			var all sync.WaitGroup
			for i := range 2 {
				all.Go(func() {
					raw, err := cli.Request("can_use_tool", map[string]any{"tool_name": "Bash", "input": input, "tool_use_id": fmt.Sprint("t", i)})
					answers <- fmt.Sprint(string(raw), err)
				})
				all.Go(func() {
					_, _ = cli.Request("hook_callback", map[string]any{"callback_id": "hook_0", "input": map[string]any{
						"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": input}})
				})
			}
			all.Wait()
			<-cli.InputEnd()
			return 0
		}
		var calls atomic.Int64
		opts := &claude.Options{Spawner: claudetest.InProcess(program), Logger: slog.New(slog.DiscardHandler),
			CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
				return &claude.Allow{}, nil
			},
			Hooks: &hook.Hooks{PermissionRequest: hook.On("", func(context.Context, *hook.PermissionRequestInput) (*hook.PermissionRequestOutput, error) {
				decision := &hook.PermissionRequestDecision{Behavior: hook.DecisionAllow}
				<-time.After(time.Second)
				if calls.Add(1) == 2 {
					<-time.After(time.Minute)
					decision = &hook.PermissionRequestDecision{Behavior: hook.DecisionDeny, Message: "once is enough"}
				}
				return &hook.PermissionRequestOutput{Decision: decision}, nil
			})}}
		c, err := claude.Connect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Minute)
		c.Close()
		both := <-answers + <-answers
		if strings.Count(both, `"behavior":"allow"`) > 1 || !strings.Contains(both, "once is enough") {
			t.Errorf("the answers are %s", both)
		}
	})
}
