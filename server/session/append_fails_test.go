package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/webhook"
)

// faultyLog is a log with one failing append.
type faultyLog struct {
	*memLog
	at    int // index of the failing append; negative if all succeed
	fault string

	calls int // guarded by the lock of memLog
}

// The kinds of failing appends.
const (
	faultFull    = "the disk is full"
	faultUnknown = "the answer is lost"
)

func (l *faultyLog) Append(ctx context.Context, expected uint64, events ...[]byte) (uint64, error) {
	l.mu.Lock()
	n := l.calls
	l.calls++
	l.mu.Unlock()
	if n == l.at && l.fault == faultFull {
		return 0, eventlog.ErrFull
	}
	last, err := l.memLog.Append(ctx, expected, events...)
	if n == l.at {
		return 0, errors.Join(err, errors.New("no answer came"))
	}
	return last, err
}

// has returns the number of records that contain all of these texts.
func (l *faultyLog) has(texts ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, data := range l.events {
		all := true
		for _, text := range texts {
			all = all && bytes.Contains(data, []byte(text))
		}
		if all {
			n++
		}
	}
	return n
}

// faultyStore is a store with a single log that can fail.
type faultyStore struct {
	*memStore
	log *faultyLog
}

func (s faultyStore) Log(string) Log { return s.log }

// witness is a provider with agents that check whether their inputs are in the log.
type witness struct {
	*agenttest.Provider
	log *faultyLog

	mu      sync.Mutex
	given   map[string]int // inputs and answers, by id
	problem []string
}

func (w *witness) saw(what, id string, stored bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given[id]++
	if !stored {
		w.problem = append(w.problem, fmt.Sprintf("the agent has %s %s, and the log has not", what, id))
	}
	if w.given[id] > 1 {
		w.problem = append(w.problem, fmt.Sprintf("the agent has %s %s twice", what, id))
	}
}

func (w *witness) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := w.Provider.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return witnessed{s.(*agenttest.Session), w}, nil
}

type witnessed struct {
	*agenttest.Session
	w *witness
}

func (s witnessed) Send(ctx context.Context, in agent.Input) error {
	s.w.saw("the input", in.UUID, s.w.log.has(in.UUID, `"status":"sent"`) > 0)
	return s.Session.Send(ctx, in)
}

func (s witnessed) Answer(ctx context.Context, id string, a agent.Answer) error {
	s.w.saw("the answer to", id, s.w.log.has(`"resolved":"`+id+`"`) > 0)
	return s.Session.Answer(ctx, id, a)
}

// Wants and Add implement [Notices] for the sessions: a webhook is called only for stored events.
func (w *witness) Wants(string) bool { return true }

func (w *witness) Add(_ context.Context, events []webhook.Event) error {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	for _, ev := range events {
		if ev.Seq > uint64(len(w.log.events)) {
			w.problem = append(w.problem, fmt.Sprintf("a webhook is called for message %d of %d", ev.Seq, len(w.log.events)))
		}
	}
	return nil
}

// appendScene is a session with commands that are retried until they are stored.
type appendScene struct {
	*testing.T
	s   *Sessions
	id  string
	log *faultyLog
}

// do runs a command. If it fails, it has no effect and succeeds when it is retried.
func (c *appendScene) do(name string, command func(ctx context.Context) error) {
	c.Helper()
	before := ""
	if c.s.Exists(c.id) {
		before = c.remembered(name)
	}
	err := command(c.Context())
	if err == nil {
		return
	}
	if FailureOf(err).Reason != api.LimitReached {
		c.Errorf("%s: %v, want a refusal because the log is full", name, err)
	}
	if before != "" {
		if after := c.remembered(name); after != before {
			c.Errorf("%s was refused and has changed the session\nfrom %s\nto   %s", name, before, after)
		}
		c.until("there is room again", func(a *actor) bool { return a.blocked == nil })
	}
	if err := command(c.Context()); err != nil {
		c.Fatalf("%s, tried again: %v", name, err)
	}
}

// remembered returns the part of the core that commands change. It contains the title only for the
// command that sets it, because the agent may change the title at any time.
func (c *appendScene) remembered(command string) string {
	var text string
	err := c.s.with(c.Context(), c.id, func(a *actor) error {
		title := ""
		if command == "a title" {
			title = a.core.Title
		}
		data, err := json.Marshal([]any{a.core.queueItems(), a.core.Requests, a.core.Keys, title, a.core.Archived})
		text = string(data)
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return text
}

// until waits for a state of the session.
func (c *appendScene) until(what string, ok func(a *actor) bool) {
	c.Helper()
	var state string
	for end := time.Now().Add(10 * time.Second); ; {
		var changed <-chan struct{}
		is := false
		_ = c.s.with(c.Context(), c.id, func(a *actor) error {
			changed, is, state = a.hub.next(), ok(a), fmt.Sprint(a.core.State, a.core.Inputs, a.blocked)
			return nil
		})
		if is {
			return
		}
		select {
		case <-changed:
		case <-time.After(50 * time.Millisecond): // the agent may start to run without a message
		}
		if time.Now().After(end) {
			c.Fatalf("it never came: %s. The session is %s", what, state)
		}
	}
}

// scene calls the commands of a session, during a turn and after it.
func (c *appendScene) scene() {
	q, ref := Of[Queues](c.s), api.SessionRef{SessionID: c.id}
	query := func(text, key, priority string) (id string) {
		c.do("a query", func(ctx context.Context) error {
			r, err := c.s.Query(ctx, c.id, key, mustJSON(text), priority, "by")
			id = r.TurnID
			return err
		})
		return id
	}
	idle := func(a *actor) bool { return a.core.State == Idle && len(a.core.Inputs) == 0 && a.blocked == nil }
	c.do("the creation", func(ctx context.Context) error {
		if c.s.Exists(c.id) {
			return nil
		}
		return c.s.Create(ctx, c.id, Opened{})
	})
	c.do("the start", func(ctx context.Context) error { _, err := c.s.Connected(ctx, c.id); return err })
	query("tool Bash", "k1", "")
	c.until("the agent asks", func(a *actor) bool { return a.core.State == RequiresAction && a.blocked == nil })
	c.do("an answer", func(ctx context.Context) error {
		list, err := Of[Requests](c.s).List(ctx, api.PermissionListParams{SessionID: c.id})
		if err != nil || len(list.Prompts) != 1 {
			return fmt.Errorf("%d requests, %v", len(list.Prompts), err)
		}
		_, err = Of[Requests](c.s).PermissionRespond(ctx, api.PermissionRespondParams{SessionID: c.id, RequestID: list.Prompts[0].Prompt.RequestID(), Behavior: "allow", Idempotency: api.Idempotency{Key: "k2"}}, "by")
		return err
	})
	c.until("the turn ends", idle)
	query("wait", "", "")
	c.until("the next turn runs", func(a *actor) bool {
		return c.log.has("I wait.") > 0 && !a.sending && a.blocked == nil && len(a.core.queue()) == 0
	})
	one, two, three := query("say one", "", ""), query("say two", "", ""), query("say three", "", "")
	c.do("an edit", func(ctx context.Context) error {
		_, err := q.Edit(ctx, api.QueueEditParams{SessionID: c.id, ID: one, Content: `"say 1"`})
		return err
	})
	c.do("a new order", func(ctx context.Context) error {
		_, err := q.Reorder(ctx, api.QueueReorderParams{SessionID: c.id, IDs: []string{three, two, one}})
		return err
	})
	c.do("a removal", func(ctx context.Context) error {
		_, err := q.Remove(ctx, api.QueueItemParams{SessionID: c.id, ID: two})
		return err
	})
	c.do("sending now", func(ctx context.Context) error {
		_, err := q.SendNow(ctx, api.QueueItemParams{SessionID: c.id, ID: one})
		return err
	})
	query("say now", "", "now")
	c.do("an interrupt", func(ctx context.Context) error { _, err := Of[Agents](c.s).Interrupt(ctx, ref); return err })
	c.until("all turns end", idle)
	c.do("a title", func(ctx context.Context) error {
		_, err := Of[Details](c.s).Rename(ctx, api.SessionRenameParams{SessionID: c.id, Title: "A title"})
		return err
	})
	c.do("the end", func(ctx context.Context) error { _, err := Of[Details](c.s).Disconnect(ctx, ref); return err })
}

// TestAppendFails makes each append of a session fail in turn, because the disk is full or because
// the response of the log is lost. A command without a stored record has no effect: the session is
// unchanged, no agent, viewer or webhook gets any of it, and it can be retried. The agent gets each
// stored input once, and the log folds to the session.
func TestAppendFails(t *testing.T) {
	short.SkipQuick(t, "fails at every append")
	run := func(t *testing.T, at int, fault string) int {
		s, st := memSessions(t)
		log := &faultyLog{memLog: &memLog{}, at: at, fault: fault}
		w := &witness{Provider: &agenttest.Provider{ProviderName: "claude", Dir: t.TempDir()}, log: log, given: map[string]int{}}
		s.opts.Store, s.opts.Notices = faultyStore{st, log}, w
		s.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return w, nil, nil }
		c := &appendScene{T: t, s: s, id: Prefix + random.Hex(6), log: log}
		c.scene()
		for _, problem := range w.problem {
			t.Error(problem)
		}
		for _, text := range []string{"tool Bash", "wait", "say 1", "say three", "say now"} {
			if n := log.has(`"type":"user"`, `"`+text+`"`); n != 1 {
				t.Errorf("the log has the prompt %q %d times, want once", text, n)
			}
		}
		if n := len(w.given); n != 6 { // five inputs and an answer
			t.Errorf("the agent was given %d inputs and answers, want 6: %v", n, w.given)
		}
		_ = s.with(t.Context(), c.id, func(a *actor) error {
			sameAsLog(t, a, log.memLog)
			return nil
		})
		return log.calls
	}
	n := 0
	t.Run("none", func(t *testing.T) { n = run(t, -1, "") })
	for _, fault := range []string{faultFull, faultUnknown} {
		for at := range n {
			t.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(fault, " ", "_"), at), func(t *testing.T) {
				t.Parallel()
				run(t, at, fault)
			})
		}
	}
}

// sameAsLog checks that the log of an ended session loads to the actor's state, and that viewers have
// the stored messages.
func sameAsLog(t *testing.T, a *actor, log *memLog) {
	t.Helper()
	stored := uint64(len(log.events))
	b, err := a.srv.load(t.Context(), a.id)
	if err != nil {
		t.Fatal(err)
	}
	defer b.cancel()
	got, err1 := json.Marshal(b.core)
	want, err2 := json.Marshal(a.core)
	if err1 != nil || err2 != nil || string(got) != string(want) {
		t.Errorf("the log folds to\n%s\nthe actor has\n%s", got, want)
	}
	if shown := a.hub.seq; shown != stored || a.seq != shown {
		t.Errorf("viewers have %d messages, the actor %d, the log %d", shown, a.seq, stored)
	}
}

// TestResumed checks that a log that is full at the end of a turn does not block the queue, regardless of
// the first record that it accepts again.
func TestResumed(t *testing.T) {
	s, st := memSessions(t)
	log := &faultyLog{memLog: &memLog{}, at: -1, fault: faultFull}
	s.opts.Store = faultyStore{st, log}
	c := &appendScene{T: t, s: s, id: Prefix + random.Hex(6), log: log}
	if err := s.Create(t.Context(), c.id, Opened{}); err != nil {
		t.Fatal(err)
	}
	query := func(text string) string {
		r, err := s.Query(t.Context(), c.id, "", mustJSON(text), "", "by")
		if err != nil {
			t.Fatal(err)
		}
		return r.TurnID
	}
	query("wait")
	// The agent must have the input: an input that was only sent keeps the session running after a result.
	c.until("the turn runs", func(a *actor) bool {
		return a.core.State == Running && !a.sending && len(a.core.Inputs) == 1 && a.core.Inputs[0].Status == inputDelivered
	})
	next := query("say next")
	if err := s.with(t.Context(), c.id, func(a *actor) error {
		log.mu.Lock()
		log.at = log.calls
		log.mu.Unlock()
		a.receive(pumped{events: []event.Event{&event.ResultMessage{Header: a.core.header("")}}})
		if a.blocked == nil {
			t.Error("the end of the turn was written to a log that is full")
		}
		return a.commit(a.core.titleDraft("A title", "person"))
	}); err != nil {
		t.Fatal(err)
	}
	c.until("the next input is sent", func(*actor) bool { return log.has(next, `"status":"sent"`) > 0 })
}
