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

// keptWithdrawn limits the remembered cancellations of calls that have not arrived yet,
// because the CLI's requests are handled concurrently.
const keptWithdrawn = 64

var errServerSession = errors.New("the session with the MCP server has ended")

// mcpConn is the connection between one session of a server and the CLI. put and call pass
// the CLI's messages to the server. Answers go to the waiting callers, other messages of
// the server to emit.
type mcpConn struct {
	emit func(ctx context.Context, req *jsonrpc.Request) error
	asks atomic.Bool // the CLI itself can ask the user

	mu    sync.Mutex
	state mcpConnState

	wake   chan struct{} // holds a token if messages are queued
	closed chan struct{}
}

// mcpConnState is the mutable state of an mcpConn. It changes only inside update.
type mcpConnState struct {
	in        []jsonrpc.Message
	pending   map[jsonrpc.ID]chan *jsonrpc.Response
	withdrawn []jsonrpc.ID // cancelled before they arrived
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

func (c *mcpConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID returns "", because there is only one session.
func (c *mcpConn) SessionID() string { return "" }

// Read returns the next message of the CLI to the server.
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

// Write dispatches a message of the server. It drops an answer without a waiting caller,
// because its call was cancelled.
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

// Close ends the session and the contexts of its calls.
func (c *mcpConn) Close() error {
	c.update(func(st *mcpConnState) {
		if !st.closed {
			st.closed = true
			close(c.closed)
		}
	})
	return nil
}

// put passes a message to the server and does not wait for an answer.
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

// call passes a request to the server and waits for the answer. A call that the CLI has
// cancelled ends with [control.ErrNoAnswer].
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

// cancelled returns the notification that cancels a request.
func cancelled(id jsonrpc.ID) *jsonrpc.Request {
	params, _ := json.Marshal(map[string]any{"requestId": id.Raw()}) // a number or a string
	return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}
}

// withdraw passes a cancellation to the server and ends the wait of its caller.
func (c *mcpConn) withdraw(notice *jsonrpc.Request) {
	var params struct {
		RequestID any `json:"requestId"`
	}
	_ = json.Unmarshal(notice.Params, &params) // the server rejects an invalid cancellation
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
