package acphttp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
)

// The headers of the protocol.
const (
	HeaderConnection = "Acp-Connection-Id"
	HeaderSession    = "Acp-Session-Id"
)

// Agent runs an agent for one client until r or ctx ends. The agent reads and writes one JSON-RPC
// message per line.
type Agent func(ctx context.Context, r io.Reader, w io.WriteCloser) error

// Options configures a Handler. The zero value uses the defaults.
type Options struct {
	// MaxWaiting is the number of unread bytes of a connection at which its agent blocks; 0 means 4
	// MiB. A single message may exceed it.
	MaxWaiting int
	// MaxStreams is the maximum number of streams of a connection without a reader; 0 means 1024.
	MaxStreams int
	// Stall is the time within which a client with MaxWaiting unread bytes, or a socket, must read
	// something; 0 means a minute.
	Stall time.Duration
	// Idle is the time after which a connection without a stream and a request ends; 0 means 5
	// minutes.
	Idle time.Duration
	// Heartbeat is the time of silence after which a comment is sent on a stream and a ping on a
	// socket; 0 means 15 seconds.
	Heartbeat time.Duration
	// Logger receives errors of agents; nil discards them.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 4 << 20
	}
	if o.MaxStreams == 0 {
		o.MaxStreams = 1024
	}
	for _, d := range []struct {
		p *time.Duration
		v time.Duration
	}{{&o.Stall, time.Minute}, {&o.Idle, 5 * time.Minute}, {&o.Heartbeat, 15 * time.Second}} {
		if *d.p == 0 {
			*d.p = d.v
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Client is the sender of a request.
type Client struct {
	// Owner identifies the sender. Connections of other owners are not accessible.
	Owner string
	// MaxBody limits a message in bytes; 0 means 16 MiB.
	MaxBody int64
	// Agent runs the agent of a connection that the request opens.
	Agent Agent
	// Open is called before a connection is opened; an error rejects the connection. The connection
	// ends when the returned context ends. At its end release is called. A nil Open accepts all
	// connections.
	Open func() (ctx context.Context, release func(), err error)
}

const defaultMaxBody = 16 << 20

// bodyTimeout is the time limit for a client to send a body.
const bodyTimeout = time.Minute

// Handler serves connections. Its methods are safe for concurrent use.
type Handler struct {
	opts Options

	mu     sync.Mutex
	conns  map[string]*conn
	closed bool
	work   sync.WaitGroup
}

// New returns a handler without connections.
func New(opts Options) *Handler {
	return &Handler{opts: opts.withDefaults(), conns: map[string]*conn{}}
}

// Serve serves a request, and for a WebSocket the whole connection. It returns the error of [Client].Open, or the cause if
// the request's context ended before the body had arrived; in both cases it has written no response.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, c Client) error {
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	var err error
	switch r.Method {
	case http.MethodPost:
		err = h.post(w, r, c)
	case http.MethodGet:
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			return h.websocket(w, r, c)
		}
		err = h.get(w, r, c)
	case http.MethodDelete:
		err = h.delete(w, r, c)
	default:
		err = refuse(http.StatusMethodNotAllowed, "Method Not Allowed")
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		writeText(w, refused.status, refused.text)
		return nil
	}
	return err
}

// statusGone is the response to a client that has disconnected.
const statusGone = 499

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func writeJSON(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// find returns a connection of the client.
func (h *Handler) find(r *http.Request, owner string) (*conn, error) {
	id := r.Header.Get(HeaderConnection)
	if id == "" {
		return nil, refuse(http.StatusBadRequest, "Missing Acp-Connection-Id")
	}
	h.mu.Lock()
	c := h.conns[id]
	h.mu.Unlock()
	if c == nil || c.owner != owner || c.ctx.Err() != nil {
		return nil, errUnknown
	}
	return c, nil
}

var errUnknown = refuse(http.StatusNotFound, "Unknown Acp-Connection-Id")

// post accepts a message of a client.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, client Client) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "Unsupported Media Type")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // writers of tests do not support it
	stop := context.AfterFunc(r.Context(), func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, client.MaxBody))
	if stop() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(http.StatusRequestEntityTooLarge, "Request body exceeds %d bytes", client.MaxBody)
	} else if err != nil && r.Context().Err() != nil {
		return context.Cause(r.Context())
	} else if err != nil {
		return refuse(http.StatusBadRequest, "Invalid JSON")
	}
	m, err := parse(data)
	switch {
	case errors.Is(err, errBatch):
		writeJSON(w, http.StatusBadRequest, errorMessage("null", codeInvalid, err.Error(), nil))
		return nil
	case err != nil:
		return refuse(http.StatusBadRequest, "%s", err.Error())
	case m.isInitialize() && r.Header.Get(HeaderConnection) != "":
		return refuse(http.StatusBadRequest, "Initialize not allowed on existing connection")
	case m.isInitialize():
		return h.initialize(w, r, client, &m)
	}
	c, err := h.find(r, client.Owner)
	if err != nil {
		return err
	}
	defer c.use()()
	return h.forward(w, r, c, &m)
}

// forward writes a message to the agent of its connection. A request waits until the client has
// read enough of the agent's messages.
func (h *Handler) forward(w http.ResponseWriter, r *http.Request, c *conn, m *message) error {
	if !m.isNotification() && !m.isAnswer() {
		if err := c.waitRoom(r.Context()); err != nil {
			return gaveUp(r)
		}
	}
	c.mu.Lock()
	refused := c.routes.admit(m, r.Header.Get(HeaderSession))
	c.mu.Unlock()
	if refused != nil {
		return refused
	}
	if c.give(m.line) != nil {
		return errUnknown
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

func gaveUp(r *http.Request) error {
	if r.Context().Err() != nil {
		return refuse(statusGone, "Request aborted")
	}
	return errUnknown
}

// initialize opens a connection and responds with the agent's answer.
func (h *Handler) initialize(w http.ResponseWriter, r *http.Request, client Client, m *message) error {
	if m.nullID() {
		return refuse(http.StatusBadRequest, "Initialize request must include an ID")
	}
	c, err := h.open(client, nil)
	if err != nil {
		return err
	}
	defer c.use()()
	line, err := c.start(r.Context(), m)
	if err != nil {
		c.end(errDeleted)
		if r.Context().Err() != nil {
			return refuse(statusGone, "Request aborted")
		}
		writeJSON(w, http.StatusInternalServerError, errorMessage(m.id, codeInternal, "Initialize failed", nil))
		return nil
	}
	w.Header().Set(HeaderConnection, c.id)
	writeJSON(w, http.StatusOK, line)
	return nil
}

// errAgent is returned when an agent ends without answering initialize.
var errAgent = errors.New("acphttp: the agent did not answer initialize")

// start writes the first message to the agent and returns its answer.
func (c *conn) start(ctx context.Context, m *message) ([]byte, error) {
	c.mu.Lock()
	c.initID = m.id
	c.mu.Unlock()
	if err := c.give(m.line); err != nil {
		return nil, errAgent
	}
	select {
	case line := <-c.initial:
		return line, nil
	case <-c.done:
		return nil, errAgent
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// open starts a connection with its agent. The connection ends when the agent has ended.
func (h *Handler) open(client Client, k *socket) (*conn, error) {
	ctx, release := context.Background(), func() {}
	if client.Open != nil {
		var err error
		if ctx, release, err = client.Open(); err != nil {
			return nil, err
		}
	}
	r, w := io.Pipe()
	c := &conn{id: random.UUID(), owner: client.Owner, opts: &h.opts, socket: k, in: w, done: make(chan struct{}), initial: make(chan []byte, 1), streams: map[string]*stream{}}
	c.ctx, c.end = context.WithCancelCause(ctx)
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		release()
		return nil, refuse(http.StatusServiceUnavailable, "The server is stopping")
	}
	h.conns[c.id] = c
	h.work.Add(1)
	h.mu.Unlock()
	go func() {
		defer h.work.Done()
		defer release()
		defer h.forget(c)
		c.run(client.Agent, r)
	}()
	return c, nil
}

// forget removes a connection after the end of its agent. Its readers still get the remaining
// messages.
func (h *Handler) forget(c *conn) {
	h.mu.Lock()
	delete(h.conns, c.id)
	h.mu.Unlock()
	c.mu.Lock()
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
}

// delete ends a connection.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, client Client) error {
	c, err := h.find(r, client.Owner)
	if err != nil {
		return err
	}
	c.end(errDeleted)
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// get streams the messages of a connection or of a session.
func (h *Handler) get(w http.ResponseWriter, r *http.Request, client Client) error {
	if !strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/event-stream") {
		return refuse(http.StatusNotAcceptable, "Not Acceptable")
	}
	c, err := h.find(r, client.Owner)
	if err != nil {
		return err
	}
	key := r.Header.Get(HeaderSession)
	if len(key) > maxID {
		return refuse(http.StatusBadRequest, "Session ID exceeds maxIdLength (%d)", maxID)
	}
	s, err := c.acquire(key)
	if err != nil {
		return refuse(http.StatusTooManyRequests, "Too many streams without a reader")
	}
	if s == nil {
		return refuse(http.StatusConflict, "Outbound stream already has an active receiver")
	}
	defer c.use()()
	defer c.release(key, s)
	c.events(w, r, s)
	return nil
}

// Close ends all connections, rejects new ones, and returns when the agents have ended.
func (h *Handler) Close() {
	h.mu.Lock()
	h.closed = true
	for _, c := range h.conns {
		c.end(errClosed)
	}
	h.mu.Unlock()
	h.work.Wait()
}

// Connections returns the number of connections with a running agent.
func (h *Handler) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}
