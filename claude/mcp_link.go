package claude

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/mcptool"
)

// mcpLink connects a session with one server of this process.
type mcpLink struct {
	host *mcpHost
	name string
	def  MCPServer

	mu      sync.Mutex
	conn    *mcpConn // nil before the first message
	changed bool     // the server has reported a change of its tools
	gone    bool     // the CLI may no longer use the server
}

// cliInfo is the client information that the CLI sends to servers.
var cliInfo = &mcp.InitializeParams{
	ProtocolVersion: "2025-11-25",
	Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
		Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
	}},
	ClientInfo: &mcp.Implementation{Name: "claude-code", Title: "Claude Code", Version: Version},
}

// connection returns the connection that a message belongs to. A server accepts
// initialize once per session, so each initialize starts a new one. If the first message
// is another one, the CLI assumes that the server is initialized.
func (l *mcpLink) connection(method string) (*mcpConn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	greets := method == "initialize"
	switch {
	case l.gone:
		return nil, errServerSession
	case l.conn != nil && !greets:
		return l.conn, nil
	case l.conn != nil:
		l.conn.Close()
	}
	opts := &mcp.ServerSessionOptions{}
	if !greets {
		opts.State = &mcp.ServerSessionState{
			InitializeParams: cliInfo, InitializedParams: &mcp.InitializedParams{}, NegotiatedProtocolVersion: cliInfo.ProtocolVersion,
		}
	}
	conn, err := l.connect(opts)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	return conn, nil
}

// connect starts a session with the server.
func (l *mcpLink) connect(opts *mcp.ServerSessionOptions) (*mcpConn, error) {
	mcptool.Guard(l.def.Server)
	conn := newMCPConn()
	conn.emit = func(ctx context.Context, req *jsonrpc.Request) error { return l.emit(ctx, conn, req) }
	ctx := mcptool.WithPanicReport(context.Background(), l.panicked)
	var err error
	l.host.update(func(st *mcpHostState) {
		if st.over {
			err = errServerSession
			return
		}
		var session *mcp.ServerSession
		if session, err = l.def.Server.Connect(ctx, conn, opts); err == nil {
			st.sessions = append(st.sessions, session)
		}
	})
	return conn, err
}

func (l *mcpLink) panicked(value any, stack []byte) {
	l.host.launch.logger().Error("claude: a tool server panicked", "server", l.name, "panic", value, "stack", string(stack))
}

// emit handles a message that the server sends by itself.
func (l *mcpLink) emit(ctx context.Context, conn *mcpConn, req *jsonrpc.Request) error {
	switch {
	case req.Method == "notifications/tools/list_changed":
		l.mu.Lock()
		l.changed = true
		l.mu.Unlock()
		if string(req.Params) == "{}" { // as the official SDK writes it
			req = &jsonrpc.Request{ID: req.ID, Method: req.Method}
		}
	case req.Method == "elicitation/create" && !conn.asks.Load():
		l.elicit(ctx, conn, req)
		return nil
	}
	return l.host.emit(ctx, mcpOutgoing{l.name, req})
}

// answer returns the server's answer to a request, as JSON.
func (l *mcpLink) answer(ctx context.Context, req *jsonrpc.Request) ([]byte, error) {
	asks := false
	if req.Method == "initialize" {
		req = &jsonrpc.Request{ID: req.ID, Method: req.Method, Params: req.Params}
		req.Params, asks = claimElicitation(req.Params)
	}
	resp, err := l.call(ctx, req, asks)
	if err != nil {
		return nil, err
	}
	return jsonrpc.EncodeMessage(resp)
}

// call passes a request to the server; asks is true for an initialize if the other side
// can ask the user.
func (l *mcpLink) call(ctx context.Context, req *jsonrpc.Request, asks bool) (*jsonrpc.Response, error) {
	conn, err := l.connection(req.Method)
	if err != nil {
		return nil, err
	}
	if req.Method == "initialize" {
		conn.asks.Store(asks)
	}
	resp, err := conn.call(ctx, req)
	if err != nil || resp.Error != nil {
		return resp, err
	}
	switch req.Method {
	case "tools/call":
		resp.Result = cleanCallResult(resp.Result)
	case "tools/list":
		resp.Result = cleanToolList(resp.Result, l.def.AlwaysLoad)
	}
	return resp, nil
}

// put passes on a message without an answer.
func (l *mcpLink) put(msg jsonrpc.Message) error {
	conn, err := l.connection("")
	if err != nil {
		return err
	}
	if notice, ok := msg.(*jsonrpc.Request); ok && notice.Method == "notifications/cancelled" {
		conn.withdraw(notice)
	} else {
		conn.put(msg)
	}
	return nil
}

func (l *mcpLink) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	if l.conn != nil {
		l.conn.Close()
	}
}
