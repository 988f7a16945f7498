package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// InterruptReceipt is the answer to an interrupt. It lists the prompts that are still queued
// and those that were cancelled, by their uuids.
type InterruptReceipt struct {
	// StillQueued are the uuids of prompts that will still run.
	StillQueued []string `json:"still_queued"`
	// Cancelled are the uuids of prompts that will not: their turns end with
	// [ErrCancelled].
	Cancelled []string `json:"cancelled,omitempty"`
	// PutBack are those of StillQueued that the turn had taken in already.
	PutBack []string `json:"put_back,omitempty"`

	answer
}

// Interrupt stops the turn that is running. Prompts that are queued run on; the
// receipt names them. A CLI that gives no receipt gives an empty one. When
// nothing is running nothing happens.
func (c *Client) Interrupt(ctx context.Context) (*InterruptReceipt, error) {
	return c.interrupt(ctx, nil)
}

// InterruptAll stops the turn that is running and drops every prompt that is
// queued; the receipt names them as cancelled. A CLI without the capability
// interrupt_cancel_queued_v1 leaves the queue alone and names it as such.
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

// SetModel changes the model of the turns to come; "" is the default one. It
// returns the name of the model that was chosen.
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
// [message.ModeBypassPermissions] unless it was started with it or with
// [Options.AllowDangerouslySkipPermissions].
func (c *Client) SetPermissionMode(ctx context.Context, mode message.PermissionMode) error {
	return c.Control(ctx, "set_permission_mode", map[string]any{"mode": mode}, nil)
}

// SetMaxThinkingTokens changes how much the model may think: nil is the default,
// 0 not at all.
func (c *Client) SetMaxThinkingTokens(ctx context.Context, tokens *int) error {
	return c.Control(ctx, "set_max_thinking_tokens", map[string]any{"max_thinking_tokens": tokens}, nil)
}

// SetThinkingDisplay changes how much of its thinking the model shows in the
// turns to come: summarized, omitted or highlights. How much it thinks stays.
func (c *Client) SetThinkingDisplay(ctx context.Context, display string) error {
	return c.Control(ctx, "set_max_thinking_tokens", map[string]string{"thinking_display": display}, nil)
}

// ServerInfo returns what the CLI reported about itself when it was connected: its commands,
// models, subagents and account among others. Its commands are kept up to date. It is
// read-only.
func (c *Client) ServerInfo() *ServerInfo { return c.s.serverInfo() }
