package claude

import (
	"context"
	"slices"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// allHooks returns this package's hooks followed by the caller's.
func (l *launch) allHooks() *hook.Hooks {
	if l.Hooks == nil && l.Guard == nil {
		return nil // most sessions have no hooks and need not wait
	}
	var all hook.Hooks
	if l.Hooks != nil {
		all = *l.Hooks
	}
	all.PreToolUse = slices.Concat(l.guards(), all.PreToolUse)
	return &all
}

// hookCallback answers the CLI's request to call a hook.
func (r *responder) hookCallback(ctx context.Context, req control.Request) ([]byte, error) {
	var body struct {
		CallbackID string       `json:"callback_id"`
		Input      message.JSON `json:"input"`
		ToolUseID  string       `json:"tool_use_id"`
	}
	if err := jsonwire.Unmarshal(req.Body, &body); err != nil {
		return nil, err
	}
	answered := r.watchHook(body.Input)
	answer, found, err := r.launch.hooks.Call(ctx, body.CallbackID, hook.Invocation{CallID: body.ToolUseID, Input: body.Input, Start: r.start,
		Panicked: func(v any, stack []byte) { r.launch.panicked(req, v, stack) }})
	answered(answer)
	if !found && r.adopted {
		return refusal(body.Input), nil
	}
	if !found {
		return nil, &control.Error{Message: "No hook callback found for ID: " + body.CallbackID}
	}
	return answer, err
}
