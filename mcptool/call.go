package mcptool

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call describes the call of a tool that runs in this process: its id, its name, and the calling
// client.
type Call struct {
	// ToolUseID is the id of the model's tool_use block.
	ToolUseID string
	// Name is the name of the tool at its server.
	Name string
	// Meta is the _meta of the call. It must not be modified.
	Meta map[string]any
	// Session is the MCP session of the calling client, for logging and for requests to the client.
	// It is nil for a call without a server, as from Codex.
	Session *mcp.ServerSession

	token any
}

type callKey struct{}

// CallInfo returns the call of ctx, the context of a tool, or an empty Call for any other context.
// It works in tools of [NewTool] and in those of any server that is passed to a client.
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

// Progress reports the progress of the call to the client. A total of 0 means unknown. It has no
// effect if the client did not request progress.
func (c *Call) Progress(ctx context.Context, done, total float64, message string) error {
	if c.token == nil || c.Session == nil {
		return nil
	}
	return c.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: c.token, Progress: done, Total: total, Message: message,
	})
}
