package claude_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/mcptool"
	"github.com/seed7221b0f9/parley/spawn"
)

func TestTraceOfTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		var told []string
		note := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
		type key struct{}
		opts.Trace = &claude.Trace{
			Prompt: func(e claude.PromptTrace) { note("prompt %v", e.Context.Value(key{})) },
			TurnBegin: func(e claude.TurnBeginTrace) {
				note("begin %d prompts after %v with %s", len(e.Prompts), e.Waited, e.Model)
			},
			FirstToken: func(e claude.FirstTokenTrace) { note("token %v %v", e.Duration, e.SincePrompt) },
			Generation: func(e claude.GenerationTrace) { note("answer %s %v", e.ID, e.Duration()) },
			APIRetry:   func(e claude.APIRetryTrace) { note("retry %d", e.Retry.Attempt) },
			TurnEnd: func(e claude.TurnEndTrace) {
				note("end %d prompts after %v, $%.2f, %d tokens, %v", len(e.Prompts), e.Duration(), e.CostUSD, e.ModelUsage["m"].OutputTokens, e.Err)
			},
			PromptCancelled: func(e claude.PromptTrace) { note("cancelled %s", e.ID) },
		}
		client := cli.connect(opts)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "ctx"))
		defer cancel()
		turn, err := client.Send(ctx, claude.Text("a"))
		if err != nil {
			t.Fatal(err)
		}
		merged := send(t, client, "b")
		dropped := send(t, client, "c")
		within(t, time.Second)
		cli.say(initLine(turn.ID))
		within(t, time.Second)
		cli.say(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":3,"retry_delay_ms":1,"error":"overloaded"}`)
		within(t, time.Second)
		cli.say(assistant("A"), lifecycle(dropped.ID, "cancelled"))
		within(t, time.Second)
		cli.say(resultLine("A", `,"is_error":false,"total_cost_usd":0.5,"modelUsage":{"m":{"outputTokens":7}}`, turn.ID, merged.ID), state("idle"))
		within(t, time.Second)
		cli.say(initLine(), assistant("by itself"), resultLine("B", `,"is_error":false,"total_cost_usd":0.75,"modelUsage":{"m":{"outputTokens":9}},"origin":{"kind":"task-notification"}`))
		cli.say(initLine())
		synctest.Wait()
		cli.die(&claude.ExitError{Code: 3})
		if err := client.Wait(); err == nil {
			t.Error("no error")
		}
		client.Close()
		want := []string{
			"prompt ctx", "prompt <nil>", "prompt <nil>",
			"begin 1 prompts after 1s with claude-opus-5-5", "retry 1", "token 2s 3s", "cancelled " + dropped.ID,
			"answer msg_0001 2s", "end 2 prompts after 3s, $0.50, 7 tokens, <nil>",
			"begin 0 prompts after 0s with claude-opus-5-5", "token 0s 0s",
			"answer msg_0001 0s", "end 0 prompts after 0s, $0.25, 2 tokens, <nil>",
			"begin 0 prompts after 0s with claude-opus-5-5",
			"end 0 prompts after 0s, $0.00, 0 tokens, claude: the CLI exited with code 3",
		}
		if !slices.Equal(told, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestTraceOfCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.answers(map[string]string{"interrupt": `{}`})
		opts := cli.options()
		told := make(chan string, 10)
		note := func(format string, args ...any) { told <- fmt.Sprintf(format, args...) }
		opts.CanUseTool = func(_ context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
			<-time.After(time.Second)
			if req.ToolName == "Panic" {
				panic("boom")
			}
			return &claude.Deny{Message: "no"}, nil
		}
		opts.Hooks = &hook.Hooks{PreToolUse: hook.On("Bash", func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
			return nil, nil
		})}
		add := mcptool.NewTool("add", "adds", func(context.Context, struct{}) (string, error) { return "", errors.New("cannot") })
		opts.MCPServers = map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1", add)}}
		opts.Trace = &claude.Trace{
			Permission: func(e claude.PermissionTrace) {
				note("permission %s %s %s %v %v", e.ToolName, e.ToolUseID, e.Answer, e.Duration(), e.Err)
			},
			Hook: func(e claude.HookTrace) { note("hook %s %s %v", e.Event, e.ToolUseID, e.Err) },
			MCPCall: func(e claude.MCPCallTrace) {
				note("mcp %s %s %s %t %v", e.Server, e.Tool, e.ToolUseID, e.IsError, e.Err)
			},
			Control: func(e claude.ControlTrace) { note("control %s %v", e.Subtype, e.Err) },
		}
		client := cli.connect(opts)
		defer client.Close()
		for _, step := range []struct{ body, want string }{
			{`{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"toolu_1"}`, "permission Bash toolu_1 deny 1s <nil>"},
			{`{"subtype":"can_use_tool","tool_name":"Panic","input":{},"tool_use_id":"toolu_2"}`, "permission Panic toolu_2  1s claude: the callback did not return"},
			{`{"subtype":"hook_callback","callback_id":"hook_0","tool_use_id":"toolu_3","input":{"hook_event_name":"PreToolUse","tool_name":"Bash"}}`, "hook PreToolUse toolu_3 <nil>"},
			{`{"subtype":"mcp_message","server_name":"calc","message":{"method":"tools/call","params":{"name":"add","arguments":{},"_meta":{"claudecode/toolUseId":"toolu_4"}},"jsonrpc":"2.0","id":1}}`, "mcp calc add toolu_4 true <nil>"},
		} {
			cli.say(request("r_"+step.want, step.body))
			if got := <-told; got != step.want {
				t.Errorf("got %s, want %s", got, step.want)
			}
		}
		if _, err := client.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-told; got != "control interrupt <nil>" {
			t.Errorf("got is %v; want got == \"control interrupt <nil>\"", got)
		}
	})
}

func TestTraceOfAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.FirstMessageTimeout = time.Minute
		var phase string
		opts.Trace = &claude.Trace{Stall: func(e claude.StallTrace) { phase = e.Err.Phase }}
		_, err := claude.Run(t.Context(), "go", opts)
		if !errors.As(err, new(*claude.StalledError)) || phase != "first message" {
			t.Errorf("err is %v, phase is %v; want errors.As(err, new(*claude.StalledError)) and phase == \"first message\"", err, phase)
		}
	})
}

// TestTraceOfEachSession: one Trace serves many sessions, and sets their
// environment.
func TestTraceOfEachSession(t *testing.T) {
	t.Setenv("TRACEPARENT", "inherited")
	sessions := 0
	var told []string
	var env []string
	opts := &claude.Options{
		CLIPath: "claude", Env: map[string]string{"MINE": "stays"},
		Spawner: spawn.Func(func(_ context.Context, cmd spawn.Command) (spawn.Process, error) {
			env = cmd.Env
			return nil, os.ErrPermission
		}),
		Trace: &claude.Trace{
			Exit: func(claude.ExitTrace) { t.Error("the session has functions of its own") },
			Session: func(_ context.Context, s *claude.SessionTrace) *claude.Trace {
				sessions++
				n := sessions
				s.Env = map[string]string{"TRACEPARENT": fmt.Sprint("of ", n), "MINE": "changed"}
				return &claude.Trace{
					Spawn: func(e claude.SpawnTrace) { told = append(told, fmt.Sprint("spawn ", n, e.Err != nil)) },
					Exit: func(e claude.ExitTrace) {
						told = append(told, fmt.Sprint("exit ", n, errors.Is(e.Err, os.ErrPermission)))
					},
				}
			},
		},
	}
	for n := range 2 {
		if _, err := claude.Run(t.Context(), "go", opts); !errors.Is(err, os.ErrPermission) {
			t.Fatal(err)
		}
		if !slices.Contains(env, fmt.Sprint("TRACEPARENT=of ", n+1)) || !slices.Contains(env, "MINE=stays") || slices.Contains(env, "TRACEPARENT=inherited") {
			t.Error(env)
		}
	}
	if got := strings.Join(told, ", "); got != "spawn 1 true, exit 1 true, spawn 2 true, exit 2 true" || len(opts.Env) != 1 {
		t.Errorf("got is %v, opts.Env is %v; want got == \"spawn 1 true, exit 1 true, spawn 2 true, exit 2 true\" and len(opts.Env) == 1", got, opts.Env)
	}
}

func TestTraceOfStderr(t *testing.T) {
	var lines, told []string
	opts := &claude.Options{
		Spawner: claudetest.InProcess(func(cli *claudetest.CLI) int {
			cli.Handshake()
			cli.Prompt()
			cli.Stderr("one\ntwo\n")
			cli.Turn("ok")
			<-cli.InputEnd()
			return 0
		}),
		Stderr: func(line string) { lines = append(lines, line) },
		Trace:  &claude.Trace{Stderr: func(e claude.StderrTrace) { told = append(told, e.Line) }},
	}
	if _, err := claude.Run(t.Context(), "go", opts); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []string{"one", "two"}) || !slices.Equal(lines, told) {
		t.Errorf("lines is %v, told is %v; want slices.Equal(told, []string{\"one\", \"two\"}) and slices.Equal(lines, told)", lines, told)
	}
}
