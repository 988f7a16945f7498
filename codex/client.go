package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Client is a connection to a running codex app-server. Its methods may be called from any
// goroutine.
type Client struct {
	opts *Options
	conn *jsonrpc.Conn
	sup  *proc.Supervisor
	info Info

	greeted <-chan struct{} // closed when the lines of another process have the handshake
	greet   func()          // closes it

	stop    chan struct{} // closed when the client ends, so that no delivery waits for a reader
	closing sync.Once
	ended   chan struct{} // closed after all goroutines have ended
	work    sync.WaitGroup

	observing sync.Mutex // held while the observer runs

	mu     sync.Mutex
	routes routes
	closed bool  // set by Close
	err    error // set before ended is closed
}

// Info is the server's report about itself and its machine at the start of the connection.
type Info struct {
	UserAgent      string `json:"userAgent"`
	CodexHome      string `json:"codexHome"`
	PlatformFamily string `json:"platformFamily"`
	PlatformOS     string `json:"platformOs"`
}

// Connect starts a server and waits until it has answered the handshake. ctx bounds only the start,
// which takes at most Options.HandshakeTimeout. A nil opts means the defaults. It returns a
// *[NotFoundError], a *[SpawnError] or a *[HandshakeError] if the server does not start. The caller
// must call Close on the client.
func Connect(ctx context.Context, opts *Options) (*Client, error) {
	o := opts.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.HandshakeTimeout)
	defer cancel()
	path, err := o.find()
	if err != nil {
		return nil, err
	}
	args, err := o.args()
	if err != nil {
		return nil, err
	}
	var lines spawn.LineProcess
	sup, err := proc.Start(ctx, spawn.Command{Path: path, Args: args, Dir: o.Dir, Env: o.environment()},
		proc.Options{Spawner: proc.NoteLines(o.Spawner, &lines), Local: proc.LocalOptions{Supervisor: o.Supervisor, KeepChildren: o.KeepChildren}, OnStderr: o.OnStderr, CloseGrace: o.CloseGrace})
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &SpawnError{Path: path, Dir: o.Dir, Err: err}
	}
	c := newClient(o, sup, lines, 0)
	if err := c.handshake(ctx); err != nil {
		_ = sup.Kill()
		_ = c.Close()
		if exit := c.exitError(); exit != nil && errors.Is(err, io.EOF) {
			err = exit
		}
		return nil, &HandshakeError{Err: err}
	}
	return c, nil
}

// newClient starts the reader. lines is nil unless a host keeps the lines of the server; last is
// the number of the last line of another process.
func newClient(o *Options, sup *proc.Supervisor, lines spawn.LineProcess, last uint64) *Client {
	c := &Client{opts: o, sup: sup, stop: make(chan struct{}), ended: make(chan struct{})}
	c.greeted, c.greet = greeting()
	c.routes = routes{threads: map[string]*threadState{}, held: map[string][]item.Notification{}, asks: map[item.JSON]*ask{}, opened: make(chan struct{})}
	ready := make(chan struct{})
	c.conn = c.newConn(lines, last, ready, jsonrpc.Options{
		Bare: true,
		Notify: func(_ context.Context, m *jsonrpc.Message) {
			<-ready
			c.notified(m)
		},
		Handle: func(ctx context.Context, m *jsonrpc.Message) (any, error) {
			<-ready
			return c.answer(ctx, m)
		},
		Stray: func(line string, m *jsonrpc.Message, err error) {
			if m == nil {
				o.Logger.Warn("codex: invalid line", "bytes", len(line), "err", err) // the line may contain a secret
			}
		},
		Panicked: func(method string, value any, stack []byte) {
			o.Logger.Error("codex: a callback panicked", "method", method, "panic", fmt.Sprint(value), "stack", string(stack))
		},
		MaxBuffered: o.MaxBuffered,
	})
	close(ready)
	go c.watch()
	return c
}

// observed passes a line of the server to the observer.
func (c *Client) observed(m *jsonrpc.Message) {
	if c.opts.Observe == nil {
		return
	}
	if l, err := item.DecodeServer([]byte(m.Raw)); err == nil {
		c.observing.Lock()
		defer c.observing.Unlock()
		c.opts.Observe(l, false)
	}
}

// sent passes a line of the client to the observer.
func (c *Client) sent(line []byte) {
	if c.opts.Observe == nil {
		return
	}
	if l, err := item.DecodeClient(line); err == nil {
		c.observing.Lock()
		defer c.observing.Unlock()
		c.opts.Observe(l, true)
	}
}

func (c *Client) notified(m *jsonrpc.Message) {
	l, err := item.DecodeServer([]byte(m.Raw))
	if err != nil {
		c.opts.Logger.Warn("codex: a notification that cannot be decoded", "method", m.Method, "err", err)
		return
	}
	if n, ok := l.(item.Notification); ok {
		c.route(n)
	}
}

type initializeParams struct {
	ClientInfo   clientInfo    `json:"clientInfo"`
	Capabilities *capabilities `json:"capabilities,omitempty"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

type capabilities struct {
	ExperimentalAPI           bool     `json:"experimentalApi,omitempty"`
	OptOutNotificationMethods []string `json:"optOutNotificationMethods,omitempty"`
}

func (c *Client) handshake(ctx context.Context) error {
	p := initializeParams{ClientInfo: clientInfo{c.opts.ClientName, c.opts.ClientTitle, c.opts.ClientVersion}}
	if c.opts.Experimental || len(c.opts.OptOut) > 0 {
		p.Capabilities = &capabilities{c.opts.Experimental, c.opts.OptOut}
	}
	if err := c.Call(ctx, "initialize", p, &c.info); err != nil {
		return err
	}
	return c.conn.Notify(ctx, "initialized", nil)
}

// Info returns the server's report from the start of the connection. It sends no request.
func (c *Client) Info() Info { return c.info }

// PID returns the process id of the server, or 0 if the spawner did not report one.
func (c *Client) PID() int { return c.sup.PID() }

// Call makes any request. params may be nil. If out is not nil, it gets the result as
// [item.DecodeValue] decodes it, or the bytes if it is a *json.RawMessage. The error is an
// *[RPCError] if the server refuses the request. If ctx has no deadline, Options.CallTimeout bounds
// the call.
func (c *Client) Call(ctx context.Context, method string, params, out any) error {
	return c.callThen(ctx, method, params, out, nil)
}

// callThen is like Call, but passes a successful result to then before any later message of the
// server is processed.
func (c *Client) callThen(ctx context.Context, method string, params, out any, then func(error)) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.CallTimeout)
		defer cancel()
	}
	var decodeErr error
	_, err := c.conn.CallThen(ctx, method, params, func(result json.RawMessage, err error) {
		if err == nil && out != nil {
			decodeErr = decodeResult(result, out)
		}
		if then != nil {
			then(errors.Join(err, decodeErr))
		}
	})
	if err != nil {
		return c.callError(method, err)
	}
	return decodeErr
}

func decodeResult(result json.RawMessage, out any) error {
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = result
		return nil
	}
	return item.DecodeValue(item.JSON(result), out)
}

// callError returns the reason why a request failed.
func (c *Client) callError(method string, err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &RPCError{Method: method, Code: e.Code, Message: e.Message, Data: item.JSON(e.Data)}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, jsonrpc.ErrClosed) {
		select {
		case <-c.ended:
			return c.err
		case <-time.After(c.opts.CloseGrace): // The process closed its output but did not exit.
			return fmt.Errorf("codex: %s: %w", method, err)
		}
	}
	return err
}

// Notifications yields every notification of the server from this call on, in order, until the
// client ends. The last element is the error that Wait returns. The iterator can be used once;
// several iterators may run at once. If a reader has more than Options.MaxBuffered bytes left to
// read, the client stops reading from the server until it catches up.
func (c *Client) Notifications(ctx context.Context) iter.Seq2[item.Notification, error] {
	box := newMailbox(c.opts.MaxBuffered)
	box.attach()
	c.update(func(r *routes) {
		if r.ended {
			box.end(r.endErr)
			return
		}
		r.subs = append(r.subs, box)
	})
	return c.read(ctx, box, func(r *routes) { unsubscribe(&r.subs, box) })
}

// read yields the notifications of a mailbox; it can be used once.
func (c *Client) read(ctx context.Context, box *mailbox, forget func(r *routes)) iter.Seq2[item.Notification, error] {
	var used sync.Once
	return func(yield func(item.Notification, error) bool) {
		first := false
		used.Do(func() { first = true })
		if !first {
			yield(nil, ErrUsed)
			return
		}
		defer func() {
			box.leave()
			c.update(forget)
		}()
		box.each(ctx, yield)
	}
}

// watch waits for the server to end and then ends everything else.
func (c *Client) watch() {
	defer close(c.ended)
	<-c.conn.Done()
	// The server closed its output. The process may still have to be killed.
	_ = c.sup.Stop()
	_ = c.conn.Close()
	err := c.endError()
	var out []delivery
	c.update(func(r *routes) {
		c.err = err
		out = r.end(err)
	})
	c.deliver(out)
}

// endError returns the reason why the client ended.
func (c *Client) endError() (err error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if exit := c.exitError(); exit != nil {
		return exit
	}
	return &ExitError{Code: -1}
}

func (c *Client) exitError() *ExitError {
	select {
	case <-c.sup.Done():
	default:
		return nil
	}
	exit := c.sup.Exit()
	return &ExitError{Code: exit.Code, Signal: exit.Signal, Stderr: exit.Stderr, Err: exit.Err, OutOfMemory: exit.OutOfMemory}
}

// Done returns a channel that is closed when the server has ended, by Close or by its own exit.
func (c *Client) Done() <-chan struct{} { return c.ended }

// Wait waits for the server to end. It returns [ErrClosed] after Close, an *[ExitError] if the
// server exited without Close, and the cause of ctx if that ends first.
func (c *Client) Wait(ctx context.Context) error {
	select {
	case <-c.ended:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the server and the processes that it has started, and waits for them. It interrupts
// running turns; their threads can be resumed. Each step takes at most Options.CloseGrace. Close
// may be called several times, and returns an error only if a process is left running.
func (c *Client) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		close(c.stop)
	})
	// Closing its input ends the server, and the exit of the server ends the reader.
	err := c.sup.Stop()
	_ = c.conn.Close()
	<-c.ended
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.CloseGrace)
	defer cancel()
	if waitErr := c.conn.Wait(ctx); waitErr != nil {
		err = errors.Join(err, errors.New("codex: a callback has not returned"))
	}
	c.work.Wait()
	return errors.Join(err, c.sup.Close())
}
