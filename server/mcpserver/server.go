package mcpserver

import (
	"context"
	"iter"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// Service is the part of a server's client that the tools use. A [client.Client] is one.
type Service interface {
	// Call calls a method; see [client.Client.Call].
	Call(ctx context.Context, method string, params, result any) error
	// Follow yields the messages of a session; see [client.Client.Follow].
	Follow(ctx context.Context, session string, after *api.Cursor) iter.Seq2[client.Event, error]
}

const instructions = `Tools for the sessions of a Parley server. A session is a coding agent with its conversation and its directory. ` +
	`Start one with session_start or continue one with session_send, then call session_wait until it is idle or asks, and session_read for its messages. ` +
	`A session that asks waits for request_answer, which only some tokens may call; else a person answers.`

// New returns an MCP server with the tools. It keeps no state between calls.
func New(srv Service, version string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "parley", Version: version}, &mcp.ServerOptions{Instructions: instructions})
	for _, add := range tools {
		add(s, srv)
	}
	return s
}

// tools adds each tool to a server.
var tools = []func(*mcp.Server, Service){
	tool("session_list", "Lists sessions with their state: idle, running, requires_action and others.", readOnly, list),
	tool("session_start", "Starts a session in a directory of the server and sends it a prompt.", acting, start),
	tool("session_send", "Sends a prompt to a session. It queues while a turn runs.", acting, send),
	tool("session_wait", "Waits until a session is not busy: its turn and its queue have ended, or it asks. Call it again if it was busy for longer.", readOnly, wait),
	tool("session_read", "Returns the end of a session's conversation as Markdown.", readOnly, read),
	tool("session_interrupt", "Stops the running turn of a session.", acting, interrupt),
	tool("session_diff", "Returns what a session has changed in its files.", readOnly, diff),
	tool("request_list", "Lists the permissions and questions that wait for an answer.", readOnly, requests),
	tool("request_answer", "Answers a permission or a question. The first answer counts.", acting, answer),
}

type effect bool

const (
	readOnly effect = true
	acting   effect = false
)

// tool returns a function that adds a tool. Its schemas come from the types of run.
func tool[In, Out any](name, description string, e effect, run func(context.Context, Service, In) (Out, error)) func(*mcp.Server, Service) {
	return func(s *mcp.Server, srv Service) {
		t := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: bool(e)}}
		mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			out, err := run(ctx, srv, in)
			return nil, out, err
		})
	}
}
