package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"go.opentelemetry.io/otel/propagation"

	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// The limits of a socket.
const (
	maxCalls         = 32  // concurrent calls
	maxSubscriptions = 256 // followed sessions
)

// socket is a WebSocket connection with JSON-RPC.
type socket struct {
	srv  *Server
	conn *websocket.Conn
	rc   *http.ResponseController // of conn
	who  *principal
	ctx  context.Context
	held context.Context // ends with the token of the caller
	wg   sync.WaitGroup

	writing sync.Mutex  // held while writing
	giveUp  *time.Timer // closes the socket when a write takes too long

	mu       sync.Mutex
	can      session.Capabilities
	watching map[string]*subscription
}

// subscription is a session that a socket follows.
type subscription struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// rpcRequest is a JSON-RPC request.
type rpcRequest struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
	// Traceparent is the trace context of this request; "" means that of the socket.
	Traceparent string `json:"traceparent,omitempty"`
}

// rpcResponse is a JSON-RPC response.
type rpcResponse struct {
	JSONRPC string           `json:"jsonrpc"`
	ID      json.RawMessage  `json:"id"`
	Result  any              `json:"result,omitempty"`
	Error   *api.ErrorObject `json:"error,omitempty"`
}

// notification is a JSON-RPC notification of the server.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// websocket serves a socket until it ends.
func (s *Server) websocket(w http.ResponseWriter, r *http.Request, c *caller) error {
	release, err := s.connection(r)
	if err != nil {
		return err
	}
	defer release()
	// The filter has checked the origin, more thoroughly than the library.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // the error was sent already
	}
	defer conn.CloseNow()
	conn.SetReadLimit(s.opts.MaxBody)
	if c.role < roleOperator {
		conn.SetReadLimit(smallBody)
	}
	// When the token ends, the socket is closed with a reason.
	ctx, cancel := context.WithCancel(s.tracer.From(context.WithoutCancel(r.Context()), propagation.HeaderCarrier(r.Header)))
	defer cancel()
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close(websocket.StatusGoingAway, "the server is stopping") })
	defer stop()
	held, release := s.tokens.hold(ctx, c.principal)
	defer release()
	k := &socket{srv: s, conn: conn, rc: http.NewResponseController(w), who: c.principal, ctx: ctx, held: held, watching: map[string]*subscription{}}
	k.wg.Go(k.endWithToken)
	k.giveUp = time.AfterFunc(s.opts.WriteTimeout, func() { _ = conn.CloseNow() })
	k.giveUp.Stop()
	k.wg.Go(func() { k.ping(cancel) })
	err = k.read()
	cancel()
	_ = conn.CloseNow() // unblocks a write that waits for the peer
	k.wg.Wait()
	s.logger.Debug("a socket ended", "by", c.by(), "why", err)
	return nil
}

// closeTimeout is the time for the peer to acknowledge the close.
const closeTimeout = 500 * time.Millisecond

// endWithToken closes the socket when the token of its caller ends. Subscriptions end at once, and
// calls are rejected.
func (k *socket) endWithToken() {
	<-k.held.Done()
	if context.Cause(k.held) != errToken {
		return // the socket has ended
	}
	late := time.AfterFunc(closeTimeout, func() { // CloseNow has no effect during Close
		_, _ = k.rc.SetReadDeadline(time.Now()), k.rc.SetWriteDeadline(time.Now())
	})
	defer late.Stop()
	_ = k.conn.Close(websocket.StatusPolicyViolation, "the token was revoked or has expired")
}

// ping closes the socket when its peer does not answer.
func (k *socket) ping(cancel context.CancelFunc) {
	ticker := time.NewTicker(3 * k.srv.opts.Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-k.ctx.Done():
			return
		}
		ctx, done := context.WithTimeout(k.ctx, k.srv.opts.WriteTimeout)
		err := k.conn.Ping(ctx)
		done()
		if err != nil {
			cancel()
			_ = k.conn.CloseNow()
			return
		}
	}
}

// ordered are the methods whose calls on a socket run one after the other, so that a client that
// detaches and attaches again stays attached.
var ordered = map[string]bool{"session.attach": true, "session.detach": true}

// read reads requests until the socket ends. They run concurrently, except that those of ordered
// methods wait for each other; at the limit the reader blocks.
func (k *socket) read() error {
	places := make(chan struct{}, maxCalls)
	last := make(chan struct{}) // closed when the newest ordered call has ended
	close(last)
	for {
		typ, data, err := k.conn.Read(k.ctx)
		if err != nil {
			return err
		}
		var req rpcRequest
		if typ != websocket.MessageText || json.Unmarshal(data, &req) != nil || req.JSONRPC != "2.0" || req.Method == "" {
			k.respond(nil, nil, &api.ErrorObject{Code: -32600, Message: "not a JSON-RPC 2.0 request", Data: api.ErrorData{Reason: api.InvalidParams}})
			continue
		}
		select {
		case places <- struct{}{}:
		case <-k.ctx.Done():
			return k.ctx.Err()
		}
		serve := func() { k.serve(req) }
		if ordered[req.Method] {
			before, done := last, make(chan struct{})
			last = done
			serve = func() {
				defer close(done)
				<-before
				k.serve(req)
			}
		}
		k.wg.Go(func() {
			defer func() { <-places }()
			serve()
		})
	}
}

// serve responds to a request. Follow-up messages are sent after the response.
func (k *socket) serve(req rpcRequest) {
	defer sparing.Hold(len(req.Params))()
	c := &caller{principal: k.who, socket: k}
	then := &afterwards{}
	ctx := k.srv.tracer.FromText(context.WithValue(k.ctx, afterwardsKey{}, then), req.Traceparent)
	result, err := k.srv.call(ctx, c, req.Method, req.Params)
	if req.ID != nil {
		if err != nil {
			e := errorObject(err)
			k.respond(req.ID, nil, &e)
		} else if !k.respond(req.ID, result, nil) {
			return // the client has not received the start of the session, so it gets no events
		}
	}
	for _, f := range then.all {
		f()
	}
}

// afterwards holds actions that run after the response to a request was written.
type afterwards struct{ all []func() }

type afterwardsKey struct{}

func after(ctx context.Context, f func()) {
	if a, ok := ctx.Value(afterwardsKey{}).(*afterwards); ok {
		a.all = append(a.all, f)
	}
}

// respond sends a response. It returns false if the result was not sent.
func (k *socket) respond(id json.RawMessage, result any, e *api.ErrorObject) bool {
	if id == nil {
		id = json.RawMessage("null")
	}
	err := k.write(result, func(v any) any { return rpcResponse{JSONRPC: "2.0", ID: id, Result: v, Error: e} })
	if errors.Is(err, errOverloaded) && e == nil {
		busy := errorObject(err)
		k.respond(id, nil, &busy)
	}
	return err == nil
}

// write sends a value inside of a message within the write timeout. If the peer does not read, the
// socket is closed.
func (k *socket) write(v any, wrap func(any) any) error {
	e, leave, err := k.srv.encode(k.held, v, wrap)
	if err != nil {
		if !errors.Is(err, errOverloaded) && !isCancelled(err) {
			k.srv.logger.Error("a message cannot be encoded", "err", err)
		}
		return err
	}
	defer leave()
	if e.large == "" {
		if !k.writeRaw(e.head) {
			return net.ErrClosed
		}
		return nil
	}
	return k.writeLarge(e)
}

// writeLarge sends a message with a large part in pieces, each within the write timeout.
func (k *socket) writeLarge(e encoded) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	defer k.giveUp.Stop()
	w, err := k.conn.Writer(context.Background(), websocket.MessageText)
	if err == nil {
		err = e.write(armed{w, k})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		_ = k.conn.CloseNow()
	}
	return err
}

// armed is a writer of a socket that sets a deadline for each write.
type armed struct {
	io.Writer
	*socket
}

// Write writes within the write timeout.
func (a armed) Write(p []byte) (int, error) {
	a.giveUp.Reset(a.srv.opts.WriteTimeout)
	return a.Writer.Write(p)
}

// writeRaw sends an encoded message. It uses a timer instead of a context, because creating a
// context for each message of each viewer costs as much as the message.
func (k *socket) writeRaw(data []byte) bool {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.giveUp.Reset(k.srv.opts.WriteTimeout)
	defer k.giveUp.Stop()
	if err := k.conn.Write(context.Background(), websocket.MessageText, data); err != nil {
		_ = k.conn.CloseNow()
		return false
	}
	return true
}

func (k *socket) notify(method string, params any) bool {
	return k.write(params, func(v any) any { return notification{JSONRPC: "2.0", Method: method, Params: v} }) == nil
}

// sessionAttached is the start of a session that hello resumed.
type sessionAttached struct {
	SessionID string `json:"session_id"`
	api.AttachResult
}

// hello records the client's capabilities and resumes the named sessions.
func (k *socket) hello(ctx context.Context, p api.HelloParams) {
	k.mu.Lock()
	for _, name := range p.Capabilities {
		k.can.Add(name)
	}
	k.mu.Unlock()
	for _, r := range p.Resume {
		after(ctx, func() {
			if k.who.session != "" && k.who.session != r.SessionID {
				return
			}
			result, start, err := k.subscribe(k.ctx, r.SessionID, &r.Cursor)
			if err != nil {
				k.notify("detached", detached{r.SessionID, session.FailureOf(err).Reason})
				return
			}
			if !k.notify("attached", sessionAttached{r.SessionID, result}) {
				k.notify("detached", detached{r.SessionID, api.LimitReached})
				return
			}
			start()
		})
	}
}

// detached reports that a session is no longer followed.
type detached struct {
	SessionID string     `json:"session_id"`
	Reason    api.Reason `json:"reason"`
}

// attach follows a session. Its messages follow the response.
func (k *socket) attach(ctx context.Context, id string, from *api.Cursor) (api.AttachResult, error) {
	result, start, err := k.subscribe(ctx, id, from)
	if err == nil {
		after(ctx, start)
	}
	return result, err
}

// subscribe prepares to follow a session; start begins it. It replaces an earlier subscription to
// the session.
func (k *socket) subscribe(ctx context.Context, id string, from *api.Cursor) (api.AttachResult, func(), error) {
	k.detach(id)
	k.mu.Lock()
	full, can := len(k.watching) >= maxSubscriptions, k.can
	k.mu.Unlock()
	if full {
		return api.AttachResult{}, nil, session.LimitReached("a socket follows at most %d sessions", maxSubscriptions)
	}
	v, result, end, err := k.srv.sessions.Watch(ctx, id, from, can)
	if err != nil {
		return result, nil, err
	}
	vctx, cancel := context.WithCancel(k.held)
	sub := &subscription{cancel: cancel, done: make(chan struct{})}
	k.mu.Lock()
	old := k.watching[id]
	k.watching[id] = sub
	k.mu.Unlock()
	if old != nil { // attached twice concurrently
		old.cancel()
	}
	begin := make(chan struct{})
	k.wg.Go(func() {
		defer close(sub.done)
		defer k.forget(id, sub)
		defer end()
		defer cancel()
		select {
		case <-begin:
			k.follow(vctx, v)
		case <-vctx.Done():
		}
	})
	return result, sync.OnceFunc(func() { close(begin) }), nil
}

// detach ends a subscription and waits for it.
func (k *socket) detach(id string) {
	k.mu.Lock()
	sub := k.watching[id]
	delete(k.watching, id)
	k.mu.Unlock()
	if sub != nil {
		sub.cancel()
		<-sub.done
	}
}

// forget removes a subscription that has ended, so that it does not count as a followed session.
func (k *socket) forget(id string, sub *subscription) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watching[id] == sub {
		delete(k.watching, id)
	}
}

// follow sends the messages of a session until it or the subscription ends.
func (k *socket) follow(ctx context.Context, v *session.Viewer) {
	for {
		items, err := v.Next(ctx)
		switch {
		case errors.Is(err, session.ErrResync):
			result, err := v.Resync(ctx)
			if err != nil {
				return
			}
			if !k.notify("resync", sessionAttached{v.Session(), result}) {
				k.notify("detached", detached{v.Session(), api.LimitReached})
				return
			}
			continue
		case ctx.Err() != nil:
			return
		case err != nil:
			k.notify("detached", detached{v.Session(), session.FailureOf(err).Reason})
			return
		}
		for _, it := range items {
			if ctx.Err() != nil || !k.writeRaw(v.Frame(it)) {
				return
			}
		}
	}
}
