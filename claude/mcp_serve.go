package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/claude/internal/control"
)

func (l *launch) hasToolServers() bool {
	for _, s := range l.MCPServers {
		if s.Server != nil {
			return true
		}
	}
	return false
}

// mcpHost holds the in-process servers that a session's CLI may use. The zero value has no
// servers.
type mcpHost struct {
	launch      *launch
	elicitation callback // answers elicitations of servers
	// send writes a request to the CLI, without waiting for its answer.
	send func(ctx context.Context, request []byte) error

	mu     sync.Mutex
	state  mcpHostState
	asking sync.WaitGroup // incremented only inside update, before the end
}

// mcpHostState is the mutable state of an mcpHost. It changes only inside update.
type mcpHostState struct {
	links    map[string]*mcpLink
	sessions []*mcp.ServerSession // all past and current sessions
	open     bool                 // initialize was written: servers may send messages
	held     []mcpOutgoing        // messages queued until then
	over     bool
}

// mcpOutgoing is a message that a server sends by itself.
type mcpOutgoing struct {
	server string
	req    *jsonrpc.Request
}

func (h *mcpHost) update(f func(st *mcpHostState)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.state)
}

func (h *mcpHost) link(name string) (l *mcpLink) {
	h.update(func(st *mcpHostState) { l = st.links[name] })
	return l
}

// set replaces the in-process servers that the CLI may use. A server that remains keeps its
// session.
func (h *mcpHost) set(servers map[string]MCPServer) map[string]*mcpLink {
	links := map[string]*mcpLink{}
	var gone []*mcpLink
	h.update(func(st *mcpHostState) {
		for name, def := range servers {
			if def.Server == nil {
				continue
			}
			l := st.links[name]
			if l == nil || l.def.Server != def.Server {
				l = &mcpLink{host: h, name: name, def: def}
			}
			links[name] = l
		}
		for name, l := range st.links {
			if links[name] != l {
				gone = append(gone, l)
			}
		}
		st.links = links
	})
	for _, l := range gone {
		l.close()
	}
	return links
}

// open sends the queued messages of servers, in order, after initialize.
func (h *mcpHost) open() {
	for {
		var held []mcpOutgoing
		h.update(func(st *mcpHostState) {
			held, st.held = st.held, nil
			st.open = len(held) == 0
		})
		if len(held) == 0 {
			return
		}
		for _, m := range held {
			// The end of the session is reported elsewhere.
			_ = h.write(context.Background(), m)
		}
	}
}

// emit sends a message of a server to the CLI, or queues it until initialize was written.
func (h *mcpHost) emit(ctx context.Context, m mcpOutgoing) error {
	open := false
	h.update(func(st *mcpHostState) {
		if open = st.open; !open {
			st.held = append(st.held, m)
		}
	})
	if !open {
		return nil
	}
	return h.write(ctx, m)
}

func (h *mcpHost) write(ctx context.Context, m mcpOutgoing) error {
	text, err := jsonrpc.EncodeMessage(m.req)
	if err != nil {
		return err
	}
	request, err := controlRequest("mcp_message", map[string]any{"server_name": m.server, "message": json.RawMessage(text)})
	if err != nil {
		return err
	}
	// The answer is empty; the answer to a server's request arrives as a separate message of
	// the CLI.
	return h.send(ctx, request)
}

// close ends every session; wait waits for them.
func (h *mcpHost) close() {
	var links map[string]*mcpLink
	h.update(func(st *mcpHostState) { st.over, links = true, st.links })
	for _, l := range links {
		l.close()
	}
}

func (h *mcpHost) wait() {
	var sessions []*mcp.ServerSession
	h.update(func(st *mcpHostState) { sessions = st.sessions })
	for _, session := range sessions {
		_ = session.Close() // already closed; this waits for its calls
	}
	h.asking.Wait()
}

// notified is the answer to every message of the CLI that is not an MCP request: control
// requests always need an answer.
var notified = []byte(`{"mcp_response":{"jsonrpc":"2.0","result":{},"id":0}}`)

// message handles a message of the CLI to a server of this process.
func (h *mcpHost) message(ctx context.Context, req control.Request) ([]byte, error) {
	var body struct {
		ServerName string          `json:"server_name"`
		Message    json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal([]byte(req.Body), &body); err != nil {
		return nil, err
	}
	l := h.link(body.ServerName)
	if l == nil {
		return nil, &control.Error{Message: "SDK MCP server not found: " + body.ServerName}
	}
	msg, err := jsonrpc.DecodeMessage(body.Message)
	if err != nil {
		return nil, fmt.Errorf("the message for %s: %w", body.ServerName, err)
	}
	if call, ok := msg.(*jsonrpc.Request); ok && call.IsCall() {
		answer, err := l.answer(ctx, call)
		if err != nil {
			return nil, err
		}
		return slices.Concat([]byte(`{"mcp_response":`), answer, []byte(`}`)), nil
	}
	return notified, l.put(msg)
}
