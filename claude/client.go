package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/random"
)

// Client is a conversation of many turns with one CLI. Its methods are safe for concurrent use, also in
// callbacks. It must be closed.
type Client struct {
	s *session
	r *router

	sending chan struct{} // holds a token while a prompt is being written

	lines *lineQueue // all lines of an adopted client, from the first on; else nil

	shared *attachment // nil if no client can attach
	left   bool        // guarded by attachments
}

// Connect starts a CLI and waits until it is ready. The context applies only to connecting: the client
// continues when it ends. An error after the start is a *[HandshakeError], which wraps the CLI's own error.
func Connect(ctx context.Context, opts *Options) (*Client, error) {
	if c := attach(opts); c != nil {
		return c, nil
	}
	l, err := newLaunch(opts)
	if err != nil {
		return nil, err
	}
	return connect(ctx, l)
}

// connect starts the CLI of a launch and waits until it is ready.
func connect(ctx context.Context, l *launch) (*Client, error) {
	c := &Client{r: newRouter(), sending: make(chan struct{}, 1)}
	c.r.onStall = c.abandon
	s, err := startSession(ctx, l, c.r, false)
	if err != nil {
		return nil, err
	}
	c.s = s
	select {
	case <-s.ready:
	case <-ctx.Done():
		s.abort(context.Cause(ctx))
		c.Close()
		return nil, context.Cause(ctx)
	}
	if err := c.handshakeError(ctx); err != nil {
		c.Close()
		return nil, err
	}
	s.checkVersion(c.ServerInfo().ClaudeCodeVersion)
	if err := s.requireMCP(ctx); err != nil {
		c.Close()
		return nil, err
	}
	c.admit()
	return c, nil
}

// handshakeError returns the error of the handshake, or nil. The exit error takes precedence, because it is
// more specific than an unanswered request.
func (c *Client) handshakeError(ctx context.Context) (err error) {
	c.s.update(func(st *sessionState) { err = st.handshake.err })
	if err == nil {
		return nil
	}
	<-c.s.done
	if ended := c.r.outcome(); ended != nil {
		err = ended
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) || errors.As(err, new(*HandshakeError)) {
		return err
	}
	return &HandshakeError{Err: err}
}

// Send sends a prompt. A busy CLI queues it. Send returns an error if the prompt could not be written; the
// [Turn] reports all later errors.
func (c *Client) Send(ctx context.Context, in message.UserInput) (*Turn, error) {
	if c.closedAlone() {
		return nil, ErrClosed
	}
	if err := c.waitDrained(ctx); err != nil {
		return nil, err
	}
	if in.Raw != nil {
		head := rawHead(in.Raw)
		if head.Type != "" && head.Type != "user" {
			return c.sendOther(ctx, in.Raw)
		}
		if head.UUID != "" {
			in.UUID = head.UUID
		}
	}
	if in.UUID == "" {
		in.UUID = random.UUID()
	}
	line, err := c.s.encode(in)
	if err != nil {
		return nil, err
	}
	t := newTurn(c, in.UUID, c.s.freed)
	// Open turns in the order of their lines, because a CLI that names no prompts answers in that order.
	select {
	case c.sending <- struct{}{}:
		defer func() { <-c.sending }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := c.r.open(t); err != nil {
		return nil, err
	}
	if err := c.s.prompt(ctx, line); err != nil {
		c.r.drop(t, err)
		return nil, err
	}
	return t, nil
}

// sendOther writes a line that is not a prompt. The messages that it causes cannot be recognized, so its
// turn ends at once.
func (c *Client) sendOther(ctx context.Context, line json.RawMessage) (*Turn, error) {
	t := newTurn(c, "", nil)
	t.finish(nil, nil)
	close(t.left)
	var compact bytes.Buffer
	if err := json.Compact(&compact, line); err != nil {
		return nil, fmt.Errorf("claude: UserInput.Raw: %w", err)
	}
	return t, c.s.send(ctx, compact.Bytes())
}

// waitDrained waits for the end of abandoned turns.
func (c *Client) waitDrained(ctx context.Context) error {
	limit := deadline.Or(c.s.launch.DrainTimeout, defaultDrain)
	ctx, cancel := deadline.With(ctx, limit, &StalledError{Phase: "drain", Since: limit})
	defer cancel()
	return c.r.drained(ctx)
}

// Query sends a prompt and yields the messages of its turn, the result last. The error of a turn that failed
// follows its result, as in [Turn.Messages], and the client remains usable. Breaking out before the result
// interrupts the turn and drains the rest of it in the background; the next Send waits for that. The end of
// ctx has the same effect, and its cause is the last element. The prompt is sent when the range begins. The
// iterator can be ranged over once.
func (c *Client) Query(ctx context.Context, prompt string) iter.Seq2[Message, error] {
	return once(func(yield func(message.Message, error) bool) {
		t, err := c.Send(ctx, Text(prompt))
		if err != nil {
			yield(nil, err)
			return
		}
		c.rangeOver(ctx, t, yield)
	})
}

// rangeOver yields the messages of a turn and abandons it when the caller breaks out.
func (c *Client) rangeOver(ctx context.Context, t *Turn, yield func(message.Message, error) bool) {
	c.ranges(t.box)
	if !t.yield(ctx, yield) {
		c.abandon(t)
	}
}

// ranges records that a caller reads a queue. Another queue may block the reader now.
func (c *Client) ranges(box *lineQueue) (first bool) {
	first = !box.ranged.Swap(true)
	c.s.freed()
	return first
}

// abandon interrupts a turn that is no longer read and drains it in the background.
func (c *Client) abandon(t *Turn) {
	if !c.r.abandon(t) {
		return
	}
	go func() {
		defer c.r.forget(t)
		limit := deadline.Or(c.s.launch.DrainTimeout, defaultDrain)
		ctx, cancel := deadline.With(context.Background(), limit, context.DeadlineExceeded)
		defer cancel()
		if err := t.Cancel(ctx); err != nil && !errors.Is(err, ErrClosed) {
			c.s.launch.logger().Warn("claude: interrupting an abandoned turn", "error", err)
		}
		select {
		case <-t.left:
		case <-ctx.Done():
		case <-c.s.done:
		}
	}()
}

// Messages yields every message from the call on, including those of turns, until the CLI has ended. Several
// ranges may run at once. If the CLI failed, the error is the last element. The first messages are those
// outside of turns that no earlier call has returned, at most the last 1,000. Breaking out has no effect on
// the session. The end of ctx ends the range, with its cause as the last element. The iterator can be ranged
// over once; an unused iterator keeps all messages in memory until the client is closed.
func (c *Client) Messages(ctx context.Context) iter.Seq2[Message, error] {
	box := newLineQueue(c.s.freed)
	c.r.subscribe(box)
	return once(func(yield func(message.Message, error) bool) {
		c.ranges(box)
		defer c.r.unsubscribe(box)
		for {
			e, ok, err := box.take(ctx)
			if !ok {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if !yield(e.message(), nil) {
				return
			}
		}
	})
}

// CloseInput closes the CLI's input: no more prompts can be sent. The CLI finishes its queued prompts and
// exits; [Client.Wait] waits for that.
func (c *Client) CloseInput() error {
	if c.closedAlone() {
		return ErrClosed
	}
	c.s.noMoreInput()
	return nil
}

// Wait waits until the CLI has ended. It returns nil for a clean exit, a *[ResultError] if the CLI exited
// with an error because its last turn failed, an *[ExitError], or the error that broke the connection. After
// Close it returns nil.
func (c *Client) Wait() error {
	<-c.s.done
	return c.r.outcome()
}

// Close ends the CLI: it interrupts a running turn, closes the CLI's input, so that it can write its
// transcript, and then ends the whole process tree. It returns when all processes have ended, after at most
// the sum of the four graces of [Deadlines], and may be called several times.
func (c *Client) Close() error {
	if c.leave() {
		c.s.close()
		c.r.waitDrains()
	}
	return nil
}

// SessionID returns the id of the session, or "" until the CLI has reported it. It changes when
// the conversation is reset.
func (c *Client) SessionID() (id string) {
	c.s.update(func(st *sessionState) { id = st.sessionID })
	return id
}

// Control sends any control request, including those that this package does not know. fields, a struct or a
// map, is the request without its subtype and may be nil; the answer is decoded into out unless that is nil
// or the answer has no body. The error of the CLI is a *[ControlError].
func (c *Client) Control(ctx context.Context, subtype string, fields, out any) error {
	request, err := controlRequest(subtype, fields)
	if err == nil && c.closedAlone() {
		err = ErrClosed
	}
	if err != nil {
		return err
	}
	limit := deadline.Or(c.s.launch.ControlTimeout, 0)
	stalled := &StalledError{Phase: "control request " + subtype, Since: limit}
	ctx, cancel := deadline.With(ctx, limit, stalled)
	defer cancel()
	told := c.s.trace.control(subtype)
	answer, err := c.s.mux.Call(ctx, request)
	if err == error(stalled) {
		c.s.explain(stalled)
	}
	if ce, ok := errors.AsType[*control.Error](err); ok {
		err = &ControlError{Subtype: subtype, Code: ce.Code, Message: ce.Message}
	}
	told(err)
	if err != nil || out == nil || answer.Body == "" {
		return err
	}
	return decodeAnswer(answer.Body, out)
}

func decodeAnswer(body string, out any) error {
	if j, ok := out.(*message.JSON); ok {
		*j = message.JSON(body)
		return nil
	}
	return message.JSON(body).Decode(out)
}

// controlRequest returns the JSON of a request.
func controlRequest(subtype string, fields any) ([]byte, error) {
	head := map[string]any{"subtype": subtype}
	if fields == nil {
		return jsonwire.Marshal(head)
	}
	body, err := jsonwire.Marshal(fields)
	if err != nil {
		return nil, err
	}
	if jsonwire.NewDecoder(string(body)).Kind() != '{' {
		return nil, errors.New("claude: the fields of a control request are not an object")
	}
	return jsonwire.Prepend(head, body)
}

// rawHead returns the members of a raw prompt line that identify it.
func rawHead(line json.RawMessage) (head struct {
	Type string `json:"type"`
	UUID string `json:"uuid"`
}) {
	_ = json.Unmarshal(line, &head) // message.UserInput.Line reports the error
	return head
}
