package codex

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

// The kinds of an [Approval]. The kind determines which of its fields are set, and which decisions
// apply.
const (
	ApproveCommand     = "command"     // a command may run
	ApproveFileChange  = "fileChange"  // a patch may be applied
	ApprovePermissions = "permissions" // more permissions, of which a part can be granted
	ApproveMCPTool     = "mcpTool"     // a tool of an MCP server may run
)

// Approval is an action that the agent may take only if the client allows it: a command, a
// patch, or more permissions.
type Approval struct {
	// Kind is one of the constants above.
	Kind string
	// ThreadID, TurnID and ItemID are those of the request. The thread can be a subagent: see
	// [Client.Origin].
	ThreadID, TurnID, ItemID string
	// Request is the server's request.
	Request item.Request
	// Item is the item that waits for the approval, or nil if it is unknown. For a patch it has the
	// changes, which are not in the request.
	Item item.Item
	// Command and CWD are set for a command, Changes for a patch.
	Command, CWD string
	Changes      []item.Change
	// Reason is the reason that the agent gives.
	Reason string
	// Server, Message and Arguments are set for a tool of an MCP server: its server, the
	// question for the user, and the arguments of the tool.
	Server, Message string
	Arguments       item.JSON
	// Permissions are the requested permissions.
	Permissions item.JSON
	// Available are the decisions that the server suggests. Others are accepted too.
	Available []item.JSON
	// Amendment is the rule that [AcceptWithAmendment] would add, as proposed.
	Amendment []string
}

// Decision answers an [Approval]. The zero value declines. Decisions can be compared with == to
// the variables of this package.
type Decision struct {
	kind        string
	amendment   item.JSON
	network     *item.NetworkAmendment
	permissions item.JSON
}

// Decisions without a parameter.
var (
	// Accept allows the action of an [Approval] once. The agent asks again before the next one.
	Accept = Decision{kind: "accept"}
	// AcceptForSession allows the same again while the server runs: the same command, the
	// same file, the same tool.
	AcceptForSession = Decision{kind: "acceptForSession"}
	// AcceptAlways allows a tool of an MCP server from now on. For other kinds it declines.
	AcceptAlways = Decision{kind: "always"}
	// Decline refuses the action of an [Approval]. The agent is told and continues the turn.
	Decline = Decision{}
	// Cancel refuses the action of an [Approval] and interrupts the turn.
	Cancel = Decision{kind: "cancel"}
)

// AcceptWithAmendment allows a command and adds a rule for commands that begin with prefix
// to the user's configuration. For other kinds it declines.
func AcceptWithAmendment(prefix []string) Decision {
	return Decision{kind: "amend", amendment: item.ValueOf(prefix)}
}

// ApplyNetworkAmendment allows or denies a host from now on, as the server proposed it in
// [item.CommandApproval]. For other kinds than commands it declines.
func ApplyNetworkAmendment(a item.NetworkAmendment) Decision {
	return Decision{kind: "network", network: &a}
}

// Grant allows a part of the permissions that are asked for, for the turn or, if session is set, for
// the session. For other kinds it declines.
func Grant(permissions item.JSON, session bool) Decision {
	if session {
		return Decision{kind: "grantForSession", permissions: permissions}
	}
	return Decision{kind: "grant", permissions: permissions}
}

// command returns the answer to a request to run a command.
func (d Decision) command() any {
	switch d.kind {
	case "accept", "acceptForSession", "cancel":
		return decided(d.kind)
	case "amend":
		return decided(map[string]any{"acceptWithExecpolicyAmendment": map[string]any{"execpolicy_amendment": d.amendment}})
	case "network":
		return decided(map[string]any{"applyNetworkPolicyAmendment": map[string]any{"network_policy_amendment": d.network}})
	}
	return decided("decline")
}

// fileChange returns the answer to a request to apply a patch.
func (d Decision) fileChange() any {
	switch d.kind {
	case "accept", "acceptForSession", "cancel":
		return decided(d.kind)
	}
	return decided("decline")
}

func decided(d any) any { return map[string]any{"decision": d} }

// grants returns the answer to a request for permissions. An empty grant is a refusal.
func (d Decision) grants(asked item.JSON) any {
	granted, scope := item.JSON("{}"), "turn"
	switch d.kind {
	case "accept":
		granted = asked
	case "acceptForSession":
		granted, scope = asked, "session"
	case "grant":
		granted = d.permissions
	case "grantForSession":
		granted, scope = d.permissions, "session"
	}
	granted = cmp.Or(granted, "{}")
	return map[string]any{"permissions": granted, "scope": scope}
}

// elicitation returns the answer to an approval that arrives as an elicitation.
func (d Decision) elicitation() any {
	switch d.kind {
	case "accept":
		return map[string]any{"action": "accept", "content": map[string]any{}}
	case "acceptForSession":
		return map[string]any{"action": "accept", "content": map[string]any{}, "_meta": map[string]any{"persist": "session"}}
	case "always":
		return map[string]any{"action": "accept", "content": map[string]any{}, "_meta": map[string]any{"persist": "always"}}
	case "cancel":
		return map[string]any{"action": "cancel", "content": nil}
	}
	return map[string]any{"action": "decline", "content": nil}
}

// legacy returns the answer to the older requests.
func (d Decision) legacy() any {
	switch d.kind {
	case "accept":
		return decided("approved")
	case "acceptForSession":
		return decided("approved_for_session")
	case "cancel":
		return decided("abort")
	}
	return decided("denied")
}

// approve calls the callback. Every failure declines.
func (c *Client) approve(ctx context.Context, a *Approval) Decision {
	h := a.Request.Head()
	a.ThreadID, a.TurnID, a.ItemID = h.ThreadID, h.TurnID, h.ItemID
	c.update(func(r *routes) {
		if t := r.threads[h.ThreadID]; t != nil && h.ItemID != "" {
			if o := t.track.find(h.TurnID, h.ItemID); o != nil {
				a.Item = o.partial.Item()
			}
		}
	})
	switch i := a.Item.(type) {
	case *item.FileChange:
		a.Changes = i.Changes
	case *item.CommandExecution:
		setDefault(&a.Command, i.Command)
		setDefault(&a.CWD, i.CWD)
	}
	if c.opts.Approve == nil {
		return Decline
	}
	d, err := callback(ctx, c, "Approve", func(ctx context.Context) (Decision, error) { return c.opts.Approve(ctx, a) })
	if err != nil {
		return Decline
	}
	return d
}

// callback runs a callback of the user. It turns a panic into an error, and returns without waiting
// for a callback that ignores the end of its context.
func callback[T any](ctx context.Context, c *Client, name string, f func(context.Context) (T, error)) (T, error) {
	if c.opts.CallbackTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.opts.CallbackTimeout, fmt.Errorf("codex: the callback %s took longer than %v", name, c.opts.CallbackTimeout))
		defer cancel()
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: fmt.Errorf("codex: the callback %s ended its goroutine", name)}
		defer func() {
			if v := recover(); v != nil {
				o.err = fmt.Errorf("codex: the callback %s panicked: %v", name, v)
			}
			done <- o
		}()
		o.value, o.err = f(ctx)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // The callback may return an answer when its context ends.
		case <-time.After(c.opts.CloseGrace / 2):
		}
		var zero T
		o.value, o.err = zero, context.Cause(ctx)
	}
	if o.err != nil {
		c.opts.Logger.Warn("codex: a request was declined because its callback failed", "callback", name, "err", o.err)
	}
	return o.value, o.err
}
