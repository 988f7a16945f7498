package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
)

// Prefix begins the name of every session's log.
const Prefix = "s-"

// recover reads every session of the store once, so that lists are complete and what a
// dead server left is in order.
func (s *Sessions) recover(ctx context.Context) error {
	infos, err := s.opts.Store.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("server: listing the sessions: %w", err)
	}
	for _, info := range infos {
		if strings.HasPrefix(info.Session, Prefix) {
			s.sessions[info.Session] = &entry{epoch: info.Epoch, summary: api.SessionSummary{SessionID: info.Session}}
		}
	}
	work := make(chan string)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for id := range work {
				if err := s.recoverOne(ctx, id); err != nil {
					s.logger.Error("a session cannot be read", "session", id, "err", err)
					s.updated(id, "", api.SessionSummary{SessionID: id, State: string(Failed), Title: "damaged session"})
				}
			}
		})
	}
	for _, info := range infos {
		if strings.HasPrefix(info.Session, Prefix) {
			work <- info.Session
		}
	}
	close(work)
	wg.Wait()
	return ctx.Err()
}

// recoverOne loads a session, writes what follows from the death of its server, and leaves
// it on disk.
func (s *Sessions) recoverOne(ctx context.Context, id string) error {
	a, err := s.load(ctx, id)
	if err != nil {
		return err
	}
	a.snapshotSometimes()
	s.updated(id, a.core.AgentID, a.summary())
	s.mu.Lock()
	s.sessions[id].tenant = a.core.Opened.Tenant
	s.mu.Unlock()
	a.cancel()
	return a.blocked
}

// newActor returns an actor without a loop.
func (s *Sessions) newActor(id, epoch string) *actor {
	a := &actor{
		srv: s, id: id, log: s.opts.Store.Log(id), logger: s.logger.With("session", id), cmds: make(chan func()), done: make(chan struct{}),
		encoder: event.NewEncoder(random.Hex(4), 0, event.CapabilityOutputDelta), quiet: time.Now(),
		tally: newTally(), trace: newTurnTrace(s.opts.Tracer, id),
	}
	a.ctx, a.cancel = context.WithCancel(s.ctx)
	a.core = core{ID: id, State: Starting}
	a.hub = newHub(id, epoch, 0)
	return a
}

// load reads a session: the newest snapshot, the events after it, and the deltas after
// those. Then it brings the session in order: no agent runs.
func (s *Sessions) load(ctx context.Context, id string) (*actor, error) {
	a := s.newActor(id, "")
	at, err := a.log.Last(ctx)
	if err != nil {
		return nil, err
	}
	a.hub.epoch = at.Epoch
	after := eventlog.Cursor{}
	told := uint64(0) // what is notable up to here is in the outbox, also where the snapshot cannot be used
	if snap, err := a.log.Snapshot(ctx); err == nil {
		told = snap.Seq
		if err := a.restore(snap.Data); err != nil {
			a.logger.Warn("a snapshot cannot be read; the log is", "err", err)
			a.core, a.conv = core{ID: id, State: Starting}, event.Conversation{}
		} else {
			after = eventlog.Cursor{Seq: snap.Seq}
			a.snapSeq = snap.Seq
		}
	} else if !IsMissing(err) {
		return nil, err
	}
	a.seq = after.Seq
	for ev, err := range a.log.Read(ctx, after) {
		if err != nil {
			return nil, err
		}
		if err := a.replay(ev, told); err != nil {
			return nil, err
		}
	}
	a.hub.seq = a.seq
	if a.provider, a.env, err = s.opts.Provider(ctx, a.core.Opened.Tenant, a.core.Provider); err != nil {
		return nil, err
	}
	a.tellHooks()
	a.recovered()
	return a, nil
}

func (a *actor) restore(data []byte) error {
	var sv saved
	if err := json.Unmarshal(data, &sv); err != nil {
		return err
	}
	var conv event.Conversation
	if err := json.Unmarshal(sv.Conversation, &conv); err != nil {
		return err
	}
	a.core, a.conv = sv.Core, conv
	return nil
}

// replay folds an event of the log, and notes what is notable of those after told.
func (a *actor) replay(ev eventlog.Event, told uint64) error {
	rec, err := decodeRecord(ev.Data)
	if err != nil {
		return err
	}
	events, err := a.decoder.Decode(rec.Msg)
	if err != nil {
		return fmt.Errorf("server: event %d of the log: %w", ev.Seq, err)
	}
	if ev.Sub == 0 {
		a.seq = ev.Seq
		if rec.Facts != nil && rec.Facts.Asked != nil && len(events) > 0 {
			rec.Facts.Asked.prompt, _ = event.NewPrompt(events[0])
		}
		a.core.apply(ev.Seq, rec.Time, rec.Facts)
		var last event.Event
		for _, last = range events {
			a.conv.Apply(last)
		}
		if ev.Seq > told {
			a.note(ev.Seq, rec, last)
		}
		return nil
	}
	for _, e := range events {
		a.stream.add(e)
	}
	return nil
}

// recovered brings a session in order after a load: whatever ran is gone.
func (a *actor) recovered() {
	// A message that was streamed when the server died is in the log with its start.
	a.stream.open = a.openMessages()
	for _, ev := range a.stream.cut() {
		a.draft(draft{event: ev})
	}
	switch {
	case a.core.State.busy():
		a.draft(a.core.died(a.fate)...)
	case a.core.State != LostHost:
		a.draft(a.core.closeRequests(event.ResolvedExpired)...)
		a.occur(onRecovered)
	}
	a.draft(a.core.hold()...)
	_ = a.write() // kept and tried again by tick
}

// openMessages are the messages of the conversation that have not ended.
func (a *actor) openMessages() []messageKey {
	var open []messageKey
	for _, t := range a.conv.Threads {
		for _, it := range t.Items {
			if m := it.Message; m != nil && m.Role == "assistant" && m.State == event.Streaming {
				open = append(open, messageKey{t.ParentToolUseID, m.ID})
			}
		}
	}
	return open
}

// use returns the actor of a session, loading it if need be. The caller calls release when
// it is done; until then the actor stays.
func (s *Sessions) use(ctx context.Context, id string) (a *actor, release func(), err error) {
	for {
		s.mu.Lock()
		e := s.sessions[id]
		switch {
		case e == nil || e.gone || !s.opts.Visible(ctx, e.tenant):
			s.mu.Unlock()
			return nil, nil, Fail(api.SessionExpired, "there is no session %q", id)
		case s.closed:
			s.mu.Unlock()
			return nil, nil, Fail(api.Draining, "the server is stopping")
		case e.actor != nil:
			e.refs++
			a := e.actor
			s.mu.Unlock()
			return a, sync.OnceFunc(func() { s.release(e) }), nil
		case e.loading != nil:
			wait := e.loading
			s.mu.Unlock()
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
			continue
		}
		e.loading = make(chan struct{})
		s.mu.Unlock()
		if err := s.loadEntry(ctx, id, e); err != nil {
			return nil, nil, err
		}
	}
}

func (s *Sessions) release(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.refs--
}

// loadEntry loads a session into its entry and starts its actor.
func (s *Sessions) loadEntry(ctx context.Context, id string, e *entry) error {
	a, err := s.load(ctx, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		close(e.loading)
		e.loading = nil
	}()
	if err != nil {
		return err
	}
	if s.closed {
		a.cancel()
		return Fail(api.Draining, "the server is stopping")
	}
	s.run(e, a)
	return nil
}

// run starts the loop of an actor. The lock is held.
func (s *Sessions) run(e *entry, a *actor) {
	e.actor, e.epoch, e.tenant = a, a.hub.epoch, a.core.Opened.Tenant
	s.wg.Go(func() {
		a.loop()
		s.mu.Lock()
		defer s.mu.Unlock()
		if e.actor == a {
			e.actor = nil
		}
	})
}

// unload ends an actor that no one uses. Its loop calls it.
func (s *Sessions) unload(a *actor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.sessions[a.id]
	if e == nil || e.actor != a || e.refs > 0 {
		return
	}
	e.actor = nil
	a.cancel()
}

// title is how people know the session.
func (c *core) title() string { return cmp.Or(c.Title, c.FirstPrompt) }

// summary is what lists show of the session.
func (a *actor) summary() api.SessionSummary {
	c := &a.core
	return api.SessionSummary{
		SessionID: a.id, Title: c.title(), State: string(c.State), Model: c.Model, CWD: c.Opened.Dir, Workspace: c.Opened.Params.WorkspaceID, PermissionMode: c.Mode, Provider: c.Provider,
		Seq: a.seq, Viewers: int64(a.hub.watching()), Queued: int64(len(c.queue())), Prompts: int64(len(c.Requests)), UpdatedAt: c.Updated,
		Archived: c.Archived, Live: a.liveElsewhere(), AgentSessionID: c.AgentID, Effort: c.Effort, Metadata: c.Opened.Params.Metadata,
		Capabilities: a.capabilities, LimitedUntil: c.limitedUntil(a.srv.opts.Now()),
	}
}
