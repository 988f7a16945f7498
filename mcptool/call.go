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
	// Meta is the _meta of the call. It must not be changed.
	Meta map[string]any
	// Session is the MCP session of the client that calls, for logging and for requests to the
	// client. It is nil for a call without a server, as Codex makes them.
	Session *mcp.ServerSession

	token any
}

type callKey struct{}

// CallInfo returns the call that ctx, the context of a tool, belongs to, or an empty Call for any
// other context. It works in tools of [NewTool] and in those of any server that is given to a
// client.
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

// Progress reports to the client how far the call has come. A total of 0 means that it is not
// known. Progress does nothing if the client did not ask for progress.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) error {
	if c.token == nil || c.Session == nil {
		return nil
	}
	return c.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: c.token, Progress: done, Total: total, Message: message,
	})
}
