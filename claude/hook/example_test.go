package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/spawn"
)

// fires returns a simulated CLI that calls the first hook with an input for every prompt,
// and replies with the answer of the hook.
func fires(input string) spawn.Spawner {
	return claudetest.InProcess(func(cli *claudetest.CLI) int {
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		for {
			if _, err := cli.Prompt(); err != nil {
				return 0
			}
			answer, err := cli.Request("hook_callback", map[string]any{"callback_id": "hook_0", "input": json.RawMessage(input)})
			if failed, ok := errors.AsType[*claude.ControlError](err); ok {
				cli.Turn("warning: " + failed.Message)
				continue
			}
			cli.Turn(string(answer))
		}
	})
}

// show runs a prompt and prints the result.
func show(opts *claude.Options) {
	result, err := claude.Run(context.Background(), "clean up", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
}

const deletes = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf build"},"tool_use_id":"toolu_1"}`

// Refuse some tool calls, regardless of the permission rules.
func ExamplePreToolUseFunc() {
	guard := func(_ context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		input, err := tool.Decode(in)
		if err != nil {
			return nil, err // refuses the call
		}
		if bash, ok := input.(*tool.BashInput); ok && strings.HasPrefix(bash.Command, "rm ") {
			return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionDeny, PermissionDecisionReason: "nothing is deleted here"}, nil
		}
		return nil, nil // no opinion
	}
	show(&claude.Options{
		Hooks:   &hook.Hooks{PreToolUse: hook.On("Bash", guard)},
		Spawner: fires(deletes),
	})
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"nothing is deleted here"}}
}

// Run a tool with another input.
func ExamplePreToolUseOutput() {
	dryRun := func(_ context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		var bash tool.BashInput
		if err := in.ToolInput.Decode(&bash); err != nil {
			return nil, err
		}
		bash.Command = "echo would run: " + bash.Command
		return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionAllow, UpdatedInput: bash}, nil
	}
	show(&claude.Options{
		Hooks:   &hook.Hooks{PreToolUse: hook.On("Bash", dryRun)},
		Spawner: fires(deletes),
	})
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"echo would run: rm -rf build"}}}
}

// A failing hook refuses the tool call, prompt or change, unless OnFailure is set.
func ExampleRefuse() {
	broken := func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		return nil, errors.New("no policy")
	}
	matchers := hook.On("", broken)
	show(&claude.Options{Hooks: &hook.Hooks{PreToolUse: matchers}, Spawner: fires(deletes)})
	matchers[0].OnFailure = hook.Continue
	show(&claude.Options{Hooks: &hook.Hooks{PreToolUse: matchers}, Spawner: fires(deletes)})
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a hook failed: no policy"}}
	// warning: no policy
}

// Answer a request for permission in place of the user, and allow the same call from now
// on.
func ExamplePermissionRequestOutput() {
	always := func(_ context.Context, in *hook.PermissionRequestInput) (*hook.PermissionRequestOutput, error) {
		return &hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{
			Behavior:           hook.DecisionAllow,
			UpdatedPermissions: in.PermissionSuggestions,
		}}, nil
	}
	show(&claude.Options{
		Hooks: &hook.Hooks{PermissionRequest: hook.On("Write|Edit", always)},
		Spawner: fires(`{"hook_event_name":"PermissionRequest","tool_name":"Write","tool_input":{"file_path":"/a","content":"b"},
			"permission_suggestions":[{"destination":"session","mode":"acceptEdits","type":"setMode"}]}`),
	})
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"destination":"session","mode":"acceptEdits","type":"setMode"}]}}}
}

// Add to a prompt, or refuse it.
func ExampleUserPromptSubmitOutput() {
	check := func(_ context.Context, in *hook.UserPromptSubmitInput) (*hook.UserPromptSubmitOutput, error) {
		if strings.Contains(in.Prompt, "password") {
			return &hook.UserPromptSubmitOutput{Output: hook.Output{Decision: hook.DecisionBlock, Reason: "no secrets"}}, nil
		}
		return &hook.UserPromptSubmitOutput{AdditionalContext: "It is Sunday."}, nil
	}
	for _, prompt := range []string{"what day is it?", "my password is 1234"} {
		show(&claude.Options{
			Hooks:   &hook.Hooks{UserPromptSubmit: hook.On("", check)},
			Spawner: fires(fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","prompt":%q}`, prompt)),
		})
	}
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"It is Sunday."}}
	// {"decision":"block","reason":"no secrets"}
}

// Keep a turn going until the work is done, but only once.
func ExampleStopOutput() {
	review := func(_ context.Context, in *hook.StopInput) (*hook.StopOutput, error) {
		if in.StopHookActive {
			return nil, nil
		}
		return &hook.StopOutput{Output: hook.Output{Decision: hook.DecisionBlock, Reason: "run the tests first"}}, nil
	}
	for _, active := range []bool{false, true} {
		show(&claude.Options{
			Hooks:   &hook.Hooks{Stop: hook.On("", review)},
			Spawner: fires(fmt.Sprintf(`{"hook_event_name":"Stop","stop_hook_active":%t}`, active)),
		})
	}
	// Output:
	// {"decision":"block","reason":"run the tests first"}
	// {}
}

// Observe events without a decision and without delaying them.
func ExampleOutput() {
	audit := func(_ context.Context, in *hook.PostToolUseInput) (*hook.PostToolUseOutput, error) {
		fmt.Println(in.ToolName, in.ToolInput)
		return &hook.PostToolUseOutput{Output: hook.Output{Async: true}}, nil
	}
	show(&claude.Options{
		Hooks:   &hook.Hooks{PostToolUse: hook.On("", audit)},
		Spawner: fires(`{"hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/a"},"tool_response":{}}`),
	})
	// Output:
	// Read {"file_path":"/a"}
	// {"async":true}
}

// An event that is newer than this package.
func ExampleOtherFunc() {
	fn := func(_ context.Context, in *hook.OtherInput) (*hook.OtherOutput, error) {
		var own struct{ Color string }
		if err := in.Raw().Decode(&own); err != nil {
			return nil, err
		}
		return &hook.OtherOutput{Specific: message.JSON(fmt.Sprintf(`{"instead":%q}`, "not "+own.Color))}, nil
	}
	show(&claude.Options{
		Hooks:   &hook.Hooks{Other: map[string][]hook.Matcher[hook.OtherInput, hook.OtherOutput]{"PaintDried": hook.On("", fn)}},
		Spawner: fires(`{"hook_event_name":"PaintDried","color":"red"}`),
	})
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PaintDried","instead":"not red"}}
}
