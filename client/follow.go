package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// Event is an element of [Client.Follow]: a message of the session, or the start of a connection.
type Event struct {
	// Attached is set at the start of a connection. If it has a snapshot, the snapshot replaces
	// everything before it; otherwise the messages continue without a gap.
	Attached *api.AttachResult
	// In all other cases Envelope is a message with its position in the log, and Events are its
	// events, possibly none.
	Envelope api.Envelope
	Events   []event.Event
}

// Follow yields the messages of a session after a cursor; a nil cursor starts with a snapshot. It
// reconnects automatically. It ends when the caller leaves the loop, when ctx ends, and when the
// server rejects it permanently, for example because the session was deleted or the token is
// invalid. The error is the last element. The iterator may be used more than once and then starts
// at the cursor again.
func (c *Client) Follow(ctx context.Context, session string, after *api.Cursor) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{c: c, session: session, after: after, yield: yield}
		wait := c.opts.Retry
		for {
			err := f.once(ctx)
			switch {
			case f.stopped:
				return
			case ctx.Err() != nil:
				yield(Event{}, ctx.Err())
				return
			case final(err):
				yield(Event{}, err)
				return
			}
			if f.attached {
				wait = c.opts.Retry
			}
			f.attached = false
			if sleep(ctx, wait) != nil {
				yield(Event{}, ctx.Err())
				return
			}
			wait = min(2*wait, c.opts.MaxRetry)
		}
	}
}

// final reports whether reconnecting cannot help.
func final(err error) bool {
	switch Reason(err) {
	case "", api.Draining, api.NotConnected, api.TooSlow, api.LimitReached:
		return false
	}
	return true
}

// follower is the state of one call of Follow.
type follower struct {
	c        *Client
	session  string
	after    *api.Cursor
	yield    func(Event, error) bool
	stopped  bool // the loop has ended
	attached bool // the last connection succeeded
	messages atomic.Int64
	decoder  event.Decoder
}

// once follows over one connection until it ends.
func (f *follower) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := f.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	hello := api.HelloParams{Client: api.ClientInfo{Name: "parley-go"}, Capabilities: f.c.opts.Capabilities}
	if err := request(ctx, conn, 1, "hello", hello); err != nil {
		return err
	}
	if err := request(ctx, conn, 2, "session.attach", api.AttachParams{SessionID: f.session, After: f.after}); err != nil {
		return err
	}
	var guards sync.WaitGroup
	guards.Go(func() { f.guard(ctx, conn) })
	defer guards.Wait()
	defer cancel()
	for {
		m, err := f.read(ctx, conn)
		if err != nil {
			return err
		}
		if err := f.handle(m); err != nil || f.stopped {
			return err
		}
	}
}

func (f *follower) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, f.c.opts.Silence)
	defer cancel()
	header := http.Header{"Authorization": {"Bearer " + f.c.opts.Token}}
	conn, resp, err := websocket.Dial(ctx, f.c.base.String()+"/v1/ws", &websocket.DialOptions{HTTPClient: f.c.opts.HTTPClient, HTTPHeader: header})
	if err != nil {
		if resp != nil && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
			return nil, &Error{Status: resp.StatusCode, ErrorObject: api.ErrorObject{Message: "the server refused the token", Data: api.ErrorData{Reason: api.AuthFailed}}}
		}
		return nil, fmt.Errorf("client: %w", err)
	}
	conn.SetReadLimit(maxAnswer)
	return conn, nil
}

func request(ctx context.Context, conn *websocket.Conn, id int, method string, params any) error {
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	return conn.Write(ctx, websocket.MessageText, data)
}

// message is any message of the server.
type message struct {
	ID     int              `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *api.ErrorObject `json:"error"`
}

// errSilent ends a connection that does not answer.
var errSilent = errors.New("client: the server is silent")

// guard closes a connection that does not answer: after a time without a message it sends a ping, and
// closes the connection if no response arrives. It returns when ctx ends.
func (f *follower) guard(ctx context.Context, conn *websocket.Conn) {
	ticker := time.NewTicker(f.c.opts.Silence)
	defer ticker.Stop()
	for seen := f.messages.Load(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := f.messages.Load()
		if now != seen {
			seen = now
			continue
		}
		bound, cancel := context.WithTimeout(ctx, f.c.opts.Silence)
		err := conn.Ping(bound)
		cancel()
		if err != nil {
			_ = conn.CloseNow()
			return
		}
	}
}

// eventHead is the prefix of a message with an event, as the server writes it.
var eventHead = []byte(`{"jsonrpc":"2.0","method":"event","params":`)

// read reads a message.
func (f *follower) read(ctx context.Context, conn *websocket.Conn) (message, error) {
	_, data, err := conn.Read(ctx)
	if err != nil {
		return message{}, errors.Join(err, errSilent)
	}
	f.messages.Add(1)
	if n := len(data) - 1; n >= len(eventHead) && data[n] == '}' && bytes.HasPrefix(data, eventHead) {
		return message{Method: "event", Params: data[len(eventHead):n:n]}, nil // the usual case
	}
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return message{}, fmt.Errorf("client: %w", err)
	}
	return m, nil
}

// handle passes a message of the server on.
func (f *follower) handle(m message) error {
	switch {
	case m.Error != nil:
		return &Error{ErrorObject: *m.Error}
	case m.ID == 2:
		return f.attach(m.Result)
	case m.Method == "resync":
		return f.attach(m.Params)
	case m.Method == "event":
		return f.event(m.Params)
	case m.Method == "detached":
		var d struct {
			Reason api.Reason `json:"reason"`
		}
		if err := json.Unmarshal(m.Params, &d); err != nil {
			return err
		}
		return &Error{ErrorObject: api.ErrorObject{Message: "the session is not followed any more", Data: api.ErrorData{Reason: d.Reason}}}
	}
	return nil // from a newer server
}

func (f *follower) attach(data json.RawMessage) error {
	var a api.AttachResult
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	f.after, f.attached = &a.Cursor, true
	if a.Snapshot != "" {
		f.decoder = event.Decoder{}
	}
	f.stopped = !f.yield(Event{Attached: &a}, nil)
	return nil
}

func (f *follower) event(data json.RawMessage) error {
	e, events, err := api.DecodeEnvelope(&f.decoder, data)
	if err != nil {
		return err
	}
	f.after = &api.Cursor{Epoch: e.Epoch, Seq: e.Seq, Sub: e.Sub}
	f.stopped = !f.yield(Event{Envelope: e, Events: events}, nil)
	return nil
}
