//go:build unix

package session

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// inputs returns the number of lines with a text that the agent has read, and ends the server.
func (c *hostStage) inputs(text string) (n int) {
	c.Helper()
	c.leave()
	h, err := OpenHost(c.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		c.Fatal(err)
	}
	c.host = h
	a := c.left()[0]
	p, err := h.running().Attach(c.Context(), a.Number, 0)
	for number := uint64(0); err == nil && number < a.Last; {
		l, nextErr := p.NextLine(c.Context())
		if err = nextErr; l.Input && string(l.Text) == text {
			n++
		}
		number = l.Number
	}
	if err := errors.Join(err, h.Close()); err != nil {
		c.Fatal(err)
	}
	return n
}

func (c *hostStage) respond(request string) (api.RespondResult, error) {
	return Of[Requests](c.server).PermissionRespond(c.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: request, Behavior: "allow"}, "me")
}

// TestAnswered_moving answers requests while a session moves from one server to the next, at each
// step: every accepted answer reaches the agent once, and the session waits for a person exactly
// while a request is open.
func TestAnswered_moving(t *testing.T) {
	next := func(c *hostStage) { c.leave(); c.serve(nil) }
	for name, tt := range map[string]struct {
		before, after func(c *hostStage)
	}{
		"before the server leaves": {func(*hostStage) {}, next},
		"while the server leaves": {func(c *hostStage) {
			for _, a := range c.server.loaded() {
				a.leave(t.Context())
			}
			if _, err := Of[Agents](c.server).Interrupt(t.Context(), api.SessionRef{SessionID: c.id}); FailureOf(err).Reason != api.Draining {
				t.Errorf("an interrupt while the server leaves returns %v, want draining: nothing is interrupted", err)
			}
		}, next},
		"when the link has ended": {func(c *hostStage) {
			if err := c.host.running().Close(); err != nil {
				t.Fatal(err)
			}
		}, func(c *hostStage) {
			c.await("the agent is adopted again", func() bool { return c.puppets.calls.got("Adopt agent-1") })
		}},
		"after the next server has begun": {next, func(*hostStage) {}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostStage(t)
			c.begin()
			c.say("ask r-1")
			c.say("ask r-2")
			c.has("both requests", `"r-2"`)
			tt.before(c)
			for _, id := range []string{"r-1", "r-2"} {
				if r, err := c.respond(id); err != nil || !r.Accepted {
					t.Errorf("the answer to %s returned %+v, %v, want it accepted", id, r, err)
				}
			}
			tt.after(c)
			c.is(Running)
			for _, id := range []string{"r-1", "r-2"} {
				c.await("the agent has the answer to "+id, func() bool { _, ok := c.puppets.read.Load("answer " + id); return ok })
				if n := c.count(`"resolved":"` + id + `"`); n != 1 {
					t.Errorf("%s is resolved in %d records, want 1", id, n)
				}
			}
			for _, id := range []string{"r-1", "r-2"} {
				if n := c.inputs("answer " + id); n != 1 {
					t.Errorf("the agent has read %d answers to %s, want 1", n, id)
				}
				c.serve(nil)
			}
		})
	}
}

// TestAnswered_past adopts an agent with a request in the lines since the last record that was answered, or with the end of an open
// one.
func TestAnswered_past(t *testing.T) {
	ask := &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}
	end := &event.PermissionResolved{RequestID: "r", Behavior: "cancelled"}
	for name, tt := range map[string]struct {
		open, given   bool
		logged        uint64 // the last line that the log has
		lines         [][]event.Event
		asked, closed int // records
		state         State
	}{
		"answered, its line is in the log":     {given: true, logged: 2, lines: [][]event.Event{{ask}, nil}, state: Running},
		"answered, its line is not in the log": {given: true, logged: 1, lines: [][]event.Event{nil, {ask}, nil}, state: Running},
		"open":                                 {open: true, logged: 2, lines: [][]event.Event{{ask}, nil}, state: RequiresAction},
		"withdrawn, the log has a later line":  {open: true, logged: 2, lines: [][]event.Event{{ask}, {end}}, closed: 1, state: Running},
		"withdrawn after the last record":      {open: true, logged: 1, lines: [][]event.Event{{ask}, {end}}, closed: 1, state: Running},
		"withdrawn, and asked again":           {open: true, logged: 3, lines: [][]event.Event{{ask}, {end}, {ask}}, state: RequiresAction},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			c.turn("work")
			n, _ := c.records(0)
			if err := c.with(t.Context(), c.id, func(a *actor) error {
				a.adoption = adoption{rebuilding: true, last: uint64(len(tt.lines)), unseen: map[string]bool{}, resolved: map[string]event.Event{}}
				a.core.Line = tt.logged
				if tt.open {
					prompt, _ := event.NewPrompt(ask)
					a.core.Requests, a.core.State = []pendingPrompt{{Prompt: prompt}}, RequiresAction
				}
				if tt.given {
					a.core.Given = []keptAnswer{*newKeptAnswer("r", &agent.PermissionAnswer{Allow: true})}
				}
				for i, events := range tt.lines {
					a.publish(a.takeBatch(nil, pumped{line: uint64(i + 1), events: events}))
				}
				if tt.state == RequiresAction || tt.given {
					a.publish(a.takeBatch(nil, pumped{events: []event.Event{ask}}))
				}
				return a.write()
			}); err != nil {
				t.Fatal(err)
			}
			c.inState(tt.state)
			_, records := c.records(n)
			asked, closed := strings.Count(records, `"type":"permission_request"`), strings.Count(records, `"resolved":"r"`)
			if asked != tt.asked || closed != tt.closed {
				t.Errorf("the request is asked in %d records and closed in %d, want %d and %d:\n%s", asked, closed, tt.asked, tt.closed, records)
			}
			if tt.given {
				c.await("the agent gets the answer", func() bool { return p.got("Answer r") })
			}
		})
	}
}

// stolenLog is a log in which another server writes the next records first.
type stolenLog struct {
	*brokenLog
	steal bool
}

func (l *stolenLog) Append(ctx context.Context, expected uint64, events ...[]byte) (uint64, error) {
	if !l.steal {
		return l.brokenLog.Append(ctx, expected, events...)
	}
	l.steal = false
	for i := range events {
		events[i] = []byte(`{"t":"2026-01-01T00:00:00Z","m":{"type":"notice","text":"of another server"}}`)
	}
	_, err := l.brokenLog.Append(ctx, expected, events...)
	return 0, errors.Join(err, errors.New("no answer came"))
}

type stolenStore struct {
	Store
	log *stolenLog
}

func (s stolenStore) Log(string) Log { return s.log }

// TestAnswered_stolen loses the acknowledgement of an answer while another server writes the same
// number of records: the answer is not accepted.
func TestAnswered_stolen(t *testing.T) {
	c := emptyStage(t)
	log := &stolenLog{brokenLog: c.log}
	c.Sessions.opts.Store = stolenStore{c.store, log}
	if err := c.Create(t.Context(), c.id, Opened{}); err != nil {
		t.Fatal(err)
	}
	p := c.connect()
	c.turn("work")
	p.events <- &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}
	c.inState(RequiresAction)
	if err := c.with(t.Context(), c.id, func(*actor) error { log.steal = true; return nil }); err != nil {
		t.Fatal(err)
	}
	r, err := Of[Requests](c.Sessions).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "allow"}, "me")
	if err == nil || r.Accepted || p.got("Answer") {
		t.Errorf("the answer returned %+v, %v, and the agent got %s; want an error, and no answer: the log has the records of another server", r, err, p.take())
	}
}

// TestAnswered_refused gives an answer that the agent refuses: the request is open again, and the next answer
// counts.
func TestAnswered_refused(t *testing.T) {
	c := newStage(t, Opened{})
	p := c.connect()
	c.turn("work")
	p.events <- &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}
	c.inState(RequiresAction)
	p.setFailWith("Answer", agent.ErrUnsupported)
	answer := func() error {
		_, err := Of[Requests](c.Sessions).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "allow"}, "me")
		return err
	}
	c.reason("an answer that the agent refuses", answer(), api.Unsupported)
	c.inState(RequiresAction)
	p.setFail("")
	if err := answer(); err != nil {
		t.Fatal(err)
	}
	c.inState(Running)
}

// TestAnswered_turnEnds ends a turn with an open request while the agent has another prompt: the request is closed, so that the session waits for
// no person.
func TestAnswered_turnEnds(t *testing.T) {
	prompt, _ := event.NewPrompt(&event.PermissionRequest{RequestID: "r"})
	c := core{State: RequiresAction, Requests: []pendingPrompt{{Prompt: prompt}}, Inputs: []input{{ID: "one", Status: inputDelivered}, {ID: "two", Status: inputSent}}}
	for _, d := range c.result() {
		c.apply(1, "", d.facts)
	}
	if c.State != Running || len(c.Requests) != 0 {
		t.Errorf("the session is %s with %d requests, want it running without any", c.State, len(c.Requests))
	}
}

// TestAnswered_lostLease answers on a server that has lost the session: the answer is refused with not_owner, and the log does not have it.
func TestAnswered_lostLease(t *testing.T) {
	c := newNodes(t, "a", "b")
	a := c.all["a"]
	if err := a.Create(t.Context(), "s-1", Opened{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Query(t.Context(), "s-1", "", `"work"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	a.delivered(t, "s-1")
	a.puppets.agent().events <- &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}
	soon(t, "the request is open", func() bool { i, _ := a.Lookup(t.Context(), "s-1"); return i.State == string(RequiresAction) })
	c.expire("s-1")
	if taken, err := c.all["b"].Take(t.Context(), "s-1"); err != nil || !taken {
		t.Fatalf("taking the session: %t, %v", taken, err)
	}
	_, err := Of[Requests](a.Sessions).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: "s-1", RequestID: "r", Behavior: "allow"}, "me")
	if !isNotOwner(err) {
		t.Errorf("an answer for the earlier owner returned %v, want not_owner", err)
	}
	for ev, err := range c.Log("s-1").Read(t.Context(), eventlog.Cursor{}) {
		if err != nil || strings.Contains(string(ev.Data), `"by":"me"`) {
			t.Errorf("the log has %s, %v, which its earlier owner wrote", ev.Data, err)
		}
	}
}
