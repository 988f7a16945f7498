package acphttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection over WebSocket.
type socket struct {
	ws    *websocket.Conn
	rc    *http.ResponseController // controls the response of ws
	stall time.Duration

	writing sync.Mutex
}

// errWrite is the error of a connection whose socket cannot be written to.
var errWrite = errors.New("acphttp: the socket cannot be written")

// send writes a message. If the client does not read it in time, the socket is closed.
func (k *socket) send(line []byte) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), k.stall)
	defer cancel()
	if err := k.ws.Write(ctx, websocket.MessageText, line); err != nil {
		_ = k.ws.CloseNow()
		return errWrite
	}
	return nil
}

// closeTimeout is the time for a client to acknowledge the close of its socket.
const closeTimeout = 500 * time.Millisecond

// close ends the socket with a code and a reason.
func (k *socket) close(code websocket.StatusCode, reason string) {
	late := time.AfterFunc(closeTimeout, func() { // CloseNow has no effect during Close
		_, _ = k.rc.SetReadDeadline(time.Now()), k.rc.SetWriteDeadline(time.Now())
	})
	defer late.Stop()
	_ = k.ws.Close(code, reason)
}

// websocket serves a connection over WebSocket until it ends.
func (h *Handler) websocket(w http.ResponseWriter, r *http.Request, client Client) error {
	k := &socket{rc: http.NewResponseController(w), stall: h.opts.Stall}
	c, err := h.open(client, k)
	if refused, ok := errors.AsType[*refusal](err); ok {
		writeText(w, refused.status, refused.text)
		return nil
	} else if err != nil {
		return err
	}
	defer func() { <-c.done }()
	defer c.end(errDeleted)
	w.Header().Set(HeaderConnection, c.id)
	var offered []string
	if first, _, _ := strings.Cut(r.Header.Get("Sec-WebSocket-Protocol"), ","); first != "" {
		offered = []string{strings.TrimSpace(first)}
	}
	// The caller has checked the origin.
	if k.ws, err = websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, Subprotocols: offered}); err != nil {
		return nil // the error was sent already
	}
	defer k.ws.CloseNow()
	k.ws.SetReadLimit(client.MaxBody)
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	work.Go(func() { c.watch(ctx) })
	c.frames(ctx)
	return nil
}

// watch closes the socket when the connection or the agent ends, and pings the client. It returns when ctx ends.
func (c *conn) watch(ctx context.Context) {
	beat := time.NewTicker(3 * c.opts.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ctx.Done():
			c.socket.close(closeCode(context.Cause(c.ctx)))
			return
		case <-c.done:
			c.socket.close(websocket.StatusNormalClosure, "")
			return
		case <-beat.C:
		}
		bound, cancel := context.WithTimeout(ctx, c.opts.Stall)
		err := c.socket.ws.Ping(bound)
		cancel()
		if err != nil {
			_ = c.socket.ws.CloseNow()
			return
		}
	}
}

// closeCode returns the close code and the text for the reason of an end.
func closeCode(cause error) (websocket.StatusCode, string) {
	switch {
	case errors.Is(cause, errClosed):
		return websocket.StatusGoingAway, "Server shutting down"
	case errors.Is(cause, errDeleted):
		return websocket.StatusNormalClosure, ""
	}
	return websocket.StatusPolicyViolation, "The connection was ended"
}

// frames reads messages until the socket ends.
func (c *conn) frames(ctx context.Context) {
	for begun := false; ; {
		typ, data, err := c.socket.ws.Read(ctx)
		if err != nil {
			return
		}
		if typ != websocket.MessageText {
			continue
		}
		m, err := parse(data)
		if answer := broken(&m, data, err, begun); answer != nil {
			err = c.socket.send(answer)
		} else if !begun {
			begun, err = c.first(ctx, &m)
		} else {
			err = c.next(&m)
		}
		if err != nil {
			return
		}
	}
}

// broken returns the answer to an invalid message, or nil for a valid one.
func broken(m *message, data []byte, err error, begun bool) []byte {
	switch {
	case errors.Is(err, errNotJSON):
		return errorMessage("null", codeParse, "Parse error", nil)
	case errors.Is(err, errBatch):
		return errorMessage("null", codeInvalid, err.Error(), nil)
	case errors.Is(err, errValue):
		return errorMessage("null", codeInvalid, "Invalid request", clipped(data))
	case !begun && !m.isAnswer() && (m.version != "2.0" || !m.named):
		return errorMessage("null", codeInvalid, "Invalid request", clipped(m.line))
	}
	return nil
}

// clipped returns a value, shortened for an error text.
func clipped(data []byte) json.RawMessage {
	if len(data) > maxID {
		return nil
	}
	return data
}

// errFirst ends a socket whose first message is not initialize.
var errFirst = errors.New("acphttp: the first message is not initialize")

// first reads the first message, which must be initialize. It ignores answers before it.
func (c *conn) first(ctx context.Context, m *message) (begun bool, err error) {
	switch {
	case m.isAnswer():
		return false, nil
	case !m.isInitialize():
		c.socket.close(websocket.StatusProtocolError, "First message must be initialize")
		return false, errFirst
	case m.nullID():
		c.socket.close(websocket.StatusProtocolError, "Initialize request must include an ID")
		return false, errFirst
	}
	if _, err := c.start(ctx, m); err != nil {
		_ = c.socket.send(errorMessage(m.id, codeInternal, "Initialize failed", nil))
		c.socket.close(websocket.StatusInternalError, "Initialize failed")
		return false, err
	}
	return true, nil
}

// next passes a message to the agent.
func (c *conn) next(m *message) error {
	if m.isInitialize() {
		return c.socket.send(errorMessage(m.id, codeInvalid, "Initialize not allowed on existing connection", nil))
	}
	c.mu.Lock()
	var refused *refusal
	if m.isAnswer() {
		delete(c.routes.asked, m.id)
	} else {
		refused = c.routes.expect(m, m.session)
	}
	c.mu.Unlock()
	switch {
	case refused == nil:
		return c.give(m.line)
	case refused.status == http.StatusTooManyRequests:
		return c.socket.send(errorMessage(m.id, codeOverloaded, refused.text, nil))
	}
	c.socket.close(websocket.StatusPolicyViolation, refused.text)
	return refused
}
