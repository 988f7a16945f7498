package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestEnd_inflight checks that the requested end of an agent removes every prompt that the agent has: a prompt for now is in flight together
// with that of the turn.
func TestEnd_inflight(t *testing.T) {
	c := newStage(t, Opened{})
	c.connect()
	c.turn("one")
	c.turn("two") // it joins the turn
	if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), ref(c.id)); err != nil {
		t.Fatal(err)
	}
	c.inState(Ended)
	c.inLoop(func(a *actor) {
		if len(a.core.Inputs) != 0 {
			t.Errorf("after the end the session has the prompts %v, want none: the agent had them", a.core.Inputs)
		}
	})
}

// TestFork_once checks that only the first agent of a session is started as a fork: a later one continues the fork.
func TestFork_once(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{ResumeSessionID: "old", ForkSession: true}})
	for i, want := range []string{"old true", "agent-1 false", "agent-1 false"} {
		c.puppets.calls.take()
		c.connect()
		fork := "false"
		if c.puppets.given().Fork {
			fork = "true"
		}
		calls := c.puppets.calls.take()
		if id, flag, _ := strings.Cut(want, " "); !strings.Contains(calls, "Resume "+id) || fork != flag {
			t.Errorf("start %d: the provider was called with %q, as a fork: %s, want session %s, %s", i+1, calls, fork, id, flag)
		}
		if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), ref(c.id)); err != nil {
			t.Fatal(err)
		}
		c.inState(Ended)
		if i == 1 {
			c.unloaded() // the log has it too
		}
	}
}

// TestLetGo checks that calls which wait for the past of an agent return when the session leaves the agent to another server, and that the
// agent is not ended.
func TestLetGo(t *testing.T) {
	c := newStage(t, Opened{})
	p := c.connect()
	caught := make(chan struct{})
	var r *running
	c.inLoop(func(a *actor) {
		r, a.last, a.caught = a.agent, 9, caught
		a.letGo()
		if a.agent != nil || a.last != 0 || !r.leaves {
			t.Errorf("the actor has the agent %v, waits for line %d, the agent stays: %v, want no agent, no line, true", a.agent, a.last, r.leaves)
		}
		a.letGo() // without an agent it has no effect
	})
	for what, done := range map[string]chan struct{}{"the wait for the past": caught, "the use of the agent": r.ended} {
		select {
		case <-done:
		default:
			t.Errorf("%s has not ended, want that it has", what)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestShown_owner checks that text that viewers saw survives a kill in a cluster if this server was the last owner, and only then.
func TestShown_owner(t *testing.T) {
	for name, tt := range map[string]struct {
		written, owner uint64 // epochs of the owner: of the text, and in the log
		want           int
	}{
		"a single server":  {want: 2},
		"the last owner":   {written: 5, owner: 5, want: 2},
		"an earlier owner": {written: 5, owner: 6},
		"before a cluster": {owner: 5},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"shown", "e")
			defer a.cancel()
			a.core.Owner.Epoch = tt.written
			for _, text := range []string{"a", "b"} {
				a.publish(a.delta(nil, &event.TextStart{Header: event.Header{MessageID: "m"}, Text: text}, true))
			}
			f := shown{path: a.shown.path}
			if err := f.read(); err != nil {
				t.Fatal(err)
			}
			f.owned(tt.owner)
			if len(f.found) != tt.want || f.any != (tt.want > 0) {
				t.Errorf("of the text of owner %d a load for owner %d finds %d parts (%v), want %d", tt.written, tt.owner, len(f.found), f.any, tt.want)
			}
		})
	}
}

// TestAccepted_newest checks that the newest of several answers with one key counts.
func TestAccepted_newest(t *testing.T) {
	c := &core{Keys: []accepted{{Key: "k", Seq: 1}, {Key: "other", Seq: 2}, {Key: "k", Seq: 3}}}
	if got, ok := c.accepted("k"); !ok || got.Seq != 3 {
		t.Errorf("the answer is %+v, %v, want the one of message 3", got, ok)
	}
	for _, key := range []string{"", "unknown"} {
		if got, ok := c.accepted(key); ok {
			t.Errorf("the key %q has the answer %+v, want none", key, got)
		}
	}
}

// TestQuery_sender checks that a prompt in the conversation names its sender, unless that is the owner of the server.
func TestQuery_sender(t *testing.T) {
	c := newStage(t, Opened{})
	p := c.connect()
	for by, want := range map[string]string{"alice": "alice", OwnerName: ""} {
		n, _ := c.records(0)
		if _, err := c.Query(t.Context(), c.id, "", `"hello"`, "", by); err != nil {
			t.Fatal(err)
		}
		c.await("the agent gets the prompt", func() bool { return p.got("Send hello") })
		p.take()
		got, found := "", false
		for ev, err := range c.log.memLog.Read(t.Context(), eventlog.Cursor{Seq: uint64(n)}) {
			if err != nil {
				t.Fatal(err)
			}
			rec, err := decodeRecord(ev.Data)
			if err != nil {
				t.Fatal(err)
			}
			var d event.Decoder
			events, err := d.Decode(rec.Msg)
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range events {
				if m, ok := ev.(*event.UserMessage); ok {
					got, found = m.By, true
				}
			}
		}
		if !found || got != want {
			t.Errorf("the prompt of %s is in the log: %v, with the sender %q, want %q", by, found, got, want)
		}
		c.await("the prompt is delivered", func() (done bool) {
			c.inLoop(func(a *actor) {
				done = !slices.ContainsFunc(a.core.Inputs, func(in input) bool { return in.Status != inputDelivered }) && !a.sending
			})
			return done
		})
		p.result()
		c.inState(Idle)
	}
}

// TestKeyLock checks that calls with one key of one session wait for each other, and no others.
func TestKeyLock(t *testing.T) {
	var l keyLock
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	unlock, err := l.lock(t.Context(), "s-1", "k")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		session, key string
		waits        bool
	}{"the same": {"s-1", "k", true}, "another key": {"s-1", "l", false}, "another session": {"s-2", "k", false}, "no key": {"s-1", "", false}} {
		free, err := l.lock(ended, tt.session, tt.key)
		if (err != nil) != tt.waits {
			t.Errorf("%s: a second call returns %v, want that it waits: %v", name, err, tt.waits)
		}
		if err == nil {
			free()
		}
	}
	unlock()
	if len(l.held) != 0 {
		t.Errorf("%d keys are held at the end, want none", len(l.held))
	}
	if free, err := l.lock(ended, "s-1", "k"); err != nil {
		t.Errorf("after the first call the key is still held: %v", err)
	} else {
		free()
	}
}

// TestAccess_ends checks that the access of an agent to its model ends once with the agent, whether the agent ends by itself or is ended.
func TestAccess_ends(t *testing.T) {
	for name, end := range map[string]func(c *stage, p *puppet) error{
		"by itself": func(_ *stage, p *puppet) error { return p.Close() },
		"ended": func(c *stage, _ *puppet) error {
			_, err := Of[Details](c.Sessions).Disconnect(c.Context(), ref(c.id))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			var revoked atomic.Int32
			c.opts.Prepare = func(string, agent.Provider, *agent.Options) (func(), error) { return func() { revoked.Add(1) }, nil }
			p := c.connect()
			if n := revoked.Load(); n != 0 {
				t.Errorf("the access was ended %d times before the agent, want 0", n)
			}
			if err := end(c, p); err != nil {
				t.Fatal(err)
			}
			c.await("the access ends", func() bool { return revoked.Load() > 0 })
			c.unloaded()
			if n := revoked.Load(); n != 1 {
				t.Errorf("the access was ended %d times, want once", n)
			}
		})
	}
}

// waitingProvider starts agents that wait for the end of their context.
type waitingProvider struct {
	agent.Provider
	starting chan struct{}
}

func (p waitingProvider) Open(ctx context.Context, _ agent.Options) (agent.Session, error) {
	close(p.starting)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// TestEnd_starting checks that the end of a session ends the start of its agent too.
func TestEnd_starting(t *testing.T) {
	c := newStage(t, Opened{})
	p := waitingProvider{c.puppets, make(chan struct{})}
	c.inLoop(func(a *actor) { a.provider = p })
	connected := make(chan error, 1)
	go func() {
		_, err := c.Connected(context.Background(), c.id)
		connected <- err
	}()
	<-p.starting
	if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), ref(c.id)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-connected:
		if err == nil {
			t.Error("connecting to a session that was ended meanwhile returns no error")
		}
	case <-time.After(10 * time.Second):
		t.Error("the start of the agent goes on after the end of the session, want that it is cancelled")
	}
	c.inState(Ended)
}

// TestResume_fork checks that a fork of a session that the agent no longer has fails: an empty session must not replace it.
func TestResume_fork(t *testing.T) {
	for _, lost := range []error{agent.ErrNotFound, agent.ErrUnsupported} {
		for _, fork := range []bool{true, false} {
			p := newPuppets()
			p.setResume(lost)
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"fork", "e")
			defer a.cancel()
			a.provider = p
			session, err := a.life.resume(t.Context(), "old", false, agent.Options{Fork: fork})
			if (err != nil) != fork || fork && !errors.Is(err, lost) || p.calls.got("Open") == fork {
				t.Errorf("resuming returns %v, %v, with the calls %q, want that a fork (%v) fails with %v", session, err, p.calls.take(), fork, lost)
			}
		}
	}
}

// TestClaim checks that the first record of another owner names it, and that it drops the text that viewers of an earlier owner saw.
func TestClaim(t *testing.T) {
	for name, tt := range map[string]struct {
		owner  Ownership
		before string // the owner in the log
		claims bool
	}{
		"a single server": {},
		"no owner yet":    {owner: oneNode{}, claims: true},
		"another server":  {owner: oneNode{}, before: "there", claims: true},
		"this server":     {owner: oneNode{}, before: "here"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t, func(o *Options) { o.Owners = oneNode{} })
			a := s.newActor(Prefix+"claim", "e")
			defer a.cancel()
			a.owner, a.core.Owner.Node = tt.owner, tt.before
			a.shown.found = []shownDelta{{seq: 1}}
			if got := a.claim(); got != tt.claims {
				t.Errorf("it claims the session: %v, want %v", got, tt.claims)
			}
			if found, want := len(a.shown.found), map[bool]int{true: 0, false: 1}[tt.claims]; found != want || (a.carry != nil) != tt.claims {
				t.Errorf("%d deltas are left and the next record has %+v, want %d deltas, and the owner: %v", found, a.carry, want, tt.claims)
			}
			if tt.claims && (*a.carry.Owner != ownedBy{"here", 1} || a.core.Owner != *a.carry.Owner) {
				t.Errorf("the record names the owner %+v, the core %+v, want this server with its epoch", *a.carry.Owner, a.core.Owner)
			}
		})
	}
}

// countedOwner owns every session, and counts the sessions that it owns.
type countedOwner struct {
	oneNode
	owned *atomic.Int32
}

func (o countedOwner) Own(context.Context, string) (Ownership, error) {
	o.owned.Add(1)
	return o, nil
}

func (o countedOwner) Release() { o.owned.Add(-1) }

// TestCreate_before checks that a call finds the session that an earlier call with its key has created and not returned, and that a caller or
// a tenant gets no session of another one.
func TestCreate_before(t *testing.T) {
	for name, tt := range map[string]struct {
		by, tenant string
		ok         bool
	}{"the same caller": {"alice", "ten", true}, "another caller": {"bob", "ten", false}, "another tenant": {"alice", "other", false}} {
		t.Run(name, func(t *testing.T) {
			owner := countedOwner{owned: new(atomic.Int32)}
			s, _ := memSessions(t, func(o *Options) { o.Owners = owner })
			id := Prefix + "before"
			opened := func(by, tenant string) Opened {
				return Opened{By: by, Tenant: tenant, Params: api.ConnectParams{CWD: "/d", Idempotency: api.Idempotency{Key: "k"}}}
			}
			if err := s.Create(t.Context(), id, opened("alice", "ten")); err != nil {
				t.Fatal(err)
			}
			a, release, err := s.use(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			release()
			a.cancel()
			<-a.done
			soon(t, "the session has no owner", func() bool { return owner.owned.Load() == 0 })
			s.remove(id) // as if the first call had failed before its end
			err = s.Create(t.Context(), id, opened(tt.by, tt.tenant))
			if tt.ok != (err == nil) || !tt.ok && FailureOf(err).Reason != api.Conflict || s.Exists(id) != tt.ok {
				t.Errorf("creating it again: %v, listed %v, want success %v, or a conflict", err, s.Exists(id), tt.ok)
			}
			if got, want := owner.owned.Load(), map[bool]int32{true: 1, false: 0}[tt.ok]; got != want {
				t.Errorf("the server owns %d sessions, want %d", got, want)
			}
		})
	}
}

// TestEvictIdle checks that of the idle agents the one that has been idle longest is ended for a waiting one, and no other.
func TestEvictIdle(t *testing.T) {
	s, _ := memSessions(t)
	ids := []string{Prefix + "a", Prefix + "b", Prefix + "c", Prefix + "busy"}
	now := time.Now()
	for i, id := range ids {
		if err := s.Create(t.Context(), id, Opened{Params: api.ConnectParams{CWD: t.TempDir()}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Connected(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		idle := []time.Duration{2, 3, 1, 9}[i] * time.Hour
		if err := s.with(t.Context(), id, func(a *actor) error {
			a.quiet, a.sending = now.Add(-idle), i == 3
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	running := func() (running []string) {
		for _, id := range ids {
			if err := s.with(t.Context(), id, func(a *actor) error {
				if a.agent != nil && a.agent.reason == "" {
					running = append(running, id)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		return running
	}
	s.evictIdle()
	soon(t, "an agent is ended", func() bool { return len(running()) < len(ids) })
	if got, want := running(), []string{ids[0], ids[2], ids[3]}; !slices.Equal(got, want) {
		t.Errorf("the agents of %v run, want %v: the second one has been idle longest", got, want)
	}
	if err := s.with(t.Context(), ids[3], func(a *actor) error { a.sending = false; return nil }); err != nil {
		t.Fatal(err)
	}
}
