package claude_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// hookLine returns the CLI's request to call a hook.
func hookLine(request, callback, input string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"hook_callback","callback_id":%q,"input":%s,"tool_use_id":"toolu_1"}}`,
		request, callback, input)
}

// withHooks runs a test with a client that has hooks, in a bubble.
func withHooks(t *testing.T, hooks *hook.Hooks, f func(t *testing.T, cli *memCLI, client *claude.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) { cli.answerHooks(line, `"hook_on_failure_supported":true`) }
		opts := cli.options()
		opts.Hooks = hooks
		client := cli.connect(opts)
		defer client.Close()
		f(t, cli, client)
	})
}

// answerHooks answers initialize with these members.
func (c *memCLI) answerHooks(line, members string) {
	if l := parse(line); l.Request.Subtype == "initialize" {
		c.say(answer(l.RequestID, `{"claude_code_version":"2.1.325",`+members+`}`))
	}
}

func TestHookIsCalledAndAnswers(t *testing.T) {
	var got *hook.PreToolUseInput
	hooks := &hook.Hooks{PreToolUse: hook.On("Bash", func(_ context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		got = in
		return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionDeny}, nil
	})}
	withHooks(t, hooks, func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(hookLine("r1", "hook_0", `{"session_id":"s","transcript_path":"/t","cwd":"/w","prompt_id":"p","permission_mode":"plan","agent_id":"a","agent_type":"b",`+
			`"effort":{"level":"high"},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1","mcp_server":{"name":"n","source":"s"},"brand_new":1}`))
		if a := cli.given()["r1"]; string(a.body) != `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}` {
			t.Fatalf("%s %s; want string(a.body) == `{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"}}`", a.body, a.err)
		}
		bash, err := tool.Decode(got)
		if err != nil || bash.(*tool.BashInput).Command != "ls" {
			t.Errorf("%+v %v; want err == nil and bash.(*tool.BashInput).Command == \"ls\"", bash, err)
		}
		if got.SessionID != "s" || got.CWD != "/w" || got.PermissionMode != message.ModePlan || got.AgentID != "a" || got.Effort.Level != "high" ||
			got.HookEventName != hook.PreToolUse || got.MCPServer.Name != "n" || got.ToolUseID != "toolu_1" || got.CallID() != "toolu_1" {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(string(got.Raw()), `"brand_new":1`) {
			t.Errorf("got.Raw() is %v; want strings.Contains(string(got.Raw()), `\"brand_new\":1`)", got.Raw())
		}
	})
}

func TestHooksOfOtherEvents(t *testing.T) {
	hooks := &hook.Hooks{
		Stop: hook.On("", func(context.Context, *hook.StopInput) (*hook.StopOutput, error) { return nil, nil }),
		Other: map[string][]hook.Matcher[hook.OtherInput, hook.OtherOutput]{
			"Later": hook.On("", func(_ context.Context, in *hook.OtherInput) (*hook.OtherOutput, error) {
				return &hook.OtherOutput{Specific: in.Raw()}, nil
			}),
		},
	}
	withHooks(t, hooks, func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(hookLine("r1", "hook_0", `{}`), hookLine("r2", "hook_1", `{"x":[1],"y":null}`), hookLine("r3", "hook_2", `{}`), hookLine("r4", "hook_00", `{}`))
		answers := cli.given()
		if got := answers["r1"]; string(got.body) != `{}` || got.err != "" {
			t.Errorf("no opinion is %s, %s", got.body, got.err)
		}
		if got := string(answers["r2"].body); got != `{"hookSpecificOutput":{"hookEventName":"Later","x":[1]}}` {
			t.Errorf("got is %v; want got == `{\"hookSpecificOutput\":{\"hookEventName\":\"Later\",\"x\":[1]}}`", got)
		}
		for request, id := range map[string]string{"r3": "hook_2", "r4": "hook_00"} {
			if got := answers[request].err; got != "No hook callback found for ID: "+id {
				t.Errorf("got is %v; want got == \"No hook callback found for ID: \"+id", got)
			}
		}
	})
}

// failing returns hooks that fail in every possible way.
func failing[In, Out any](bad *Out) map[string]hook.Func[In, Out] {
	hooks := map[string]hook.Func[In, Out]{
		"error":  func(context.Context, *In) (*Out, error) { return new(Out), errors.New("boom") },
		"panic":  func(context.Context, *In) (*Out, error) { panic("boom") },
		"goexit": func(context.Context, *In) (*Out, error) { runtime.Goexit(); return nil, nil },
		"slow": func(ctx context.Context, _ *In) (*Out, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"deaf": func(context.Context, *In) (*Out, error) {
			<-time.After(time.Minute)
			return nil, nil
		},
	}
	if bad != nil {
		hooks["bad output"] = func(context.Context, *In) (*Out, error) { return bad, nil }
	}
	return hooks
}

// testFailing checks that failing hooks of an event refuse with the wanted members,
// unless OnFailure is set.
func testFailing[In, Out any](t *testing.T, set func(*hook.Hooks, []hook.Matcher[In, Out]), bad *Out, refusal string) {
	for name, fn := range failing[In](bad) {
		for _, onFailure := range []hook.OnFailure{"", hook.Continue, hook.Block} {
			if name == "bad output" && onFailure != "" {
				continue // set by the caller
			}
			hooks := new(hook.Hooks)
			set(hooks, []hook.Matcher[In, Out]{{Hooks: []hook.Func[In, Out]{fn}, Timeout: time.Second, OnFailure: onFailure}})
			withHooks(t, hooks, func(t *testing.T, cli *memCLI, _ *claude.Client) {
				cli.say(hookLine("r1", "hook_0", `{}`))
				synctest.Wait()
				<-time.After(7 * time.Second)
				got, ok := cli.given()["r1"]
				switch {
				case !ok:
					t.Errorf("%s %q: no answer", name, onFailure)
				case refusal == "" || onFailure != "":
					if got.err == "" || got.body != nil {
						t.Errorf("%s %q: %s, not an error", name, onFailure, got.body)
					}
				case got.err != "" || !strings.Contains(string(got.body), refusal):
					t.Errorf("%s: %s %s, not %s", name, got.body, got.err, refusal)
				}
			})
		}
	}
}

func TestHookFailures(t *testing.T) {
	t.Run("PreToolUse", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]) {
			h.PreToolUse = m
		},
			&hook.PreToolUseOutput{PermissionDecision: "Deny"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a hook failed: `)
	})
	t.Run("PermissionRequest", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.PermissionRequestInput, hook.PermissionRequestOutput]) {
			h.PermissionRequest = m
		}, &hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{}},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"a hook failed: `)
	})
	t.Run("UserPromptSubmit", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.UserPromptSubmitInput, hook.UserPromptSubmitOutput]) {
			h.UserPromptSubmit = m
		}, &hook.UserPromptSubmitOutput{Output: hook.Output{Decision: "deny"}}, `{"decision":"block","reason":"a hook failed: `)
	})
	t.Run("UserPromptExpansion", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.UserPromptExpansionInput, hook.UserPromptExpansionOutput]) {
			h.UserPromptExpansion = m
		}, &hook.UserPromptExpansionOutput{Output: hook.Output{Decision: "deny"}}, `{"decision":"block","reason":"a hook failed: `)
	})
	t.Run("ElicitationResult", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.ElicitationResultInput, hook.ElicitationResultOutput]) {
			h.ElicitationResult = m
		},
			&hook.ElicitationResultOutput{Content: []int{1}}, `{"decision":"block","reason":"a hook failed: `)
	})
	t.Run("PreModelSwitch", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.PreModelSwitchInput, hook.PreModelSwitchOutput]) {
			h.PreModelSwitch = m
		},
			&hook.PreModelSwitchOutput{PermissionDecision: "no"}, `"hookEventName":"PreModelSwitch","permissionDecision":"deny"`)
	})
	t.Run("Elicitation", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.ElicitationInput, hook.ElicitationOutput]) {
			h.Elicitation = m
		},
			&hook.ElicitationOutput{Content: []int{1}}, `{"decision":"block","reason":"a hook failed: `)
	})
	t.Run("Stop", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.StopInput, hook.StopOutput]) { h.Stop = m },
			&hook.StopOutput{Output: hook.Output{Decision: "no"}}, "")
	})
	t.Run("PostToolUse", func(t *testing.T) {
		testFailing(t, func(h *hook.Hooks, m []hook.Matcher[hook.PostToolUseInput, hook.PostToolUseOutput]) {
			h.PostToolUse = m
		},
			&hook.PostToolUseOutput{UpdatedToolOutput: message.JSON("{")}, "")
	})
}

// The CLI shows the text of an error, as in hook-pre-throws.
func TestHookErrorText(t *testing.T) {
	matchers := hook.On("", func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		return nil, errors.New("hook boom")
	})
	matchers[0].OnFailure = hook.Continue
	withHooks(t, &hook.Hooks{PreToolUse: matchers}, func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(hookLine("r1", "hook_0", `{}`))
		if got := cli.given()["r1"]; got.err != "hook boom" {
			t.Errorf("%+v; want got.err == \"hook boom\"", got)
		}
	})
}

// A hook that takes 30 s does not block other hooks, control calls or messages.
func TestSlowHookDelaysNothing(t *testing.T) {
	var begun time.Time
	slow := func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		<-time.After(30 * time.Second)
		return nil, nil
	}
	quick := func(context.Context, *hook.PostToolUseInput) (*hook.PostToolUseOutput, error) { return nil, nil }
	withHooks(t, &hook.Hooks{PreToolUse: hook.On("", slow), PostToolUse: hook.On("", quick)}, func(t *testing.T, cli *memCLI, client *claude.Client) {
		begun = time.Now()
		cli.answers(map[string]string{"interrupt": `{"still_queued":[]}`})
		turn := send(t, client, "go")
		messages := collect(turn.Messages(t.Context()))
		cli.say(hookLine("slow 1", "hook_0", `{}`), hookLine("slow 2", "hook_0", `{}`), hookLine("quick", "hook_1", `{}`))
		cli.say(turnLines(turn.ID, "A1")...)
		if _, err := client.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := messages.ended(t); err != nil {
			t.Fatal(err)
		}
		answers := cli.given()
		if _, ok := answers["quick"]; !ok || len(answers) != 1 || time.Since(begun) != 0 {
			t.Errorf("%v after %v", answers, time.Since(begun))
		}
		<-time.After(31 * time.Second)
		if answers := cli.given(); len(answers) != 3 {
			t.Errorf("%v; want len(answers) == 3", answers)
		}
	})
}

// A cancellation by the CLI cancels only its hook and gets no answer; the end of the
// session cancels all hooks and waits for them.
func TestHookIsCancelled(t *testing.T) {
	var mu sync.Mutex
	var ended []string
	fn := func(ctx context.Context, in *hook.NotificationInput) (*hook.NotificationOutput, error) {
		<-ctx.Done()
		mu.Lock()
		defer mu.Unlock()
		ended = append(ended, in.Message)
		return nil, ctx.Err()
	}
	withHooks(t, &hook.Hooks{Notification: hook.On("", fn)}, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.say(hookLine("r1", "hook_0", `{"message":"one"}`), hookLine("r2", "hook_0", `{"message":"two"}`))
		cli.say(`{"type":"control_cancel_request","request_id":"r1"}`)
		if answers := cli.given(); len(answers) != 0 {
			t.Errorf("answers is %v; want len(answers) == 0", answers)
		}
		if !slices.Equal(ended, []string{"one"}) {
			t.Error(ended)
		}
		client.Close()
		if !slices.Equal(ended, []string{"one", "two"}) {
			t.Error(ended)
		}
	})
}

func blocking() *hook.Hooks {
	matchers := hook.On("", func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) { return nil, nil })
	matchers[0].OnFailure = hook.Block
	return &hook.Hooks{PreToolUse: matchers}
}

// With OnFailure Block no prompt is written before the CLI has confirmed the blocking
// (hook-pre-throws-block).
func TestPromptWaitsForBlocking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		opts := cli.options()
		opts.Hooks = blocking()
		messages := collect(claude.Query(t.Context(), "go", opts))
		if kinds := cli.kinds(); !slices.Equal(kinds, []string{"initialize"}) {
			t.Fatalf("kinds is %v; want slices.Equal(kinds, []string{\"initialize\"})", kinds)
		}
		cli.answerHooks(cli.read()[0], `"hook_on_failure_supported":true`)
		if kinds := cli.kinds(); !slices.Equal(kinds, []string{"initialize", "user"}) {
			t.Fatalf("kinds is %v; want slices.Equal(kinds, []string{\"initialize\", \"user\"})", kinds)
		}
		cli.Close()
		messages.ended(t)
	})
}

func TestBlockingIsRefused(t *testing.T) {
	for members, want := range map[string]claude.OnFailureError{
		`"pid":1`:                           {Applied: true},
		`"hook_on_failure_supported":false`: {Applied: true},
		`"hook_on_failure_supported":true,"hooks_applied":false`: {Known: true},
	} {
		for _, connect := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				cli := newCLI(t)
				cli.onLine = func(line string) { cli.answerHooks(line, members) }
				opts := cli.options()
				opts.Hooks = blocking()
				var err error
				if connect {
					_, err = claude.Connect(t.Context(), opts)
				} else {
					err = collect(claude.Query(t.Context(), "go", opts)).ended(t)
				}
				refused, ok := errors.AsType[*claude.OnFailureError](err)
				if !ok || *refused != want || !errors.Is(err, claude.ErrUnsupported) || !errors.As(err, new(*claude.HandshakeError)) {
					t.Errorf("%s: %v; want ok and *refused == want and errors.Is(err, claude.ErrUnsupported) and errors.As(err, new(*claude.HandshakeError))", members, err)
				}
				if kinds := cli.kinds(); !slices.Equal(kinds, []string{"initialize"}) {
					t.Errorf("%s: the CLI has read %v", members, kinds)
				}
			})
		}
	}
}

// A context that ends while a prompt waits ends the run.
func TestWaitingForBlockingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		opts := cli.options()
		opts.Hooks = blocking()
		ctx, cancel := context.WithCancelCause(t.Context())
		messages := collect(claude.Query(ctx, "go", opts))
		messages.running(t)
		enough := errors.New("enough")
		cancel(enough)
		if err := messages.ended(t); err != enough {
			t.Error(err)
		}
		if kinds := cli.kinds(); !slices.Equal(kinds, []string{"initialize"}) {
			t.Errorf("kinds is %v; want slices.Equal(kinds, []string{\"initialize\"})", kinds)
		}
	})
}

// The input stays open for hooks until the run has ended.
func TestHooksKeepTheInputOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.Hooks = &hook.Hooks{Stop: hook.On("", func(context.Context, *hook.StopInput) (*hook.StopOutput, error) { return nil, nil })}
		messages := collect(claude.Query(t.Context(), "go", opts))
		if kinds := cli.kinds(); !slices.Equal(kinds, []string{"initialize", "user"}) {
			t.Fatalf("kinds is %v; want slices.Equal(kinds, []string{\"initialize\", \"user\"})", kinds)
		}
		cli.say(state("running"))
		cli.say(turnLines("", "A1")...)
		if cli.inputClosed() {
			t.Error("closed at the result")
		}
		cli.say(state("idle"))
		if !cli.inputClosed() {
			t.Error("not closed when the run ended")
		}
		messages.ended(t)
	})
}
