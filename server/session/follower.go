package session

import (
	"context"
	"iter"
	"math"
	"sync"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// followedLog is a log that can wait for new events.
type followedLog interface {
	Follow(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error]
}

// followers holds the sessions of other servers that have viewers on this server. Each is an actor without an agent
// that reads the log and never writes.
type followers struct {
	mu  sync.Mutex
	all map[string]*follower
}

// follower follows a session of another server.
type follower struct {
	ready chan struct{} // closed when actor or err is set
	actor *actor
	err   error
	uses  int
}

// maxBehind limits the queued events of a follower.
const maxBehind = 64

// watched returns the actor of a session for a viewer. If another server owns the session, it is a follower.
func (s *Sessions) watched(ctx context.Context, id string) (a *actor, release func(), err error) {
	if s.opts.Owners == nil || s.Owns(id) {
		return s.use(ctx, id)
	}
	owner, err := s.opts.Owners.Owner(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if owner == "" || owner == s.opts.Owners.Node() {
		if a, release, err = s.use(ctx, id); !isNotOwner(err) {
			return a, release, err
		}
	}
	return s.follow(ctx, id)
}

// reading runs f in the loop of a session, whichever server owns it. f must not change the session.
func (s *Sessions) reading(ctx context.Context, id string, f func(a *actor) error) error {
	a, release, err := s.watched(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return a.call(ctx, func() error { return f(a) })
}

// Owns reports whether this server has the session in memory as its owner.
func (s *Sessions) Owns(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[id]
	return e != nil && e.actor != nil
}

// follow returns the follower of a session, and starts it if necessary.
func (s *Sessions) follow(ctx context.Context, id string) (*actor, func(), error) {
	f, first := s.followers.enter(id)
	leave := sync.OnceFunc(func() { s.followers.leave(id, f) })
	if first {
		f.actor, f.err = s.newFollower(ctx, id)
		close(f.ready)
	}
	select {
	case <-f.ready:
	case <-ctx.Done():
		leave()
		return nil, nil, ctx.Err()
	}
	err := f.err
	if err == nil && !s.visible(ctx, f.actor.core.Opened.Tenant) { // it never changes
		err = Fail(api.SessionExpired, "session %q not found", id)
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return f.actor, leave, nil
}

// enter registers a use of a follower; first reports whether the caller must start it.
func (t *followers) enter(id string) (f *follower, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f = t.all[id]
	if f != nil && f.ended() {
		f = nil
	}
	if f == nil {
		f, first = &follower{ready: make(chan struct{})}, true
		t.all[id] = f
	}
	f.uses++
	return f, first
}

// ended reports whether a follower has failed and must be replaced.
func (f *follower) ended() bool {
	select {
	case <-f.ready:
	default:
		return false
	}
	if f.err != nil {
		return true
	}
	return f.actor.ctx.Err() != nil
}

// leave ends a use. The follower ends with its last use.
func (t *followers) leave(id string, f *follower) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.uses--; f.uses > 0 {
		return
	}
	if f.actor != nil {
		f.actor.cancel()
	}
	if t.all[id] == f {
		delete(t.all, id)
	}
}

// newFollower loads a session and follows its log.
func (s *Sessions) newFollower(ctx context.Context, id string) (*actor, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.CallTimeout) // other callers wait for it too
	defer cancel()
	a, err := s.read(ctx, id, false)
	if IsMissing(err) {
		return nil, Fail(api.SessionExpired, "session %q not found", id)
	}
	if err != nil {
		return nil, err
	}
	log, ok := a.log.(followedLog)
	if !ok || s.ctx.Err() != nil {
		a.cancel()
		return nil, errNotOwner()
	}
	a.following()
	news := make(chan eventlog.Event, maxBehind)
	s.wg.Go(func() {
		defer a.cancel() // viewers find another follower, or the end of the session
		for ev, err := range log.Follow(a.ctx, eventlog.Cursor{Epoch: a.logEpoch, Seq: a.seq}) {
			if err != nil {
				a.logger.Debug("a session is no longer followed", "err", err)
				return
			}
			select {
			case news <- ev:
			case <-a.ctx.Done():
				return
			}
		}
	})
	s.wg.Go(func() { a.runFollower(news) })
	return a, nil
}

// following removes the deltas from a loaded session, because the log delivers them again.
func (a *actor) following() {
	a.lostOwner.Store(true)
	a.stream.blocks, a.stream.progress = nil, nil
}

// runFollower publishes the events of the log until the context of the actor ends.
func (a *actor) runFollower(news <-chan eventlog.Event) {
	defer close(a.done)
	defer a.hub.close()
	for {
		select {
		case f := <-a.cmds:
			f()
		case ev := <-news:
			if err := a.showNew(ev); err != nil {
				a.logger.Warn("a session of another server cannot be followed", "seq", ev.Seq, "err", err)
				a.cancel()
			}
		case <-a.ctx.Done():
			return
		}
	}
}

// showNew publishes one event of the log. The conversation contains no deltas: viewers get them from the stream, which
// the owner repeats after each durable event.
func (a *actor) showNew(ev eventlog.Event) error {
	rec, err := decodeRecord(ev.Data)
	if err != nil {
		return err
	}
	if ev.Sub == 0 {
		a.stream.blocks, a.stream.progress = nil, nil
	}
	if err := a.replay(ev, math.MaxUint64); err != nil {
		return err
	}
	item := Item{Seq: ev.Seq, Sub: ev.Sub, ts: rec.Time, msg: rec.Msg, progress: event.MessageType(rec.Msg) == "tool_progress"}
	switch event.MessageType(rec.Msg) {
	case "queue_updated":
		a.core.knowQueue(a.conv.Queue)
		item.queue = &told{a.core.header(""), a.core.told}
	}
	if ev.Sub == 0 {
		a.srv.updated(a.id, a.core.AgentID, a.summary()) // before viewers see the message: they look up requests in the list
	}
	a.hub.publish([]Item{item}, func() func() []Item {
		events, provider := a.stream.restart(), a.core.Provider
		return func() []Item { return restartItems(ev.Seq, ev.Sub, events, provider) }
	})
	return nil
}

// move switches a viewer to the present owner of the session. It reports whether the viewer can continue.
func (v *Viewer) move(ctx context.Context) bool {
	if v.srv.opts.Owners == nil || v.srv.ctx.Err() != nil {
		return false
	}
	a, release, err := v.srv.watched(ctx, v.actor.id)
	if err != nil {
		return false
	}
	v.leave()
	v.enter(a, release)
	return true
}

// enter attaches the viewer to an actor.
func (v *Viewer) enter(a *actor, release func()) {
	v.actor, v.release = a, release
	a.hub.watch(1)
	v.srv.setViewers(a.id, a.hub.watching())
}

// leave detaches the viewer from its actor.
func (v *Viewer) leave() {
	v.actor.hub.watch(-1)
	v.srv.setViewers(v.actor.id, v.actor.hub.watching())
	v.release()
}
