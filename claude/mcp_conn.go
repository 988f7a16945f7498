package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/claude/internal/control"
)

// keptWithdrawn is how many cancellations are remembered whose calls have not
// been seen: the CLI's requests are handled side by side.
const keptWithdrawn = 64

var errServerSession = errors.New("the session with the MCP server has ended")

// mcpConn is the wire between one session of a server and the CLI. The CLI's
// messages are put into it; the answers go to those who wait for them, all else
// that the server says to emit.
type mcpConn struct {
	emit func(ctx context.Context, req *jsonrpc.Request) error
	asks atomic.Bool // the CLI can ask the user itself

	mu    sync.Mutex
	state mcpConnState

	wake   chan struct{} // holds a token when there is something to read
	closed chan struct{}
}

// mcpConnState is what changes in an mcpConn, and it changes only inside update.
type mcpConnState struct {
	in        []jsonrpc.Message
	pending   map[jsonrpc.ID]chan *jsonrpc.Response
	withdrawn []jsonrpc.ID // cancelled before they came
	closed    bool
}

func newMCPConn() *mcpConn {
	c := &mcpConn{wake: make(chan struct{}, 1), closed: make(chan struct{})}
	c.state.pending = map[jsonrpc.ID]chan *jsonrpc.Response{}
	return c
}

func (c *mcpConn) update(f func(st *mcpConnState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.state)
}

// Connect makes the connection the transport of its own.
func (c *mcpConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: there is one session only.
func (c *mcpConn) SessionID() string { return "" }

// Read gives the server what the CLI said.
func (c *mcpConn) Read(ctx context.Context) (msg jsonrpc.Message, err error) {
	for {
		c.update(func(st *mcpConnState) {
			switch {
			case st.closed:
				err = io.EOF
			case len(st.in) > 0:
				msg, st.in = st.in[0], st.in[1:]
			}
		})
		if msg != nil || err != nil {
			return msg, err
		}
		select {
		case <-c.wake:
		case <-c.closed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Write takes what the server says where it belongs. An answer without a waiting caller is
// dropped: its call was cancelled.
func (c *mcpConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok {
		return c.emit(ctx, req)
	}
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.update(func(st *mcpConnState) {
			if answer := st.pending[resp.ID]; answer != nil {
				delete(st.pending, resp.ID)
				answer <- resp
			}
		})
	}
	return nil
}

// Close ends the session: the contexts of its calls end as well.
func (c *mcpConn) Close() error {
	c.update(func(st *mcpConnState) {
		if !st.closed {
			st.closed = true
			close(c.closed)
		}
	})
	return nil
}

// put hands a message to the server that is not waited for.
func (c *mcpConn) put(msg jsonrpc.Message) {
	c.update(func(st *mcpConnState) { c.push(st, msg) })
}

func (c *mcpConn) push(st *mcpConnState, msg jsonrpc.Message) {
	st.in = append(st.in, msg)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// call hands a request to the server and waits for the answer. A call that the
// CLI has cancelled ends with [control.ErrNoAnswer].
func (c *mcpConn) call(ctx context.Context, req *jsonrpc.Request) (*jsonrpc.Response, error) {
	answer := make(chan *jsonrpc.Response, 1)
	var err error
	c.update(func(st *mcpConnState) {
		if i := slices.Index(st.withdrawn, req.ID); i >= 0 {
			st.withdrawn = slices.Delete(st.withdrawn, i, i+1)
			err = control.ErrNoAnswer
			return
		}
		if st.pending[req.ID] != nil {
			err = fmt.Errorf("the id %v is in use", req.ID.Raw())
			return
		}
		st.pending[req.ID] = answer
		c.push(st, req)
	})
	if err != nil {
		return nil, err
	}
	select {
	case resp, ok := <-answer:
		if !ok {
			return nil, control.ErrNoAnswer
		}
		return resp, nil
	case <-ctx.Done():
		c.withdraw(cancelled(req.ID))
		return nil, context.Cause(ctx)
	case <-c.closed:
		return nil, errServerSession
	}
}

// cancelled is the notification that a request is no longer wanted.
func cancelled(id jsonrpc.ID) *jsonrpc.Request {
	params, _ := json.Marshal(map[string]any{"requestId": id.Raw()}) // a number or a string
	return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}
}

// withdraw hands a cancellation to the server; the caller waits no longer.
func (c *mcpConn) withdraw(notice *jsonrpc.Request) {
	var params struct {
		RequestID any `json:"requestId"`
	}
	_ = json.Unmarshal(notice.Params, &params) // the server refuses what is not a cancellation
	id, err := jsonrpc.MakeID(params.RequestID)
	c.update(func(st *mcpConnState) {
		c.push(st, notice)
		if err != nil || !id.IsValid() {
			return
		}
		if answer := st.pending[id]; answer != nil {
			delete(st.pending, id)
			close(answer)
			return
		}
		if st.withdrawn = append(st.withdrawn, id); len(st.withdrawn) > keptWithdrawn {
			st.withdrawn = st.withdrawn[1:]
		}
	})
}
