package mcptool

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call describes the call of a tool that runs in this process: its id, its name, and the client
// that calls.
type Call struct {
	// ToolUseID is the id of the model's tool_use block.
	ToolUseID string
	// Name is the name of the tool at its server.
	Name string
	// Meta is the call's _meta. It must not be changed.
	Meta map[string]any
	// Session is the client that calls, for logging and for questions of the
	// server's own.
	Session *mcp.ServerSession

	token any
}

type callKey struct{}

// CallInfo is the call that ctx, the context of a tool, belongs to; an empty one
// elsewhere. It works in tools of [NewTool] and in those of any server that is
// given to a client.
func CallInfo(ctx context.Context) *Call {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call
	}
	return &Call{}
}

func withCall(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	if _, ok := ctx.Value(callKey{}).(*Call); ok {
		return ctx
	}
	call := &Call{Name: req.Params.Name, Meta: req.Params.Meta, Session: req.Session, token: req.Params.GetProgressToken()}
	call.ToolUseID, _ = call.Meta["claudecode/toolUseId"].(string)
	return context.WithValue(ctx, callKey{}, call)
}

// Progress tells how far the call has come; a total of 0 is not known. Nothing
// happens when the caller did not ask for it.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) error {
	if c.token == nil || c.Session == nil {
		return nil
	}
	return c.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: c.token, Progress: done, Total: total, Message: message,
	})
}
