package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// After a load, in whatever state the log leaves a session, its queue is held, its requests have
// expired, and no agent is started.
func TestRecovered_held(t *testing.T) {
	short.SkipQuick(t, "starts many agents")
	for _, state := range []State{Starting, Idle, Running, RequiresAction, Interrupted, Draining, Failed, Ended} {
		for _, inflight := range []bool{false, true} {
			t.Run(string(state), func(t *testing.T) {
				c := newStage(t, Opened{})
				f := &facts{Inputs: []input{{ID: "q-1", Content: `"one"`, Status: inputQueued}, {ID: "q-2", Content: `"two"`, Status: inputQueued}}}
				if inflight {
					f.Inputs = append([]input{{ID: "i-1", Content: `"sent"`, Status: inputDelivered}}, f.Inputs...)
				}
				err := c.with(t.Context(), c.id, func(a *actor) error {
					ask := &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "t", ToolName: "Bash", Input: `{}`}
					prompt, _ := event.NewPrompt(ask)
					return a.commit(draft{queue: true, facts: f}, draft{event: ask, facts: &facts{Asked: &asking{AskedAt: "t", prompt: prompt}}}, a.core.stateDraft(state))
				})
				if err != nil {
					t.Fatal(err)
				}
				c.unloaded()
				c.puppets.calls.take()
				list, err := Of[Queues](c.Sessions).List(t.Context(), ref(c.id))
				if err != nil || len(list.Items) != 2 || list.Items[0].Status != string(inputHeld) || list.Items[1].Status != string(inputHeld) {
					t.Errorf("the queue is %+v, %v, want both prompts held", list.Items, err)
				}
				if err := c.with(t.Context(), c.id, func(a *actor) error {
					a.sendNext()
					if len(a.core.Requests) != 0 || len(a.conv.Prompts) != 0 || a.core.State.unfinished() {
						t.Errorf("the session is %s with the requests %+v, want none: their agent is gone", a.core.State, a.core.Requests)
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if !c.has(`"resolved":"r"`, event.ResolvedExpired) || c.has(`"resolved":"r"`, event.ResolvedAllow) {
					_, log := c.records(0)
					t.Errorf("the log has\n%s\nwant that the request has expired", log)
				}
				if calls := c.puppets.calls.take(); strings.Contains(calls, "Open") || strings.Contains(calls, "Resume") {
					t.Errorf("the provider was called with %q, want no agent", calls)
				}
				if _, err := c.Connected(t.Context(), c.id); err != nil {
					t.Errorf("the agent cannot be started: %v", err)
				}
			})
		}
	}
}

// An actor is unloaded if nothing needs it. An agent, unwritten records, a wait for a rate limit or
// a budget, and a viewer each keep it in memory.
func TestUnload(t *testing.T) {
	later := Timestamp(time.Now().Add(time.Hour))
	for name, tt := range map[string]struct {
		change func(c *stage, a *actor)
		stays  bool
	}{
		"nothing":      {func(*stage, *actor) {}, false},
		"an agent":     {func(_ *stage, a *actor) { a.agent = &running{} }, true},
		"a start":      {func(_ *stage, a *actor) { a.starting = true }, true},
		"a record":     {func(_ *stage, a *actor) { a.batch = []pending{{}} }, true},
		"a rate limit": {func(_ *stage, a *actor) { a.core.Limited, a.core.Opened.Params.WaitForRateLimit = later, true }, true},
		"an ended limit": {func(_ *stage, a *actor) {
			a.core.Limited, a.core.Opened.Params.WaitForRateLimit = Timestamp(time.Now().Add(-time.Hour)), true
		}, false},
		"a budget":         {func(_ *stage, a *actor) { a.spending.reserved = budget.Wait }, true},
		"a viewer":         {func(_ *stage, a *actor) { a.hub.viewers++ }, true},
		"all but an agent": {func(_ *stage, a *actor) { a.starting, a.batch, a.spending.reserved = true, []pending{{}}, budget.Wait }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			var was *actor
			if err := c.with(t.Context(), c.id, func(a *actor) error { was = a; return nil }); err != nil {
				t.Fatal(err)
			}
			if err := was.call(t.Context(), func() error {
				agent, starting, batch, reserved, viewers := was.agent, was.starting, was.batch, was.spending.reserved, was.hub.viewers
				tt.change(c, was)
				was.unload()
				was.agent, was.starting, was.batch, was.spending.reserved, was.hub.viewers = agent, starting, batch, reserved, viewers
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			info, err := c.Lookup(t.Context(), c.id)
			if err != nil {
				t.Fatal(err)
			}
			if ended := was.ctx.Err() != nil; ended == tt.stays {
				t.Errorf("the actor is ended: %v (loaded: %v), want that it stays: %v", ended, info.Loaded, tt.stays)
			}
		})
	}
}

// A start reads a session if its list entry may be outdated: its log has grown, viewers saw text
// that the log may lack, events were lost, or its provider no longer exists. Otherwise it does not.
func TestRecover_remembered(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, id string, o *Options, st *endedStore)
		want   string // of the start, if any
	}{
		"as it was": {func(*testing.T, string, *Options, *endedStore) {}, ""},
		"text that viewers saw": {func(t *testing.T, id string, o *Options, st *endedStore) {
			start := &event.TextStart{Header: event.Header{MessageID: "m"}, Text: "half a sentence"}
			f := shown{path: filepath.Join(o.Dir, id)}
			for _, msg := range mustMessages(t, start) {
				rec, err := record{Time: "t", Msg: msg}.encode()
				if err != nil {
					t.Fatal(err)
				}
				f.add(uint64(len(st.logs[id].events)), 0, rec)
			}
			if err := f.flush(); err != nil {
				t.Fatal(err)
			}
			f.close()
		}, "half a sentence"},
		"a loss": {func(_ *testing.T, id string, _ *Options, st *endedStore) {
			st.damage = []eventlog.Damage{{Session: id, From: 1, To: 1, Reason: "a test"}}
		}, event.NoticeLost},
		"a loss of another": {func(_ *testing.T, _ string, _ *Options, st *endedStore) {
			st.damage = []eventlog.Damage{{Session: Prefix + "other", From: 1, To: 1, Reason: "a test"}}
		}, ""},
		"another end": {func(t *testing.T, id string, o *Options, st *endedStore) {
			rec, err := record{Time: "t", Msg: []byte(`{"type":"session_state","state":"idle"}`), Facts: &facts{Inputs: []input{{ID: "q", Content: `"late"`, Status: inputQueued}}}}.encode()
			if err != nil {
				t.Fatal(err)
			}
			st.logs[id].events = append(st.logs[id].events, rec)
		}, `"status":"held"`},
	} {
		t.Run(name, func(t *testing.T) {
			st, dir, list, id := &endedStore{&memStore{}}, t.TempDir(), filepath.Join(t.TempDir(), "list"), Prefix+"one"
			options := func(o *Options) { o.Store, o.Dir, o.List = st, dir, list }
			first, _ := memSessions(t, options)
			if err := first.Create(t.Context(), id, Opened{Provider: "claude", Tenant: "ten", Params: api.ConnectParams{Title: "T"}}); err != nil {
				t.Fatal(err)
			}
			if _, err := Of[Details](first).Disconnect(t.Context(), ref(id)); err != nil {
				t.Fatal(err)
			}
			first.Close()
			log := &faultyLog{memLog: st.logs[id]}
			var second *Sessions
			before := 0
			second, _ = memSessions(t, options, func(o *Options) {
				tt.change(t, id, o, st)
				before = len(log.events)
				if tt.want == "" {
					o.Store = unreadStore{st, id, t}
				}
			})
			if tt.want != "" && (len(log.events) == before || log.has(tt.want) == 0) {
				t.Errorf("the start wrote %s, want a record with %s", log.events[before:], tt.want)
			}
			n := log.has(tt.want)
			second.Close()
			if memSessions(t, options); tt.want != "" && log.has(tt.want) != n {
				t.Errorf("after the next start %d records have %s, want %d", log.has(tt.want), tt.want, n)
			}
			if info, err := second.Lookup(t.Context(), id); err != nil || info.Title != "T" || info.Tenant != "ten" || info.State != string(Ended) {
				t.Errorf("the list has %+v, %v, want the session as it was", info, err)
			}
		})
	}
	t.Run("a provider that is gone", func(t *testing.T) {
		st, dir, list := &endedStore{&memStore{}}, t.TempDir(), filepath.Join(t.TempDir(), "list")
		options := func(o *Options) { o.Store, o.Dir, o.List = st, dir, list }
		first, _ := memSessions(t, options)
		if err := first.Create(t.Context(), Prefix+"one", Opened{Provider: "claude"}); err != nil {
			t.Fatal(err)
		}
		first.Close()
		second, _ := memSessions(t, options, func(o *Options) {
			o.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return nil, nil, errFault }
		})
		if info, err := second.Lookup(t.Context(), Prefix+"one"); err != nil || info.State != string(Failed) {
			t.Errorf("the list has %+v, %v, want a session that cannot be used", info, err)
		}
	})
}

// unreadStore is a store whose logs must not be read.
type unreadStore struct {
	*endedStore
	id string
	t  *testing.T
}

func (s unreadStore) Log(id string) Log {
	if id != s.id {
		return s.endedStore.Log(id)
	}
	return unreadLog{s.endedStore.Log(id), s.t}
}

type unreadLog struct {
	Log
	t *testing.T
}

func (l unreadLog) Read(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	l.t.Error("the log is read, want the remembered entry used")
	return l.Log.Read(ctx, after)
}

// holedLog is a log without some of its events.
type holedLog struct {
	*brokenLog
	lost []eventlog.Damage
}

func (l *holedLog) Read(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	return func(yield func(eventlog.Event, error) bool) {
		for ev, err := range l.brokenLog.Read(ctx, after) {
			for _, d := range l.lost {
				if d.From <= ev.Seq && ev.Seq <= d.To {
					yield(eventlog.Event{}, &eventlog.DamageError{Damage: d})
					return
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

type holedStore struct {
	*brokenStore
	log *holedLog
}

func (s *holedStore) Log(string) Log { return s.log }

// TestReadAround: an unreadable event after a loss is skipped. In an undamaged log, or before the loss, it is an error. All other events
// are folded.
func TestReadAround(t *testing.T) {
	for name, tt := range map[string]struct {
		lost   []eventlog.Damage
		broken []uint64 // events that cannot be decoded
		want   string   // the titles that are folded, of t4 to t8
		fails  bool
	}{
		"whole":                         {want: "t4 t5 t6 t7 t8"},
		"an event":                      {broken: []uint64{6}, fails: true},
		"a loss":                        {lost: []eventlog.Damage{{From: 5, To: 6}}, want: "t4 t7 t8"},
		"an event behind a loss":        {lost: []eventlog.Damage{{From: 5, To: 5}}, broken: []uint64{6}, want: "t4 t7 t8"},
		"the last event behind a loss":  {lost: []eventlog.Damage{{From: 5, To: 5}}, broken: []uint64{8}, want: "t4 t6 t7"},
		"an event before a loss":        {lost: []eventlog.Damage{{From: 6, To: 6}}, broken: []uint64{5}, fails: true},
		"an event between two losses":   {lost: []eventlog.Damage{{From: 5, To: 5}, {From: 7, To: 7}}, broken: []uint64{6}, want: "t4 t8"},
		"a loss at the end":             {lost: []eventlog.Damage{{From: 7, To: 8}}, want: "t4 t5 t6"},
		"losses that follow each other": {lost: []eventlog.Damage{{From: 5, To: 5}, {From: 6, To: 7}}, want: "t4 t8"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			n, _ := c.records(0)
			c.unloaded()
			for i := n; i < 8; i++ {
				title := "t" + string(rune('1'+i))
				rec, err := record{Time: title, Msg: []byte(`{"type":"session_info","title":"` + title + `"}`), Facts: &facts{Title: title, Lost: []string{title}}}.encode()
				if err != nil {
					t.Fatal(err)
				}
				c.log.events = append(c.log.events, rec)
			}
			for _, seq := range tt.broken {
				c.log.events[seq-1] = []byte(`{"t":"x","m":`)
			}
			store := &holedStore{c.store, &holedLog{c.log, tt.lost}}
			c.opts.Store = store
			a := c.newActor(c.id, "")
			defer a.cancel()
			err := a.readAround(t.Context(), 0, 0)
			if tt.fails {
				if err == nil || errors.Is(err, eventlog.ErrDamaged) {
					t.Errorf("the error is %v, want that of the event", err)
				}
				return
			}
			got := strings.Join(a.core.Lost, " ")
			if i := strings.Index(got, "t4"); i > 0 {
				got = got[i:]
			}
			if err != nil || got != tt.want || a.seq != 8 {
				t.Errorf("the events %q are folded up to %d, %v, want %q up to 8", got, a.seq, err, tt.want)
			}
		})
	}
}

// TestOpenRemembered checks that a list entry counts only for the store from which it was made, and only if its line is intact; of several
// entries of a session the last counts.
func TestOpenRemembered(t *testing.T) {
	s, _ := memSessions(t)
	s.openRemembered("g")
	s.remembered.rewrite()
	for _, seq := range []uint64{1, 2} {
		s.remembered.add(listed{AgentID: "agent", Tenant: "tenant", Summary: api.SessionSummary{SessionID: "s-1", Seq: seq}})
	}
	s.remembered.add(listed{Summary: api.SessionSummary{SessionID: "s-2", Seq: 5}})
	s.remembered.close()
	text, err := os.ReadFile(s.opts.List)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		generation string
		text       string
		want       string
	}{
		"intact":          {"g", string(text), "s-1:2:agent:tenant s-2:5::"},
		"another store":   {"h", string(text), ""},
		"another version": {"g", strings.ReplaceAll(string(text), `"version":1`, `"version":2`), ""},
		"a changed line":  {"g", strings.Replace(string(text), `"seq":5`, `"seq":6`, 1), "s-1:2:agent:tenant"},
		"a cut line":      {"g", string(text[:len(text)-5]), "s-1:2:agent:tenant"},
		"no file":         {"g", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			other, _ := memSessions(t)
			if err := os.WriteFile(other.opts.List, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			for id, m := range other.openRemembered(tt.generation) {
				got = append(got, fmt.Sprintf("%s:%d:%s:%s", id, m.Summary.Seq, m.AgentID, m.Tenant))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != tt.want {
				t.Errorf("the entries are %q, want %q", got, tt.want)
			}
			live := 0
			for _, line := range other.remembered.lines {
				live += len(line)
			}
			if other.remembered.live != live {
				t.Errorf("%d bytes are counted, want the %d of the lines that count", other.remembered.live, live)
			}
		})
	}
}
