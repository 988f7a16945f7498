package editor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// joinedActor is an actor whose session was running before.
type joinedActor struct {
	*actor
	past *event.Conversation
}

func (a joinedActor) Past() *event.Conversation { return a.past }

// elsewhere is a provider of sessions that run elsewhere.
type elsewhere struct {
	agent.Provider
	past  *event.Conversation
	fails error
	last  *actor
	count int
}

func (e *elsewhere) Joins() bool { return true }

func (e *elsewhere) Resume(_ context.Context, id string, _ agent.Options) (agent.Session, error) {
	if e.fails != nil {
		return nil, e.fails
	}
	e.count++
	e.last = newActor(id)
	return joinedActor{e.last, e.past}, nil
}

// pastOf returns a conversation with a prompt and a call that is running.
func pastOf() *event.Conversation {
	c := new(event.Conversation)
	for _, ev := range []event.Event{
		&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Blocks: []event.Content{event.TextContent("hello")}},
		&event.AssistantMessage{Header: event.Header{UUID: "a", MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "tool_use", ToolUseID: "t", Name: "Bash", Input: `{"command":"ls"}`}}}},
	} {
		c.Apply(ev)
	}
	return c
}

// TestJoin opens a session that runs elsewhere, in each state in which the client may have it already.
func TestJoin(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name                string
		open, waits, replay bool
		fails, want         error
		disconnected        bool
		resumed, closed     bool // a view is opened; the client's earlier view is closed
		updates             []string
	}{
		{name: "replayed", replay: true, resumed: true, updates: []string{`"hello"`, `"tool_call"`, `"in_progress"`}},
		{name: "not replayed", resumed: true},
		{name: "open", open: true, replay: true, resumed: true, closed: true, updates: []string{`"hello"`, `"tool_call"`, `"in_progress"`}},
		{name: "open, not replayed", open: true},
		{name: "open with a prompt", open: true, waits: true, replay: true},
		{name: "unknown", fails: agent.ErrNotFound, want: notFound("s")},
		{name: "failed", fails: broken, want: broken},
		{name: "disconnected", replay: true, disconnected: true, want: jsonrpc.ErrClosed, resumed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				provider := &elsewhere{past: pastOf(), fails: tt.fails}
				p.srv.opts.Provider = provider
				before := newActor("s")
				var had *session
				if tt.open {
					var err error
					if had, err = p.srv.add("s", joinedActor{before, nil}, agent.Options{}); err != nil {
						t.Fatal(err)
					}
					if tt.waits {
						had.enqueue()
					}
				}
				if tt.disconnected {
					_ = p.srv.conn.Close()
				}
				one, err := p.srv.resume(t.Context(), &sessionRequest{id: "s", cwd: t.TempDir()}, tt.replay)
				synctest.Wait()
				if e, ok := tt.want.(*jsonrpc.Error); ok && e != jsonrpc.ErrClosed {
					if got, is := errors.AsType[*jsonrpc.Error](err); !is || got.Code != e.Code {
						t.Errorf("it fails with %v, want %v", err, tt.want)
					}
				} else if (err == nil) != (tt.want == nil) || tt.want == broken && !errors.Is(err, broken) {
					t.Errorf("it fails with %v, want %v", err, tt.want)
				}
				if resumed := provider.count == 1; resumed != tt.resumed {
					t.Errorf("a view is opened: %v, want %v", resumed, tt.resumed)
				}
				if closed := before.notes() == "close"; closed != tt.closed {
					t.Errorf("the earlier view is closed: %v, want %v", closed, tt.closed)
				}
				if closed := provider.last != nil && provider.last.notes() == "close"; closed != (tt.resumed && tt.want != nil) {
					t.Errorf("the view is closed: %v, want that only after an error", closed)
				}
				if kept := err == nil && one == had; kept != (tt.open && !tt.resumed) {
					t.Errorf("the earlier session is kept: %v, want %v", kept, !tt.resumed)
				}
				if err == nil && (!one.shared.on || p.srv.session("s") != one) {
					t.Error("the session is not shared, or not the one of its id")
				}
				if err == nil && tt.resumed && !one.titled {
					t.Error("the next prompt names the session")
				}
				checkUpdates(t, p.shown(), tt.updates)
				if one != nil {
					one.close()
				}
			})
		})
	}
}

// checkUpdates checks that each update has the text that is wanted at its place.
func checkUpdates(t *testing.T, got, want []string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("the client is shown %q, want %q", got, want)
	}
}

// TestShared_event checks whose prompt an event is, and whether a turn runs.
func TestShared_event(t *testing.T) {
	for _, tt := range []struct {
		name    string
		on      bool
		sent    string
		ev      event.Event
		foreign bool
		busy    bool
	}{
		{"own prompt", true, "a", &event.UserMessage{Header: event.Header{UUID: "a"}}, false, false},
		{"prompt of another", true, "a", &event.UserMessage{Header: event.Header{UUID: "b"}}, true, false},
		{"not shared", false, "a", &event.UserMessage{Header: event.Header{UUID: "b"}}, false, false},
		{"turn", true, "", &event.TurnStart{}, false, true},
		{"result", true, "", &event.ResultMessage{}, false, false},
		{"running", true, "", &event.SessionState{State: "running"}, false, true},
		{"asking", true, "", &event.SessionState{State: "requires_action"}, false, true},
		{"idle", true, "", &event.SessionState{State: "idle"}, false, false},
		{"interrupted", true, "", &event.SessionState{State: "interrupted"}, false, false},
	} {
		for _, busy := range []bool{false, true} {
			s := shared{on: tt.on, busy: busy}
			s.sent(tt.sent)
			wantBusy := tt.busy
			if _, ok := tt.ev.(*event.UserMessage); ok {
				wantBusy = busy
			}
			if got := s.event(tt.ev); got != tt.foreign || s.busy != wantBusy {
				t.Errorf("%s: it is of another client: %v, a turn runs: %v, want %v, %v", tt.name, got, s.busy, tt.foreign, wantBusy)
			}
			if own := tt.on && tt.name == "own prompt"; own && (len(s.mine) != 0 || !s.event(tt.ev)) {
				t.Errorf("%s: the prompt is kept after its event", tt.name)
			}
			if !tt.on && len(s.mine) > 0 {
				t.Errorf("%s: the prompt is kept, which no event removes", tt.name)
			}
		}
	}
}

// TestStateChanged checks which prompts of a shared session end when its agent ends or its queue changes.
func TestStateChanged(t *testing.T) {
	queue := func(ids ...string) *event.QueueChanged {
		q := &event.QueueChanged{}
		for _, id := range ids {
			q.Items = append(q.Items, event.QueueItem{ID: id})
		}
		return q
	}
	me := func(p *prompt) string { return p.uuid }
	for _, tt := range []struct {
		name   string
		alone  bool // the session is not shared
		events func(p *prompt) []event.Event
		want   string
	}{
		{name: "interrupted", events: states("interrupted"), want: "failed"},
		{name: "failed", events: states("failed"), want: "failed"},
		{name: "ended", events: states("ended"), want: "failed"},
		{name: "expired", events: states("expired"), want: "failed"},
		{name: "not shared", alone: true, events: states("interrupted")},
		{name: "running", events: states("running")},
		{name: "idle", events: states("idle")},
		{name: "queued", events: func(p *prompt) []event.Event { return []event.Event{queue("x", me(p))} }},
		{name: "never queued", events: func(*prompt) []event.Event { return []event.Event{queue("x"), queue()} }},
		{name: "removed", events: func(p *prompt) []event.Event { return []event.Event{queue(me(p), "x"), queue("x")} }, want: "cancelled"},
		{name: "removed, not shared", alone: true, events: func(p *prompt) []event.Event { return []event.Event{queue(me(p)), queue()} }},
		{name: "moved", events: func(p *prompt) []event.Event { return []event.Event{queue(me(p), "x"), queue("x"), queue("x", me(p))} }},
		{name: "begun", events: func(p *prompt) []event.Event {
			return []event.Event{queue(me(p)), queue(), &event.TurnStart{PromptID: me(p)}}
		}},
		{name: "begun with a message", events: func(p *prompt) []event.Event {
			return []event.Event{queue(me(p)), queue(), &event.UserMessage{Header: event.Header{UUID: me(p)}}}
		}},
		{name: "begun before", events: func(p *prompt) []event.Event {
			return []event.Event{queue(me(p)), &event.TurnStart{PromptID: me(p)}, queue()}
		}},
		{name: "another has begun", events: func(p *prompt) []event.Event {
			return []event.Event{queue(me(p)), queue(), &event.TurnStart{PromptID: "x"}}
		}, want: "cancelled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				a := newActor("s")
				var live agent.Session = joinedActor{a, nil}
				if tt.alone {
					live = a
				}
				s, err := p.srv.add("s", live, agent.Options{})
				if err != nil {
					t.Fatal(err)
				}
				mine, next := s.enqueue(), s.enqueue()
				mine.sent, mine.accepted = true, true
				for _, ev := range tt.events(mine) {
					a.events <- ev
				}
				synctest.Wait()
				if tt.want == "cancelled" {
					if got := over(mine); got != "" {
						t.Errorf("the prompt is over at once: %s", got)
					}
				}
				<-time.After(startWait + time.Second)
				if got := over(mine); got != tt.want {
					t.Errorf("the prompt is over with %q, want %q", got, tt.want)
				}
				if got := over(next); got != "" {
					t.Errorf("a prompt that was not sent is over with %q", got)
				}
				mine.leave()
				s.close()
			})
		})
	}
}

func states(state string) func(*prompt) []event.Event {
	return func(*prompt) []event.Event { return []event.Event{&event.SessionState{State: state}} }
}

// over returns how a prompt has ended, or "".
func over(p *prompt) string {
	select {
	case <-p.over:
		if p.result.err != nil {
			return "failed"
		}
		return string(p.result.reason)
	default:
		return ""
	}
}

// TestEnded checks which turn answers a prompt.
func TestEnded(t *testing.T) {
	for _, tt := range []struct {
		name                    string
		by, of                  string // of the turn; "me" is the prompt
		unsent, shared          bool
		begun, cancelled, waits bool // waits: it has an outcome, and a follow-up turn ends
		stop                    string
		want                    string
	}{
		{name: "its turn", of: "me", want: "end_turn"},
		{name: "a turn without a name", want: "end_turn"},
		{name: "a turn of another", of: "x"},
		{name: "a turn of a task", by: event.ByTask},
		{name: "a turn of the agent", by: event.ByAgent},
		{name: "before it is sent", unsent: true},
		{name: "shared, its turn", shared: true, begun: true, of: "me", want: "end_turn"},
		{name: "shared, not begun", shared: true},
		{name: "shared, begun without a name", shared: true, begun: true, want: "end_turn"},
		{name: "cancelled", of: "me", cancelled: true, want: "cancelled"},
		{name: "cancelled, failed", of: "me", cancelled: true, stop: "failed", want: "cancelled"},
		{name: "failed", of: "me", stop: "failed", want: "failed"},
		{name: "refused", of: "me", stop: "refusal", want: "refusal"},
		{name: "a report follows", by: event.ByTask, waits: true, stop: "max_tokens", want: "end_turn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t)
			s := newSession(p.srv, "s", agent.Options{})
			s.shared.on = tt.shared
			one := s.enqueue()
			one.sent, one.begun, one.cancelled = !tt.unsent, tt.begun, tt.cancelled
			if tt.waits {
				one.held = &outcome{reason: acp.StopReasonEndTurn}
			}
			s.turnBy, s.turnOf = tt.by, strings.ReplaceAll(tt.of, "me", one.uuid)
			r := &event.ResultMessage{Usage: `{"input_tokens":1,"output_tokens":20,"cache_read_input_tokens":300,"cache_creation_input_tokens":4000}`}
			r.StopReason, r.IsError = tt.stop, tt.stop == "failed"
			s.mapper.Event(r)
			s.ended(r)
			if got := over(one); got != tt.want {
				t.Errorf("the prompt is over with %q, want %q", got, tt.want)
			}
			if u := one.result.usage; !tt.waits && tt.want != "" && fmt.Sprint(u.InputTokens, u.OutputTokens, u.CachedReadTokens.Or(0), u.CachedWriteTokens.Or(0), u.TotalTokens) != "1 20 300 4000 4321" {
				t.Errorf("the usage is %+v, want 1, 20, 300 and 4000 of 4321", u)
			}
			if s.turnBy != "" || s.turnOf != "" {
				t.Errorf("after the turn the session has its origin %q %q", s.turnBy, s.turnOf)
			}
		})
	}
}

// TestRun_ends checks a prompt whose request is cancelled or whose client disconnects, in each state.
func TestRun_ends(t *testing.T) {
	for _, tt := range []struct {
		name                         string
		queued, shared, disconnected bool
		want                         string // what the agent is told after the prompt
	}{
		{name: "queued", queued: true},
		{name: "running", want: "interrupt"},
		{name: "running, disconnected", disconnected: true, want: "interrupt"},
		{name: "running, shared", shared: true, want: "interrupt"},
		{name: "running, shared, disconnected", shared: true, disconnected: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				a := newActor("s")
				var live agent.Session = a
				if tt.shared {
					live = joinedActor{a, nil}
				}
				s, err := p.srv.add("s", live, agent.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var first *prompt
				if tt.queued {
					first = s.enqueue()
				}
				one := s.enqueue()
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan outcome, 1)
				go func() { done <- one.run(ctx, nil) }()
				synctest.Wait()
				a.notes()
				if tt.disconnected {
					_ = p.srv.conn.Close()
				}
				cancel()
				synctest.Wait()
				if got := a.notes(); got != tt.want {
					t.Errorf("the agent is told %q, want %q", got, tt.want)
				}
				if ended := len(done) == 1; ended != (tt.want == "") {
					t.Errorf("the prompt is over before the agent has ended its turn: %v, want %v", ended, tt.want == "")
				}
				one.finish(outcome{reason: acp.StopReasonCancelled}) // as the end of the turn does
				if o := <-done; o.reason != acp.StopReasonCancelled {
					t.Errorf("the prompt is over with %+v, want cancelled", o)
				}
				if first != nil && over(first) != "" {
					t.Errorf("the prompt before it is over with %s", over(first))
				}
				s.close()
			})
		})
	}
}

// TestCancel_shared checks which turn a cancellation of a shared session stops, and that it stops it once.
func TestCancel_shared(t *testing.T) {
	for _, tt := range []struct {
		name                string
		prompt, accepted    bool   // this client has a prompt, the agent has accepted it
		busy                bool   // a turn runs
		of                  string // its prompt; "me" is that of this client
		interrupts, waiting int    // waiting: prompts that wait for the end of the turn
	}{
		{"nothing runs", false, false, false, "", 0, 0},
		{"a turn of another", false, false, true, "x", 1, 0},
		{"own turn", true, true, true, "me", 1, 1},
		{"own turn without a name", true, true, true, "", 1, 1},
		{"own prompt, not sent", true, false, true, "x", 1, 0},
		{"own prompt behind a turn of another", true, true, true, "x", 2, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t)
				p.srv.opts.CancelWait = time.Hour
				a := newActor("s")
				s, err := p.srv.add("s", joinedActor{a, nil}, agent.Options{})
				if err != nil {
					t.Fatal(err)
				}
				s.shared.busy = tt.busy
				var one *prompt
				if tt.prompt {
					one = s.enqueue()
					one.sent, one.accepted = tt.accepted, tt.accepted
					s.turnOf = one.uuid
				}
				if tt.of != "me" {
					s.turnOf = tt.of
				}
				s.cancel()
				synctest.Wait()
				if got := strings.Count(a.notes(), "interrupt"); got != tt.interrupts {
					t.Errorf("the agent is interrupted %d times, want %d", got, tt.interrupts)
				}
				waiting := 0
				if one != nil && over(one) == "" {
					waiting = 1
				}
				if waiting != tt.waiting {
					t.Errorf("%d prompts wait for the end of the turn, want %d", waiting, tt.waiting)
				}
				if one != nil {
					one.finish(outcome{})
				}
				s.close()
			})
		})
	}
}

// TestAdmitted checks that a prompt that cannot be read leaves the queue, and that a prompt whose handler has begun is forgotten.
func TestAdmitted(t *testing.T) {
	for _, tt := range []struct {
		name, method, params string
		queued, ok           bool
	}{
		{"read", acp.MethodSessionPrompt, `{"sessionId":"s","prompt":[]}`, true, true},
		{"unreadable", acp.MethodSessionPrompt, `{"sessionId":"s","prompt":7}`, true, false},
		{"unknown session", acp.MethodSessionPrompt, `{"sessionId":"x","prompt":[]}`, false, false},
		{"no session", acp.MethodSessionPrompt, `{"sessionId":7}`, false, false},
		{"another request", acp.MethodSessionCancel, `{"sessionId":"s"}`, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, s, _ := stage(t, `{}`)
			m := &jsonrpc.Message{ID: "1", Method: tt.method, Params: tt.params}
			p.srv.observe(m)
			if queued := len(s.queue) == 1 && p.srv.arrived[m] != nil; queued != tt.queued {
				t.Errorf("it is queued: %v, want %v", queued, tt.queued)
			}
			entry, params, err := p.srv.admitted(m)
			if ok := err == nil && entry != nil && params != nil; ok != tt.ok {
				t.Errorf("it is admitted as %v, %v, %v, want that: %v", entry, params, err, tt.ok)
			}
			if left := len(s.queue) > 0; left != tt.ok || len(p.srv.arrived) > 0 {
				t.Errorf("it is left in the queue: %v, want %v; %d are kept for their handlers, want none", left, tt.ok, len(p.srv.arrived))
			}
		})
	}
}
