package codex

import (
	"context"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// Elicitation answers a question of an MCP server to the user. The zero value declines to
// answer.
type Elicitation struct {
	// Action is "accept", "decline" or "cancel".
	Action string
	// Content holds the values of the form.
	Content item.JSON
}

// errResolved is the cause of a callback's context when its request has ended.
var errResolved = errors.New("codex: the request is over")

// ask is a request of the server that is being answered.
type ask struct {
	turnID string
	cancel context.CancelCauseFunc
}

func (a *ask) resolved() { a.cancel(errResolved) }

// answer answers a request of the server.
func (c *Client) answer(ctx context.Context, m *jsonrpc.Message) (any, error) {
	l, err := item.DecodeServer([]byte(m.Raw))
	req, ok := l.(item.Request)
	if err != nil || !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the request cannot be read"}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &ask{turnID: req.Head().TurnID, cancel: cancel}
	c.update(func(r *routes) { r.asks[req.Head().ID] = a })
	defer c.update(func(r *routes) {
		if r.asks[req.Head().ID] == a {
			delete(r.asks, req.Head().ID)
		}
	})
	return c.respond(ctx, req)
}

// respond calls the callback that answers a request.
func (c *Client) respond(ctx context.Context, req item.Request) (any, error) {
	switch req := req.(type) {
	case *item.CommandApproval:
		return c.approve(ctx, &Approval{
			Kind: ApproveCommand, Request: req, Command: req.Command, CWD: req.CWD, Reason: req.Reason,
			Available: req.AvailableDecisions, Amendment: req.ProposedExecpolicyAmendment,
		}).command(), nil
	case *item.FileChangeApproval:
		return c.approve(ctx, &Approval{Kind: ApproveFileChange, Request: req, Reason: req.Reason}).fileChange(), nil
	case *item.PermissionsApproval:
		a := &Approval{Kind: ApprovePermissions, Request: req, Reason: req.Reason, CWD: req.CWD, Permissions: req.Permissions}
		return c.approve(ctx, a).grants(req.Permissions), nil
	case *item.ElicitationRequest:
		return c.elicit(ctx, req)
	case *item.UserInputRequest:
		return c.askUser(ctx, req)
	case *item.ToolCallRequest:
		return c.callTool(ctx, req), nil
	case *item.ApplyPatchApproval:
		return c.approve(ctx, &Approval{Kind: ApproveFileChange, Request: req, Reason: req.Reason}).legacy(), nil
	case *item.ExecCommandApproval:
		return c.approve(ctx, &Approval{Kind: ApproveCommand, Request: req, Reason: req.Reason, CWD: req.CWD, Command: joinCommand(req.Command)}).legacy(), nil
	}
	return c.handle(ctx, req)
}

func joinCommand(argv []string) string {
	return string(item.ValueOf(argv)) // as JSON: quoting for a shell would be a guess
}

// elicit answers a question of an MCP server, or an approval in the form of one.
func (c *Client) elicit(ctx context.Context, req *item.ElicitationRequest) (any, error) {
	if meta, ok := req.Approval(); ok {
		a := &Approval{Kind: ApproveMCPTool, Request: req, Server: req.ServerName, Message: req.Message, Arguments: meta.ToolParams}
		return c.approve(ctx, a).elicitation(), nil
	}
	declined := map[string]any{"action": "decline", "content": nil}
	if c.opts.Elicit == nil {
		return declined, nil
	}
	e, err := callback(ctx, c, "Elicit", func(ctx context.Context) (Elicitation, error) { return c.opts.Elicit(ctx, req) })
	if err != nil || e.Action == "" {
		return declined, nil
	}
	return map[string]any{"action": e.Action, "content": e.Content}, nil
}

// askUser answers questions of the agent.
func (c *Client) askUser(ctx context.Context, req *item.UserInputRequest) (any, error) {
	if c.opts.Ask == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the user cannot be asked"}
	}
	answers, err := callback(ctx, c, "Ask", func(ctx context.Context) (map[string][]string, error) { return c.opts.Ask(ctx, req) })
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for id, list := range answers {
		out[id] = map[string]any{"answers": list}
	}
	return map[string]any{"answers": out}, nil
}

// handle answers requests without a specific callback.
func (c *Client) handle(ctx context.Context, req item.Request) (any, error) {
	if c.opts.Handle != nil {
		return callback(ctx, c, "Handle", func(ctx context.Context) (any, error) { return c.opts.Handle(ctx, req) })
	}
	if _, ok := req.(*item.CurrentTimeRead); ok {
		return map[string]any{"currentTimeAt": time.Now().Unix()}, nil
	}
	return nil, jsonrpc.MethodNotFound(item.RequestMethod(req))
}
