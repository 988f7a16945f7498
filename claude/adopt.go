package claude

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Adoption is a CLI that another process has started and left running under a host.
type Adoption struct {
	// Process is the CLI. Its lines start with the first line that it wrote.
	Process spawn.LineProcess
	// Last is the number of the newest line of the process when Adopt is called. The earlier process wrote no
	// line after it.
	Last uint64
}

// Adopt returns a client for a CLI that another process has connected to and left, with the options of that process.
// It starts no process and writes no line: reading the earlier lines restores the turns, tasks and requests of the
// client. After the last of these lines the callbacks of opts are asked the open requests again; each request is
// answered once, by either process. The context bounds the time until the answer to the handshake is read. After an
// error the CLI is ended.
//
// Options with a SessionStore or with tool servers of this process are an *[OptionError], because their state is
// lost.
func Adopt(ctx context.Context, opts *Options, a Adoption) (*Client, error) {
	l, err := newLaunch(opts)
	if err == nil {
		err = l.adoptable()
	}
	if err != nil {
		return nil, errors.Join(err, a.Process.Kill())
	}
	c := &Client{r: newRouter(), sending: make(chan struct{}, 1)}
	c.r.onStall = c.abandon
	s := newSession(ctx, l, c.r, false)
	c.s = s
	s.responder.adopted = true
	c.lines = newLineQueue(s.freed)
	c.lines.whole = true
	c.r.subscribe(c.lines)
	t := &processTransport{launch: l, trace: s.trace, guard: s.guard}
	conn, err := t.adopt(ctx, a.Process)
	if err != nil {
		s.trace.exit(err)
		s.trace.close()
		return nil, err
	}
	s.conn = conn
	s.mux.Hold()
	s.update(func(st *sessionState) { st.rebuilding = true })
	end := s.begin(&reader{s: s, until: max(a.Last, 1), client: c})
	s.mcp.open()
	end()
	select {
	case <-s.ready:
	case <-ctx.Done():
		s.abort(context.Cause(ctx))
		<-s.ready
	}
	if err := c.adoptError(ctx); err != nil {
		c.Close()
		return nil, err
	}
	c.admit()
	return c, nil
}

// adoptError returns the reason why the past lines do not restore a client, or nil.
func (c *Client) adoptError(ctx context.Context) (err error) {
	var ended bool
	c.s.update(func(st *sessionState) { err, ended = st.handshake.err, st.handshake.ended })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && !ended:
		err = errNoHandshake
	}
	if err != nil {
		return &HandshakeError{Err: err}
	}
	return nil
}

var errNoHandshake = errors.New("the lines of the CLI lack the handshake")

// adoptable returns an error for options whose state ends with the process.
func (l *launch) adoptable() error {
	if l.SessionStore != nil {
		return &OptionError{errors.New("claude: Options.SessionStore: a session with a store cannot be adopted")}
	}
	if l.hasToolServers() {
		return &OptionError{errors.New("claude: Options.MCPServers: a session with tool servers of this process cannot be adopted")}
	}
	return nil
}

// adopt connects to a running CLI.
func (t *processTransport) adopt(ctx context.Context, p spawn.LineProcess) (*lineConn, error) {
	sup, err := proc.Start(ctx, spawn.Command{}, t.procOptions(proc.Adopted(p)))
	if err != nil {
		return nil, err
	}
	return withLines(newProcessConn(sup, t.launch, t.guard.release), p, t.launch).(*lineConn), nil
}

// past records that a line was read. After the last line of an earlier process, it asks open requests again.
func (r *reader) past(number uint64) {
	if r.until > 0 && number >= r.until {
		r.tap(entry{mark: markOf(r.until, inputLine)}, inputLine) // of either direction
		r.until = 0
		r.requireHandshake()
		r.s.mux.Release()
		r.s.update(func(st *sessionState) { st.rebuilding = false })
		r.s.check()
	}
}

// requireHandshake fails the handshake if the past lines do not contain its start.
func (r *reader) requireHandshake() {
	begun := r.initialized
	r.s.update(func(st *sessionState) { begun = begun || st.handshake.ended })
	if !begun {
		r.s.endHandshake(func(h *handshake) verdict { return h.fail(errNoHandshake) })
	}
}

// tap passes a line that is not a message to the receivers of all lines.
func (r *reader) tap(e entry, kind lineKind) {
	if e.mark == 0 {
		return
	}
	e.mark = markOf(e.mark.number(), kind)
	if turns := r.s.turns(); turns != nil {
		turns.tap(e)
	}
}

func (s *session) turns() (turns *router) {
	s.update(func(st *sessionState) { turns = st.turns })
	return turns
}

// wrote processes a line that was written to the CLI. It only reports the lines of this process,
// because writing them has already updated the state.
func (r *reader) wrote(e entry) {
	if e.text == "" {
		return
	}
	r.tap(e, inputLine)
	if r.until == 0 {
		return
	}
	if jsonwire.NewDecoder(e.text).Peek("type") == "user" {
		r.prompted(jsonwire.NewDecoder(e.text).Peek("uuid"))
		return
	}
	answered := r.s.answered
	if r.initialized {
		answered = nil // the first one counts
	}
	// A line that is not JSON has had no effect on the CLI either.
	begins, _ := r.s.mux.Wrote(e.text, answered)
	if begins && !r.initialized {
		r.s.launch.registered(e.text)
	}
	r.initialized = r.initialized || begins
}

// prompted opens the turn of a prompt that another process has sent.
func (r *reader) prompted(uuid string) {
	t := newTurn(r.client, uuid, nil)
	t.Discard()
	if r.client.r.open(t) != nil {
		return
	}
	r.s.update(func(st *sessionState) {
		st.clock = time.Now()
		st.end.prompt()
		r.s.watch(st)
	})
}

// Line is one line between a client and a CLI that a host keeps.
type Line struct {
	// Number counts the lines of both directions together.
	Number uint64
	// Input is true for a line to the CLI, false for a line of the CLI.
	Input bool
	// Message is the decoded line; nil for a line to the CLI and for one of the control protocol.
	Message Message
	// Text is the line without its line feed.
	Text string
}

// Lines yields every line, in both directions, of a CLI that runs under a host: [Options.Spawner] started a
// [spawn.LineProcess], or [Adopt] returned the client; then Lines begins with the earlier lines. Without a host it
// equals [Client.Messages], and the lines have no number. Use either Lines or Messages of a client, not both.
func (c *Client) Lines(ctx context.Context) iter.Seq2[Line, error] {
	box := c.lines
	if box == nil {
		box = newLineQueue(c.s.freed)
		box.whole = true
		c.r.subscribe(box)
	}
	return once(func(yield func(Line, error) bool) {
		c.ranges(box)
		defer c.r.unsubscribe(box)
		for {
			e, ok, err := box.take(ctx)
			if !ok {
				if err != nil {
					yield(Line{}, err)
				}
				return
			}
			if !yield(e.line(), nil) {
				return
			}
		}
	})
}

func (e entry) line() Line {
	l := Line{Number: e.mark.number(), Input: e.mark.kind() == inputLine, Text: e.text}
	if e.mark.kind() == messageLine {
		l.Message = e.message()
	}
	return l
}

// refusal answers a call of a hook that this process does not have. It refuses the call, because
// after an error the CLI would run it.
func refusal(in message.JSON) []byte {
	const why = "Parley was started again, and has no hook for this"
	var input struct {
		Event hook.Event `json:"hook_event_name"`
	}
	_ = jsonwire.Unmarshal(string(in), &input) // without an event there is no refusal
	return hook.Refusal(input.Event, why)
}
