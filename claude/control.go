package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// InterruptReceipt is the answer to an interrupt. It lists the prompts that are still queued
// and those that were cancelled, by their uuids.
type InterruptReceipt struct {
	// StillQueued are the uuids of prompts that remain queued.
	StillQueued []string `json:"still_queued"`
	// Cancelled are the uuids of dropped prompts: their turns end with [ErrCancelled].
	Cancelled []string `json:"cancelled,omitempty"`
	// PutBack are the prompts of StillQueued that the turn had already taken.
	PutBack []string `json:"put_back,omitempty"`

	answer
}

// Interrupt stops the running turn. Queued prompts still run; the receipt lists them. The receipt
// is empty if the CLI does not send one. Without a running turn it has no effect.
func (c *Client) Interrupt(ctx context.Context) (*InterruptReceipt, error) {
	return c.interrupt(ctx, nil)
}

// InterruptAll stops the running turn and drops all queued prompts; the receipt lists them
// as cancelled. A CLI without the capability interrupt_cancel_queued_v1 keeps the queue and
// lists its prompts as still queued.
func (c *Client) InterruptAll(ctx context.Context) (*InterruptReceipt, error) {
	return c.interrupt(ctx, map[string]bool{"cancel_queued": true})
}

func (c *Client) interrupt(ctx context.Context, fields any) (*InterruptReceipt, error) {
	receipt, err := ask[InterruptReceipt](ctx, c, "interrupt", fields)
	if err == nil {
		c.r.cancelled(receipt.Cancelled)
	}
	return receipt, err
}

// SetModel changes the model of later turns; "" selects the default model. It returns the
// name of the selected model.
func (c *Client) SetModel(ctx context.Context, model string) (string, error) {
	fields := struct {
		Model string `json:"model,omitempty"`
	}{model}
	var answer struct {
		Model string `json:"model"`
	}
	err := c.Control(ctx, "set_model", fields, &answer)
	return answer.Model, err
}

// SetPermissionMode changes the permission mode. The CLI refuses
// [message.ModeBypassPermissions] unless it was started with this mode or with
// [Options.AllowDangerouslySkipPermissions].
func (c *Client) SetPermissionMode(ctx context.Context, mode message.PermissionMode) error {
	return c.Control(ctx, "set_permission_mode", map[string]any{"mode": mode}, nil)
}

// SetMaxThinkingTokens limits the thinking of the model in tokens: nil means the default, 0
// disables thinking.
func (c *Client) SetMaxThinkingTokens(ctx context.Context, tokens *int) error {
	return c.Control(ctx, "set_max_thinking_tokens", map[string]any{"max_thinking_tokens": tokens}, nil)
}

// SetThinkingDisplay changes how much of its thinking the model shows in later turns:
// summarized, omitted or highlights. It does not change how much the model thinks.
func (c *Client) SetThinkingDisplay(ctx context.Context, display string) error {
	return c.Control(ctx, "set_max_thinking_tokens", map[string]string{"thinking_display": display}, nil)
}

// ServerInfo returns the information that the CLI reported when it was connected, such as
// its commands, models, subagents and account. The list of commands is kept up to date. The
// result is read-only.
func (c *Client) ServerInfo() *ServerInfo { return c.s.serverInfo() }
