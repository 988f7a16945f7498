package acptest

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// Client is a scripted client. Its fields must be set before [Client.Connect].
type Client struct {
	// Answer answers a request of the agent, in a new goroutine. A nil Answer rejects all requests
	// as unknown methods.
	Answer func(ctx context.Context, method string, params json.RawMessage) (any, error)

	conn    *jsonrpc.Conn
	mu      sync.Mutex
	updates []json.RawMessage
	more    chan struct{}
}

// Connect starts a conversation with an agent over its output and its input.
func (c *Client) Connect(r io.Reader, w io.WriteCloser) {
	c.more = make(chan struct{})
	c.conn = jsonrpc.New(r, w, jsonrpc.Options{
		CancelMethod: "$/cancel_request",
		Handle: func(ctx context.Context, m *jsonrpc.Message) (any, error) {
			if c.Answer == nil {
				return nil, jsonrpc.MethodNotFound(m.Method)
			}
			return c.Answer(ctx, m.Method, json.RawMessage(m.Params))
		},
		Notify: func(_ context.Context, m *jsonrpc.Message) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.updates = append(c.updates, json.RawMessage(m.Raw))
			close(c.more)
			c.more = make(chan struct{})
		},
	})
}

// Call sends a request and decodes its result, which may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	raw, err := c.conn.Call(ctx, method, params)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// Notify sends a notification.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// Updates returns the notifications of the agent so far, in their order.
func (c *Client) Updates() []json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.updates)
}

// Until waits until a notification satisfies ok, including those that have arrived already, and
// returns it.
func (c *Client) Until(ctx context.Context, ok func(json.RawMessage) bool) (json.RawMessage, error) {
	for seen := 0; ; {
		c.mu.Lock()
		list, more := c.updates[seen:], c.more
		c.mu.Unlock()
		for _, u := range list {
			if ok(u) {
				return u, nil
			}
		}
		seen += len(list)
		select {
		case <-more:
		case <-c.conn.Done():
			return nil, c.conn.Err()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close closes the agent's input, at whose end the agent must exit.
func (c *Client) Close() error { return c.conn.Close() }
