//go:build unix

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/spawn"
)

// hostedPuppet is an agent under a host: a process that repeats its lines. Some of the lines are
// events.
type hostedPuppet struct {
	bare
	process spawn.LineProcess
	last    uint64 // of the lines before the adoption
	kept    *int64 // what Kept returns
	orphan  *string
	held    *heldWrite // nil if the next write does not wait
	read    *sync.Map  // the lines that agents have read
}

// hold makes the next write wait until fail is called, and then fail.
func (p *hostedPuppet) hold() (began <-chan struct{}, fail func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &heldWrite{make(chan struct{}), make(chan struct{})}
	p.held = h
	return h.begun, func() { close(h.gate) }
}

// heldWrite is a write that waits.
type heldWrite struct{ begun, gate chan struct{} }

func (p *hostedPuppet) write(ctx context.Context, id, line string) error {
	if err := p.called("Write ", line); err != nil {
		return err
	}
	p.mu.Lock()
	h := p.held
	p.held = nil
	p.mu.Unlock()
	if h != nil {
		close(h.begun)
		<-h.gate
		return errPuppet
	}
	return p.process.WriteLine(ctx, id, []byte(line))
}

func (p *hostedPuppet) Send(ctx context.Context, in agent.Input) error {
	return p.write(ctx, in.UUID, "prompt "+in.UUID)
}

func (p *hostedPuppet) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	return agent.Interrupted{}, p.write(ctx, "interrupt", "result")
}

func (p *hostedPuppet) Answer(ctx context.Context, id string, _ agent.Answer) error {
	return p.write(ctx, "answer "+id, "answer "+id)
}

func (p *hostedPuppet) Close() error {
	err := errors.Join(p.called("Close"), p.process.Kill())
	_, waitErr := p.process.Wait()
	return errors.Join(err, waitErr)
}

func (p *hostedPuppet) Kept() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.kept
}

func (p *hostedPuppet) OrphanInput() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []byte(*p.orphan)
}

func (p *hostedPuppet) set(kept int64, orphan string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*p.kept, *p.orphan = kept, orphan
}

// events returns the events of a line of the agent.
func (p *hostedPuppet) lineEvents(line string) []event.Event {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "prompt":
		return []event.Event{&event.UserMessage{Header: event.Header{UUID: rest}, IsPrompt: true, IsText: true, Blocks: []event.Content{event.TextContent("text")}}}
	case "say":
		h := event.Header{UUID: rest, MessageID: rest}
		return []event.Event{&event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: rest}}}}}
	case "begin":
		h := event.Header{MessageID: rest}
		return []event.Event{&event.MessageStart{Header: h}, &event.TextStart{Header: h}}
	case "delta":
		return []event.Event{&event.TextDelta{Header: event.Header{MessageID: "stream"}, Text: rest}}
	case "ask":
		return []event.Event{&event.PermissionRequest{Kind: event.PermissionTool, RequestID: rest, ToolUseID: "t", ToolName: "Bash", Input: `{}`}}
	case "answer":
		return []event.Event{&event.PermissionResolved{RequestID: rest, Behavior: "allow"}}
	case "result":
		return []event.Event{&event.ResultMessage{Header: event.Header{UUID: "result"}}}
	}
	return nil
}

// Batches reports the requests of earlier lines again, unless an input answers them.
func (p *hostedPuppet) Batches(ctx context.Context) iter.Seq2[agent.Batch, error] {
	return func(yield func(agent.Batch, error) bool) {
		var open []event.Event
		for {
			l, err := p.process.NextLine(ctx)
			if err != nil {
				return
			}
			b := agent.Batch{Line: l.Number}
			if answered, ok := strings.CutPrefix(string(l.Text), "answer "); ok {
				open = slices.DeleteFunc(open, func(ev event.Event) bool { return ev.(*event.PermissionRequest).RequestID == answered })
			}
			if l.Input {
				p.read.Store(string(l.Text), true)
			} else {
				b.Events = p.lineEvents(string(l.Text))
			}
			for _, ev := range b.Events {
				if _, ok := ev.(*event.PermissionRequest); ok {
					open = append(open, ev)
				}
			}
			if !yield(b, nil) || l.Number == p.last && !yield(agent.Batch{Events: slices.Clone(open)}, nil) {
				return
			}
		}
	}
}

// hostedPuppets is a provider with hosted puppets.
type hostedPuppets struct {
	calls bare
	read  sync.Map // the lines that its agents have read

	mu      sync.Mutex
	last    *hostedPuppet
	adopted agent.Adoption
	absence time.Duration // that the options of the last agent have
}

func (p *hostedPuppets) Name() string { return "claude" }

func (p *hostedPuppets) session(process spawn.LineProcess, a agent.Adoption) *hostedPuppet {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.adopted = &hostedPuppet{bare: newBare("agent-1"), process: process, last: a.Last, kept: new(int64), orphan: new(string), read: &p.read}, a
	return p.last
}

func (p *hostedPuppets) agent() *hostedPuppet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *hostedPuppets) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	if err := p.calls.called("Open"); err != nil {
		return nil, err
	}
	p.absent(opts)
	process, err := opts.Spawner.Spawn(ctx, spawn.Command{Path: "/bin/cat", Dir: "/", Env: []string{"PATH=/bin"}})
	if err != nil {
		return nil, err
	}
	if err := p.calls.called("Greet"); err != nil { // the process runs but the agent fails
		return nil, errors.Join(err, process.Kill())
	}
	p.calls.pass("Greet")
	return p.session(process.(spawn.LineProcess), agent.Adoption{}), nil
}

func (p *hostedPuppets) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	return p.Open(ctx, opts)
}

func (p *hostedPuppets) absent(opts agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absence = opts.MaxAbsence
}

func (p *hostedPuppets) Adopt(_ context.Context, id string, opts agent.Options, a agent.Adoption) (agent.Session, error) {
	p.absent(opts)
	if err := p.calls.called("Adopt ", id); err != nil {
		return nil, errors.Join(err, a.Process.Kill())
	}
	return p.session(a.Process, a), nil
}

// unadoptable is a provider with agents that cannot be adopted.
type unadoptable struct{ p *hostedPuppets }

func (u unadoptable) Name() string { return "claude" }

func (u unadoptable) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	return u.p.Open(ctx, opts)
}

// hostStage runs servers, one after another, with one store and one host.
type hostStage struct {
	*testing.T
	dir     string
	store   *endedStore
	lists   string
	puppets *hostedPuppets
	lines   *lockedBuffer
	host    *Host
	server  *Sessions
	id      string
	box     func(agent.Provider, string, bool, []string) *api.Box // of the next server
	leases  *hostList                                             // of a cluster; nil without one
	owners  Owners                                                // of a cluster
}

// newHostStage runs a host in this process, and the first server.
func newHostStage(t *testing.T) *hostStage {
	t.Helper()
	c := newHostOnly(t)
	c.serve(nil)
	return c
}

// newHostOnly runs a host in this process, without a server.
func newHostOnly(t *testing.T) *hostStage {
	t.Helper()
	dir, err := os.MkdirTemp("", "h") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &hostStage{T: t, dir: dir, store: &endedStore{&memStore{}}, lists: t.TempDir(), puppets: &hostedPuppets{calls: newBare("provider")}, lines: &lockedBuffer{}, id: Prefix + "hosted"}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- host.Run(ctx, dir, host.Options{}, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	return c
}

// serve starts the next server.
func (c *hostStage) serve(provider agent.Provider) {
	c.Helper()
	if provider == nil {
		provider = c.puppets
	}
	logger := slog.New(slog.NewTextHandler(c.lines, nil))
	for end := time.Now().Add(10 * time.Second); c.host == nil || !c.host.Used(); {
		opts := HostOptions{KeepChildren: true}
		if c.leases != nil {
			opts.Leases = c.leases
		}
		h, err := OpenHost(context.Background(), c.dir, opts, logger)
		if err != nil {
			c.Fatal(err)
		}
		if c.host = h; !h.Used() && time.Now().After(end) {
			c.Fatal("no host answers")
		}
	}
	h := c.host
	c.server, _ = memSessions(c.T, func(o *Options) {
		o.Store, o.Host, o.Logger, o.List, o.Dir = c.store, h, logger, filepath.Join(c.lists, "list"), c.lists
		o.Box = c.box
		if c.leases != nil {
			o.Owners = c.owners
		}
		o.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return provider, nil, nil }
	})
}

// leave ends the server; its agents stay with the host.
func (c *hostStage) leave() {
	c.Helper()
	c.server.Leave(c.Context())
	c.host = nil
}

// left returns the agents of the host.
func (c *hostStage) left() (all []host.Agent) {
	c.Helper()
	link := c.host.running()
	if link == nil {
		c.Fatal("the server has no host")
	}
	all, err := link.Agents(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return all
}

// begin creates the session and begins a turn, and returns the prompt.
func (c *hostStage) begin() string {
	c.Helper()
	if err := c.server.Create(c.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
		c.Fatal(err)
	}
	r, err := c.server.Query(c.Context(), c.id, "", event.Quote("text"), "", "by")
	if err != nil {
		c.Fatal(err)
	}
	c.is(Running)
	c.has("the prompt", `"status":"delivered"`)
	return r.TurnID
}

// with runs a function in the loop of the session.
func (c *hostStage) with(f func(a *actor) error) {
	c.Helper()
	if err := c.server.with(c.Context(), c.id, f); err != nil {
		c.Fatal(err)
	}
}

func (c *hostStage) await(what string, ok func() bool) {
	c.Helper()
	(&stage{T: c.T, log: &brokenLog{memLog: c.store.Log(c.id).(*memLog)}, lines: c.lines}).await(what, ok)
}

// is waits for a state.
func (c *hostStage) is(want State) {
	c.Helper()
	c.await("the state "+string(want), func() bool {
		is := State("")
		c.with(func(a *actor) error { is = a.core.State; return nil })
		return is == want
	})
}

// has waits for text in the state of the session.
func (c *hostStage) has(what, text string) {
	c.Helper()
	c.await(what, func() bool {
		found := false
		c.with(func(a *actor) error { found = strings.Contains(asText(&a.core), text); return nil })
		return found
	})
}

// say makes the agent write a line.
func (c *hostStage) say(line string) {
	c.Helper()
	if err := c.puppets.agent().process.WriteLine(c.Context(), line, []byte(line)); err != nil {
		c.Fatal(err)
	}
}

// sayAlone makes the agent write a line while no server runs.
func (c *hostStage) sayAlone(line string) {
	c.Helper()
	h, err := OpenHost(c.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		c.Fatal(err)
	}
	c.host = h
	p, err := h.running().Attach(c.Context(), c.left()[0].Number, 0)
	if err == nil {
		err = p.WriteLine(c.Context(), line, []byte(line))
	}
	for err == nil { // until the agent has written it
		var l spawn.Line
		if l, err = p.NextLine(c.Context()); !l.Input && string(l.Text) == line {
			break
		}
	}
	if err := errors.Join(err, h.Close()); err != nil {
		c.Fatal(err)
	}
	c.host = nil
}

// note writes facts to the log.
func (c *hostStage) note(f facts) {
	c.Helper()
	c.with(func(a *actor) error {
		d := a.core.stateDraft(cmp.Or(f.State, a.core.State))
		f.State = d.facts.State
		d.facts = &f
		return a.commit(d)
	})
}

// count returns how many records of the log have a text.
func (c *hostStage) count(text string) int {
	log := &faultyLog{memLog: c.store.Log(c.id).(*memLog)}
	return log.has(text)
}

// An agent outlives its server in the middle of a turn: the next server takes it over, has every event once, and ends the turn. An agent
// that has ended is forgotten.
func TestHost_outlives(t *testing.T) {
	c := newHostStage(t)
	prompt := c.begin()
	c.say("say before")
	c.await("the text", func() bool { return c.count(`"before"`) > 0 })
	c.leave()
	c.sayAlone("say between")
	c.puppets.calls.take()
	c.serve(nil)
	if got := c.puppets.calls.take(); got != "Adopt agent-1" {
		t.Errorf("the next server called %q, want it to take the agent over", got)
	}
	c.is(Running)
	c.await("what the agent said without a server", func() bool { return c.count(`"between"`) > 0 })
	c.puppets.mu.Lock()
	adopted := c.puppets.adopted
	c.puppets.mu.Unlock()
	if adopted.Stored == 0 || adopted.Last <= adopted.Stored {
		t.Errorf("the agent has %d lines of which %d are stored, want some that are not", adopted.Last, adopted.Stored)
	}
	if _, err := Of[Agents](c.server).Interrupt(t.Context(), api.SessionRef{SessionID: c.id}); err != nil {
		t.Fatal(err)
	}
	c.is(Idle)
	for _, text := range []string{`"before"`, `"between"`, `"uuid":"result"`} {
		if n := c.count(text); n != 1 {
			t.Errorf("%d records have %s, want 1", n, text)
		}
	}
	if second := c.puppets.agent(); second.got("Write prompt") {
		t.Errorf("the prompt %s was sent again", prompt)
	}
	if _, err := Of[Details](c.server).Disconnect(t.Context(), api.SessionRef{SessionID: c.id}); err != nil {
		t.Fatal(err)
	}
	c.await("the host forgets the agent", func() bool { return len(c.left()) == 0 })
}

// A request that is open when a server leaves is open at the next one, and its answer reaches the agent once.
func TestHost_request(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	c.say("ask r-1")
	c.is(RequiresAction)
	c.leave()
	c.serve(nil)
	c.is(RequiresAction)
	c.await("the agent asks again", func() bool {
		seen := false
		c.with(func(a *actor) error { seen = len(a.unseen) == 0; return nil })
		return seen
	})
	if _, err := Of[Requests](c.server).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r-1", Behavior: "allow"}, "me"); err != nil {
		t.Fatal(err)
	}
	if got := c.puppets.agent().take(); got != "Write answer r-1" {
		t.Errorf("the agent got %q, want the answer once", got)
	}
	c.is(Running)
}

// An agent that the next server cannot adopt is ended. The session is interrupted and can continue with another agent.
func TestHost_unfit(t *testing.T) {
	short.SkipQuick(t, "starts many agents")
	for name, tt := range map[string]struct {
		before   func(c *hostStage) // while the first server runs
		between  func(c *hostStage)
		provider func(c *hostStage) agent.Provider
		want     string
		state    State // Interrupted if empty
	}{
		"stopped with the server": {before: func(c *hostStage) { c.note(facts{State: Draining}) }, want: "the session is draining"},
		"ended":                   {before: func(c *hostStage) { c.note(facts{State: Ended}) }, want: "the session is ended", state: Ended},
		"in another box": {before: func(c *hostStage) {
			agent := c.left()[0].Number
			c.note(facts{Host: &agent, Box: &api.Box{Kind: "other"}})
		}, want: "in another box"},
		"no adopter": {provider: func(c *hostStage) agent.Provider { return unadoptable{c.puppets} }, want: "cannot be taken over"},
		"refused":    {between: func(c *hostStage) { c.puppets.calls.setFail("Adopt") }, want: errPuppet.Error()},
		"another agent": {before: func(c *hostStage) {
			c.note(facts{Host: new(uint32(99))})
		}, want: "the session had agent 99"},
		"a line that the host lacks": {before: func(c *hostStage) {
			last := c.left()[0].Last
			c.with(func(a *actor) error { a.line = last + 1; return nil })
			c.note(facts{})
		}, want: "the log has line"},
		"given up": {before: func(c *hostStage) {
			c.with(func(a *actor) error { return a.agent.process.Checkpoint(c.Context(), 1, nil) })
		}, want: "lines were given up"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostStage(t)
			c.begin()
			if tt.before != nil {
				tt.before(c)
			}
			c.leave()
			if tt.between != nil {
				tt.between(c)
			}
			var provider agent.Provider
			if tt.provider != nil {
				provider = tt.provider(c)
			}
			c.serve(provider)
			c.is(cmp.Or(tt.state, Interrupted))
			if !strings.Contains(c.lines.String(), tt.want) {
				t.Errorf("the log of the server has\n%s\nwant %q", c.lines, tt.want)
			}
			if all := c.left(); len(all) != 0 {
				t.Errorf("the host has the agents %+v, want none", all)
			}
		})
	}
}

// Agents of no session are ended, and of two agents of a session the first.
func TestHost_leftovers(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	own := c.left()
	cat := spawn.Command{Path: "/bin/cat", Dir: "/", Env: []string{"PATH=/bin"}}
	var newest uint32
	for _, key := range []string{Prefix + "stranger", c.id} {
		p, err := c.host.running().SpawnAgent(t.Context(), cat, host.AgentOptions{Key: key, KeepChildren: true})
		if err != nil {
			t.Fatal(err)
		}
		newest = p.Agent().Number
	}
	c.with(func(a *actor) error { a.line = 0; return nil })
	c.note(facts{Host: &newest})
	c.leave()
	c.serve(nil)
	if all := c.left(); len(own) != 1 || len(all) != 1 || all[0].Number != newest {
		t.Errorf("the host has the agents %+v, want the newest of the session alone", all)
	}
}

// An agent that does not start leaves nothing at the host.
func TestHost_startFails(t *testing.T) {
	c := newHostStage(t)
	c.puppets.calls.setFail("Greet")
	if err := c.server.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.server.Connected(t.Context(), c.id); !errors.Is(err, errPuppet) {
		t.Errorf("the start returned %v, want %v", err, errPuppet)
	}
	if all := c.left(); len(all) != 0 {
		t.Errorf("the host has the agents %+v, want none", all)
	}
}

// The input that interrupts a turn without a server is at the host while the turn runs, and again after each change.
func TestHost_orphanInput(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	p := c.puppets.agent()
	orphan := func() (input string) {
		c.with(func(a *actor) error {
			r := a.agent
			r.orphanMu.Lock()
			defer r.orphanMu.Unlock()
			input = string(r.orphan)
			return nil
		})
		return input
	}
	for _, input := range []string{"first", "second", ""} {
		p.set(0, input)
		c.await("the input "+input, func() bool {
			c.with(func(a *actor) error { a.watchKept(); return nil })
			return orphan() == input
		})
	}
}

// An idle agent with many lines at the host is ended; a working one releases its lines once for each step.
func TestHost_kept(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	p := c.puppets.agent()
	c.say("say something")
	c.await("the text", func() bool { return c.count(`"something"`) > 0 })
	checkpoint := func() uint64 { return c.left()[0].Checkpoint }
	watch := func() { c.with(func(a *actor) error { a.tick(time.Now()); return nil }) }
	p.set(maxTurn, "")
	watch()
	if got := checkpoint(); got != 0 {
		t.Errorf("at the limit the lines up to %d were given up, want none", got)
	}
	p.set(maxTurn+1, "")
	watch()
	c.await("the lines are given up", func() bool { return checkpoint() > 0 })
	c.with(func(a *actor) error {
		if a.agent.gaveUp != maxTurn+1 || a.agent.reason != "" {
			t.Errorf("the agent gave up %d bytes and ends because of %q, want it to run", a.agent.gaveUp, a.agent.reason)
		}
		return nil
	})
	c.say("result")
	c.is(Idle)
	p.set(maxKept, "")
	watch()
	if p.got("Close") {
		t.Error("an idle agent was ended at the limit, want one more byte")
	}
	p.set(maxKept+1, "")
	watch()
	c.await("the idle agent is ended", func() bool { return p.got("Close") && len(c.left()) == 0 })
}

// TestHost_keptUnstored: the host releases a line only if the log has it and every line before it.
func TestHost_keptUnstored(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	c.say("say something")
	c.await("the text", func() bool { return c.count(`"something"`) > 0 })
	c.puppets.agent().set(maxTurn+1, "")
	stored := uint64(0)
	c.with(func(a *actor) error {
		stored, a.stored = a.stored, 0 // before the first write
		if a.watchKept(); a.agent.gaveUp != 0 {
			t.Error("lines were given up of which the log has none")
		}
		a.stored, a.line = stored, a.line+1
		a.draft(a.core.stateDraft(a.core.State)) // and not written
		a.watchKept()
		return nil
	})
	if stored == 0 {
		t.Fatal("the log has no line of the agent")
	}
	c.await("the lines are given up", func() bool { return c.left()[0].Checkpoint > 0 })
	if got := c.left()[0].Checkpoint; got != stored {
		t.Errorf("the lines up to %d were given up, want those that the log has: %d", got, stored)
	}
}

// The settings determine the timeout of an agent without a server. The default is short for an agent with a budget.
func TestHostOptions_agent(t *testing.T) {
	budget := 1.5
	for _, tt := range []struct {
		set    time.Duration
		budget *float64
		want   time.Duration
	}{{0, nil, 0}, {0, &budget, 10 * time.Minute}, {time.Hour, &budget, time.Hour}, {time.Hour, nil, time.Hour}} {
		o := HostOptions{KeepChildren: true}
		o.OrphanTimeout = tt.set
		got := o.agent("s", &agent.Options{MaxBudgetUSD: tt.budget})
		if fmt.Sprint(got) != fmt.Sprint(host.AgentOptions{Key: "s", OrphanTimeout: tt.want, KeepChildren: true}) {
			t.Errorf("with %v set and the budget %v it is %+v, want the timeout %v", tt.set, tt.budget, got, tt.want)
		}
	}
}

// A server does not take back a host with another owner, and starts no agent after it has left the host.
func TestHost_fenced(t *testing.T) {
	c := newHostStage(t)
	old := c.host
	next, err := OpenHost(t.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.await("the first server has lost the host", func() bool { return old.running() == nil })
	if _, err := old.connect(t.Context()); err == nil {
		t.Error("the first server has taken the host back")
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	if _, err := next.connect(t.Context()); !errors.Is(err, host.ErrLinkLost) {
		t.Errorf("a closed host: %v, want %v", err, host.ErrLinkLost)
	}
	idle, err := OpenHost(t.Context(), t.TempDir(), HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil || idle.Used() || idle.running() != nil {
		t.Errorf("without a host: %v, used %v", err, idle.Used())
	}
	if err := idle.Stop(t.Context()); err != nil {
		t.Errorf("stopping no host: %v", err)
	}
}

// A message that an agent was streaming when its server stopped is complete on the next server, without a gap.
func TestHost_stream(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	written := func() (text string) {
		c.with(func(a *actor) error {
			a.flush()
			for _, ev := range a.stream.restart() {
				switch ev := ev.(type) {
				case *event.TextStart:
					text += ev.Text
				case *event.TextDelta:
					text += ev.Text
				}
			}
			return nil
		})
		return text
	}
	c.say("begin stream")
	c.say("delta one")
	c.await("the first words", func() bool { return written() == "one" })
	c.say("say between") // a durable record after the text
	c.await("the record", func() bool { return c.count(`"between"`) > 0 })
	c.say("delta two")
	c.await("the next words", func() bool { return written() == "onetwo" })
	c.leave()
	c.serve(nil)
	c.say("delta three")
	c.await("all words, once", func() bool { return written() == "onetwothree" })
}

// An actor that has left its agent with the host changes nothing and starts no other agent.
func TestHost_leave(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	var left *actor
	c.with(func(a *actor) error { left = a; return nil })
	n, _ := left.log.Last(t.Context())
	c.puppets.calls.take()
	defer c.leave()
	left.leave(t.Context())
	if err := left.call(t.Context(), left.owned); FailureOf(err).Reason != api.Draining {
		t.Errorf("a change after it: %v, want the reason %s", err, api.Draining)
	}
	if err := left.call(t.Context(), func() error { left.start(""); return nil }); err != nil {
		t.Fatal(err)
	}
	if at, _ := left.log.Last(t.Context()); at.Seq != n.Seq || c.puppets.calls.got("Open") {
		t.Errorf("the log has %d records instead of %d, and the provider was called with %q", at.Seq, n.Seq, c.puppets.calls.take())
	}
}

// If the last events of an agent cannot be stored, the host keeps the agent and the next server reads them.
func TestHost_unstored(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	log := c.store.Log(c.id).(*memLog)
	fail := func(err error) {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.fail = err
	}
	fail(eventlog.ErrFull)
	p := c.puppets.agent()
	c.say("say last words")
	c.await("the log is full", func() bool {
		full := false
		c.with(func(a *actor) error { full = a.blocked != nil; return nil })
		return full
	})
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.process.Wait(); err != nil {
		t.Fatal(err)
	}
	c.leave()
	fail(nil)
	c.serve(nil)
	c.await("the last words", func() bool { return c.count(`"last words"`) == 1 })
}

// meeting is a provider whose adoptions wait for one another: each completes when enough of them run concurrently.
type meeting struct {
	*hostedPuppets
	wait *sync.WaitGroup
}

func (m meeting) Adopt(ctx context.Context, id string, opts agent.Options, a agent.Adoption) (agent.Session, error) {
	m.wait.Done()
	met := make(chan struct{})
	go func() {
		m.wait.Wait()
		close(met)
	}()
	select {
	case <-met:
		return m.hostedPuppets.Adopt(ctx, id, opts, a)
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), a.Process.Kill())
	}
}

// An agent that has not answered its handshake does not delay the adoption of others.
func TestHost_together(t *testing.T) {
	const sessions = 3
	c := newHostStage(t)
	var ids []string
	for n := range sessions {
		c.id = fmt.Sprintf("%stogether%d", Prefix, n)
		c.begin()
		ids = append(ids, c.id)
	}
	c.leave()
	m := meeting{c.puppets, &sync.WaitGroup{}}
	m.wait.Add(sessions)
	c.serve(m)
	for _, c.id = range ids {
		c.is(Running)
	}
}
