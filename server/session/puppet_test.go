package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

var errPuppet = errors.New("the puppet refuses")

// asText returns a value as JSON.
func asText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// puppet is an agent with every optional feature. It records each call, and returns distinct
// values, or the error that the test has set.
type puppet struct{ bare }

// bare is an agent without optional features.
type bare struct {
	id     string
	mu     *sync.Mutex
	calls  *[]string
	fail   *string // the name of the call that fails
	err    *error  // its error
	events chan event.Event
	closed chan struct{}
	once   *sync.Once
	gates  *sync.Map // by the name of the call: a channel that it waits for
}

// block makes a call wait, after it was recorded, until the returned function is called.
func (b bare) block(name string) (open func()) {
	gate := make(chan struct{})
	b.gates.Store(name, gate)
	return func() { b.gates.Delete(name); close(gate) }
}

// pass waits for the gate of a call.
func (b bare) pass(name string) {
	if gate, ok := b.gates.Load(name); ok {
		<-gate.(chan struct{})
	}
}

func newBare(id string) bare {
	return bare{id: id, mu: &sync.Mutex{}, calls: new([]string), fail: new(string), err: new(errPuppet), events: make(chan event.Event, 100), closed: make(chan struct{}), once: &sync.Once{}, gates: &sync.Map{}}
}

// called records a call and returns its error.
func (b bare) called(name string, args ...any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.calls = append(*b.calls, strings.TrimSpace(name+fmt.Sprintln(args...)))
	if name = strings.TrimSpace(name); *b.fail == name || *b.fail == "any" && name != "Close" {
		return *b.err
	}
	return nil
}

// got reports whether a call that starts with name was recorded.
func (b bare) got(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(*b.calls, func(call string) bool { return strings.HasPrefix(call, name) })
}

// take returns the recorded calls and forgets them.
func (b bare) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := strings.Join(*b.calls, "; ")
	*b.calls = nil
	return all
}

func (b bare) setFail(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.fail = name
}

// setFailWith makes a call fail with an error.
func (b bare) setFailWith(name string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.fail, *b.err = name, err
}

func (b bare) ID() string { return b.id }

func (b bare) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			select {
			case ev := <-b.events:
				if !yield(ev, nil) {
					return
				}
			case <-b.closed:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

func (b bare) Send(_ context.Context, in agent.Input) error {
	if err := b.called("Send ", in.Text); err != nil {
		return err
	}
	b.pass("Send")
	b.events <- &event.UserMessage{Header: event.Header{UUID: in.UUID}, IsPrompt: true, IsText: true, Blocks: []event.Content{event.TextContent(in.Text)}}
	return nil
}

func (b bare) Interrupt(context.Context) (agent.Interrupted, error) {
	return agent.Interrupted{Dropped: []string{"d-1"}, StillQueued: []string{"q-1"}}, b.called("Interrupt")
}

func (b bare) Answer(ctx context.Context, id string, a agent.Answer) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := b.called("Answer ", id, asText(a))
	b.mu.Lock()
	fail := *b.fail
	b.mu.Unlock()
	switch fail {
	case notOpen:
		return agent.ErrNotOpen
	case silent:
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// notOpen makes Answer fail because the request is not open, silent because the agent does not react in time.
const (
	notOpen = "not open"
	silent  = "silent"
)

func (b bare) Close() error {
	defer b.once.Do(func() { close(b.closed) }) // last, so that a waiter finds the record
	return b.called("Close")
}

// result ends the turn.
func (b bare) result() { b.events <- &event.ResultMessage{Header: event.Header{UUID: "result"}} }

func (p puppet) SetModel(_ context.Context, model string) (string, error) {
	return "full " + model, p.called("SetModel ", model)
}
func (p puppet) SetMode(_ context.Context, mode string) error { return p.called("SetMode ", mode) }
func (p puppet) Modes() []string                              { return []string{"plan", "bypassPermissions"} }
func (p puppet) SetThinking(_ context.Context, n *int64) error {
	return p.called("SetThinking ", asText(n))
}
func (p puppet) SetEffort(_ context.Context, effort string) error {
	return p.called("SetEffort ", effort)
}
func (p puppet) Efforts() []string { return []string{"high"} }
func (p puppet) Fork(_ context.Context, at string) (string, error) {
	return "forked", p.called("Fork ", at)
}
func (p puppet) Rewind(_ context.Context, uuid string, dry bool) (agent.Rewound, error) {
	return agent.Rewound{CanRewind: true, FilesChanged: []string{"f-1"}, Insertions: 11, Deletions: 12, Error: "e-1"}, p.called("Rewind ", uuid, dry)
}
func (p puppet) Background(context.Context) (bool, error) { return true, p.called("Background") }
func (p puppet) StopTask(_ context.Context, id string) error {
	return p.called("StopTask ", id)
}
func (p puppet) TaskOutput(_ context.Context, id string, offset, limit int64) (agent.TaskOutput, error) {
	return agent.TaskOutput{Text: "t-1", Next: 13, EOF: true}, p.called("TaskOutput ", id, offset, limit)
}
func (p puppet) ContextUsage(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"u":1}`), p.called("ContextUsage")
}
func (p puppet) MCPStatus(context.Context) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(`{"m":1}`), json.RawMessage(`{"m":2}`)}, p.called("MCPStatus")
}
func (p puppet) MCPReconnect(_ context.Context, server string) error {
	return p.called("MCPReconnect ", server)
}
func (p puppet) MCPToggle(_ context.Context, server string, on bool) error {
	return p.called("MCPToggle ", server, on)
}
func (p puppet) MCPTools(_ context.Context, server string) ([]agent.MCPTool, error) {
	return []agent.MCPTool{{Server: "ms", Name: "mn", Description: "md", InputSchema: json.RawMessage(`{"s":1}`)}}, p.called("MCPTools ", server)
}
func (p puppet) Title(_ context.Context, prompt string) (string, error) {
	err := p.called("Title ", prompt)
	p.pass("Title")
	return "Titled " + prompt, err
}
func (p puppet) Models(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "m-1", Data: json.RawMessage(`{"full":"m-1"}`)}, {Name: "m-2", Description: "d"}}, p.called("Models")
}
func (p puppet) Commands(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "c-1"}}, p.called("Commands")
}
func (p puppet) Agents(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "a-1"}}, p.called("Agents")
}

// puppets is a provider of puppets.
type puppets struct {
	calls bare // calls of the provider
	bare  bool // its agents have no optional features

	mu      sync.Mutex
	last    *puppet
	options agent.Options
	live    *agent.Live
	history []event.Event
	resume  error
	follow  chan event.Event
}

func newPuppets() *puppets {
	return &puppets{calls: newBare("provider"), follow: make(chan event.Event)}
}

func (p *puppets) Name() string { return "claude" }

func (p *puppets) start(name string, opts agent.Options) (agent.Session, error) {
	if err := p.calls.called(name); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := newBare("agent-1")
	p.last, p.options = &puppet{bare: b}, opts
	if p.bare {
		return b, nil
	}
	return p.last, nil
}

func (p *puppets) Open(_ context.Context, opts agent.Options) (agent.Session, error) {
	return p.start("Open", opts)
}

func (p *puppets) Resume(_ context.Context, id string, opts agent.Options) (agent.Session, error) {
	p.mu.Lock()
	err := p.resume
	p.mu.Unlock()
	if err != nil {
		return nil, errors.Join(err, p.calls.called("Resume "+id))
	}
	return p.start("Resume "+id, opts)
}

func (p *puppets) setResume(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume = err
}

func (p *puppets) agent() *puppet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *puppets) given() agent.Options {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options
}

func (p *puppets) setLive(l *agent.Live) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = l
}

func (p *puppets) Live(_ context.Context, id string) (*agent.Live, error) {
	p.mu.Lock()
	live := p.live
	p.mu.Unlock()
	return live, p.calls.called("Live ", id)
}

func (p *puppets) LiveSessions(context.Context) (map[string]agent.Live, error) {
	return map[string]agent.Live{"agent-1": {PID: 7}}, p.calls.called("LiveSessions")
}

func (p *puppets) ResumeCommand(id string) []string { return []string{"do", "it's", id} }

func (p *puppets) Restorable(_ context.Context, id string) bool {
	return p.calls.called("Restorable ", id) == nil
}

func (p *puppets) Restore(_ context.Context, id string) error {
	err := p.calls.called("Restore ", id)
	p.calls.pass("Restore")
	return err
}

func (p *puppets) Delivered(context.Context, string, string) (agent.Delivery, error) {
	return agent.NotDelivered, p.calls.called("Delivered")
}

func (p *puppets) Mirror(_ context.Context, id, dir string) error {
	err := p.calls.called("Mirror ", id, dir)
	p.calls.pass("Mirror")
	return err
}

func (p *puppets) Fetch(_ context.Context, id, dir string) error {
	return p.calls.called("Fetch ", id, dir)
}

func (p *puppets) Follow(ctx context.Context, id string) iter.Seq2[event.Event, error] {
	_ = p.calls.called("Follow ", id)
	return func(yield func(event.Event, error) bool) {
		for {
			select {
			case ev := <-p.follow:
				var err error
				if ev == nil {
					err = errPuppet
				}
				if !yield(ev, err) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *puppets) History() agent.History { return puppetHistory{p: p} }

// puppetHistory is the history of every puppet.
type puppetHistory struct {
	agent.History
	p *puppets
}

func (h puppetHistory) Load(_ context.Context, id string, page agent.HistoryPage) (agent.HistoryEvents, error) {
	if err := h.p.calls.called("Load ", id, page.Limit); err != nil {
		return agent.HistoryEvents{}, err
	}
	return agent.HistoryEvents{Events: func(yield func(event.Event, error) bool) {
		for _, ev := range h.p.history {
			if !yield(ev, nil) {
				return
			}
		}
		if err := h.p.calls.called("Page"); err != nil {
			yield(nil, err)
		}
	}}, nil
}

func (h puppetHistory) Delete(_ context.Context, id string) error {
	return h.p.calls.called("Delete ", id)
}

// brokenLog is a log with calls that fail on demand.
type brokenLog struct {
	*memLog
	mu   sync.Mutex
	fail map[string]error // by the name of the call
	then func()           // called after the next Append
}

// afterAppend calls a function after the next Append.
func (l *brokenLog) afterAppend(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.then = f
}

func (l *brokenLog) set(call string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail[call] = err
}

func (l *brokenLog) err(call string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fail[call]
}

func (l *brokenLog) Append(ctx context.Context, expected uint64, events ...[]byte) (uint64, error) {
	if err := l.err("Append"); err != nil {
		return 0, err
	}
	l.mu.Lock()
	then := l.then
	l.then = nil
	l.mu.Unlock()
	if then != nil {
		defer then()
	}
	return l.memLog.Append(ctx, expected, events...)
}

func (l *brokenLog) AppendDelta(ctx context.Context, owner, seq, sub uint64, deltas ...[]byte) error {
	return errors.Join(l.err("AppendDelta"), l.memLog.AppendDelta(ctx, owner, seq, sub, deltas...))
}

func (l *brokenLog) TrimDeltas(ctx context.Context, seq uint64) error {
	return errors.Join(l.err("TrimDeltas"), l.memLog.TrimDeltas(ctx, seq))
}

func (l *brokenLog) Last(ctx context.Context) (eventlog.Cursor, error) {
	if err := l.err("Last"); err != nil {
		return eventlog.Cursor{}, err
	}
	return l.memLog.Last(ctx)
}

func (l *brokenLog) Read(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	if err := l.err("Read"); err != nil {
		return func(yield func(eventlog.Event, error) bool) { yield(eventlog.Event{}, err) }
	}
	return l.memLog.Read(ctx, after)
}

func (l *brokenLog) Snapshot(ctx context.Context) (eventlog.Snapshot, error) {
	if err := l.err("Snapshot"); err != nil {
		return eventlog.Snapshot{}, err
	}
	return l.memLog.Snapshot(ctx)
}

func (l *brokenLog) PutSnapshot(ctx context.Context, seq, sub uint64, data []byte) error {
	if err := l.err("PutSnapshot"); err != nil {
		return err
	}
	return l.memLog.PutSnapshot(ctx, seq, sub, data)
}

func (l *brokenLog) Delete(context.Context) error { return l.err("Delete") }

// brokenStore is a store with a single broken log for every session.
type brokenStore struct {
	*memStore
	log  *brokenLog
	ends map[string]uint64
	fail error // of Ends
}

func (s *brokenStore) Log(string) Log { return s.log }

func (s *brokenStore) Ends(context.Context) (string, map[string]uint64, error) {
	return "g", s.ends, s.fail
}

// stage is a session with a puppet as its agent, a log that fails on demand, and the log output.
type stage struct {
	*testing.T
	*Sessions
	id      string
	puppets *puppets
	log     *brokenLog
	store   *brokenStore
	lines   *lockedBuffer
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newStage returns a session that was created and has no agent yet.
func newStage(t *testing.T, o Opened) *stage {
	t.Helper()
	c := emptyStage(t)
	if err := c.Create(t.Context(), c.id, o); err != nil {
		t.Fatalf("creating the session: %v", err)
	}
	return c
}

// emptyStage is a stage before the session is created.
func emptyStage(t *testing.T) *stage {
	t.Helper()
	var c *stage
	t.Cleanup(func() { // after Close
		if free, waiting := c.Places(); free != c.opts.MaxAgents || waiting != 0 {
			t.Errorf("%d places are free at the end, and %d agents wait, want all %d free", free, waiting, c.opts.MaxAgents)
		}
	})
	s, st := memSessions(t)
	t.Cleanup(func() { // before Close
		s.mu.Lock()
		defer s.mu.Unlock()
		for id, e := range s.entries {
			if e.refs != 0 && !t.Failed() {
				t.Errorf("%d uses of %s are left at the end, want none", e.refs, id)
			}
		}
	})
	c = &stage{T: t, Sessions: s, id: Prefix + "puppet", puppets: newPuppets(), log: &brokenLog{memLog: &memLog{}, fail: map[string]error{}}, lines: &lockedBuffer{}}
	c.store = &brokenStore{memStore: st, log: c.log, ends: map[string]uint64{}}
	s.opts.Store = c.store
	s.logger = slog.New(slog.NewTextHandler(c.lines, nil))
	s.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) {
		return c.puppets, []string{"E=1"}, nil
	}
	return c
}

// state returns the content of the log and the core as text.
func (c *stage) state() string {
	c.Helper()
	var text string
	if err := c.with(context.Background(), c.id, func(a *actor) error { text = asText(&a.core); return nil }); err != nil {
		c.Fatal(err)
	}
	return text
}

// records returns the number of records, and those after n as text.
func (c *stage) records(n int) (int, string) {
	c.log.memLog.mu.Lock()
	defer c.log.memLog.mu.Unlock()
	return len(c.log.events), string(bytes.Join(c.log.events[min(n, len(c.log.events)):], []byte("\n")))
}

// has reports whether a record contains all texts.
func (c *stage) has(texts ...string) bool {
	log := &faultyLog{memLog: c.log.memLog}
	return log.has(texts...) > 0
}

// await waits for something for at most 10 s.
func (c *stage) await(what string, ok func() bool) {
	c.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(10 * time.Second); !ok(); <-ticker.C {
		if time.Now().After(end) {
			_, log := c.records(0)
			c.Fatalf("it never came: %s. The log has\n%s\nand the logger has\n%s", what, log, c.lines)
		}
	}
}

// inState waits for a state of the session.
func (c *stage) inState(want State) {
	c.Helper()
	is := State("")
	c.await("the state "+string(want), func() bool {
		_ = c.with(context.Background(), c.id, func(a *actor) error { is = a.core.State; return nil })
		return is == want
	})
}

// connect starts the agent.
func (c *stage) connect() *puppet {
	c.Helper()
	if _, err := c.Connected(context.Background(), c.id); err != nil {
		c.Fatalf("starting the agent: %v", err)
	}
	p := c.puppets.agent()
	p.take()
	return p
}

// turn begins a turn and waits until the agent has confirmed its prompt.
func (c *stage) turn(text string) (id string) {
	c.Helper()
	r, err := c.Query(context.Background(), c.id, "", event.Quote(text), "now", "by") // also if prompts are held
	if err != nil {
		c.Fatal(err)
	}
	c.await("the agent confirms the prompt", func() bool {
		done := false
		_ = c.with(context.Background(), c.id, func(a *actor) error {
			in, ok := a.core.input(r.TurnID)
			done = ok && in.Status == inputDelivered && !a.sending
			return nil
		})
		return done
	})
	return r.TurnID
}

// reason checks the reason of a failure.
func (c *stage) reason(what string, err error, want api.Reason) {
	c.Helper()
	if got := FailureOf(err).Reason; err == nil || got != want {
		c.Errorf("%s: the error is %v (%s), want one with the reason %s", what, err, got, want)
	}
}
