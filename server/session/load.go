package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// Prefix is the prefix of the names of session logs.
const Prefix = "s-"

// recover completes the lists and recovers the sessions of a dead server: it reads the sessions that differ from their remembered state.
func (s *Sessions) recover(ctx context.Context) error {
	generation, ends, err := s.opts.Store.Ends(ctx)
	if err != nil {
		return fmt.Errorf("server: listing the sessions: %w", err)
	}
	known := s.openRemembered(generation)
	left := map[string]*leftAgent{}
	if s.opts.Host != nil {
		if left, err = s.opts.Host.left(ctx); err != nil {
			return fmt.Errorf("server: the agents of the host: %w", err)
		}
	}
	unsaved, err := s.unsaved()
	if err != nil {
		return err
	}
	for _, d := range s.opts.Store.Damage() {
		unsaved[d.Session] = true // it may have to be reported
		ends[d.Session] += 0      // also if no events are left
	}
	var changed []string
	for id, end := range ends {
		if !strings.HasPrefix(id, Prefix) {
			continue
		}
		s.find(id)
		if left[id] != nil {
			continue
		}
		m, ok := known[id]
		if ok = ok && m.Summary.Seq == end && !unsaved[id]; ok {
			_, _, err := s.opts.Provider(ctx, m.Tenant, m.Summary.Provider)
			ok = err == nil
		}
		if !ok {
			changed = append(changed, id)
			continue
		}
		s.updated(id, m.AgentID, m.Summary)
		s.setTenant(id, m.Tenant)
	}
	s.remembered.keep(ends)
	if err := s.recoverAll(ctx, changed); err != nil {
		return err
	}
	if leases := s.hosts.leases(); leases != nil {
		s.adoptLeft(left)
		return ctx.Err()
	}
	forEach(adopters, slices.Collect(maps.Keys(left)), func(id string) {
		if _, ok := ends[id]; !ok {
			s.opts.Host.discard(ctx, left[id])
		} else if err := s.adoptOne(ctx, id, left[id]); err != nil {
			s.unreadable(id, err)
		}
	})
	return ctx.Err()
}

// adoptLeft adopts the agents in the host of this server of a cluster. It runs in the background,
// because other servers may own the sessions.
func (s *Sessions) adoptLeft(left map[string]*leftAgent) {
	h := s.opts.Host
	if h.running() == nil {
		return
	}
	ids := s.hosts.add(h, left)
	s.wg.Go(func() { s.hosts.adopt(s.ctx, h.key, ids) })
}

// adopters is the number of concurrent adoptions, so that an agent that does not answer its handshake does not delay
// the others.
const adopters = 32

// forEach calls do for each id, at most limit at a time, and waits.
func forEach(limit int, ids []string, do func(id string)) {
	work := make(chan string)
	var wg sync.WaitGroup
	for range min(limit, len(ids)) {
		wg.Go(func() {
			for id := range work {
				do(id)
			}
		})
	}
	for _, id := range ids {
		work <- id
	}
	close(work)
	wg.Wait()
}

// unreadable lists a session with a log that cannot be read.
func (s *Sessions) unreadable(id string, err error) {
	s.logger.Error("a session cannot be read", "session", id, "err", err)
	s.updated(id, "", api.SessionSummary{SessionID: id, State: string(Failed), Title: damagedTitle})
}

// unsaved returns the sessions with text that viewers saw and that may not be in the log.
func (s *Sessions) unsaved() (map[string]bool, error) {
	files, err := os.ReadDir(s.opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	ids := make(map[string]bool, len(files))
	for _, f := range files {
		ids[f.Name()] = true
	}
	return ids, nil
}

func (s *Sessions) recoverAll(ctx context.Context, ids []string) error {
	forEach(2*runtime.GOMAXPROCS(0), ids, func(id string) {
		if err := s.recoverOne(ctx, id); err != nil {
			s.unreadable(id, err)
		}
	})
	return ctx.Err()
}

// recoverOne loads a session, writes what follows from the death of its server, and unloads it. In
// a cluster it leaves a session without such consequences to its owner, so that a start does not
// add a record to every log.
func (s *Sessions) recoverOne(ctx context.Context, id string) error {
	if settled, err := s.settled(ctx, id); settled || err != nil {
		return err
	}
	a, err := s.load(ctx, id)
	if isNotOwner(err) {
		return s.peek(ctx, id)
	}
	if err != nil {
		return err
	}
	a.snapshotSometimes()
	s.updated(id, a.core.AgentID, a.summary())
	s.setTenant(id, a.core.Opened.Tenant)
	a.remember()
	a.discard()
	if isNotOwner(a.blocked) {
		return s.peek(ctx, id)
	}
	if a.blocked != nil { // for instance on a full disk; whoever reads the session next writes them
		a.logger.Warn("the consequences of the server's death are not stored yet", "err", a.blocked)
	}
	return nil
}

// settled reports whether a session in a cluster needs no recovery. It adds such a session to the
// list.
func (s *Sessions) settled(ctx context.Context, id string) (bool, error) {
	if s.opts.Owners == nil {
		return false, nil
	}
	a, err := s.read(ctx, id, true)
	if err != nil {
		return false, err
	}
	defer a.cancel()
	if !a.settledOnDisk() || len(s.losses(id)) > 0 {
		return false, nil
	}
	s.updated(id, a.core.AgentID, a.summary())
	s.setTenant(id, a.core.Opened.Tenant)
	a.remember()
	return true, nil
}

// newActor returns an actor without a loop.
func (s *Sessions) newActor(id, epoch string) *actor {
	j := newJournal(newLoop(s, id), epoch)
	l := &life{journal: j, quiet: time.Now()}
	a := &actor{journal: j, life: l, terminal: &terminal{life: l}, spending: &spending{life: l, tally: newTally(), reserved: noReservation}, changes: &changes{journal: j}, titles: &titles{life: l}}
	j.onLost = a.lost
	j.onWritten = func() {
		s.updated(id, a.core.AgentID, a.summary())
		a.show()
	}
	return a
}

// load reads a session: the newest snapshot, the events after it, and the deltas after those. Then
// it recovers the session: no agent is running, except on another machine.
func (s *Sessions) load(ctx context.Context, id string) (*actor, error) {
	return s.loadWith(ctx, id, func(a *actor) { a.loaded(ctx) })
}

// loadWith is load with a function that repairs the session.
func (s *Sessions) loadWith(ctx context.Context, id string, order func(*actor)) (*actor, error) {
	return s.loadOwned(ctx, id, func(owner Ownership) (*actor, error) {
		a, err := s.read(ctx, id, true)
		if err != nil {
			return nil, err
		}
		if err := s.elsewhere(ctx, a); err != nil {
			a.cancel()
			return nil, err
		}
		a.owner = owner
		claims := a.claim()
		first := claims && a.core.Host != 0 && a.hostKey() != "" // an agent is adopted once, so no earlier owner may write after this
		if first {
			if err := a.claimed(); err != nil {
				return a, err
			}
		}
		err = a.settle(ctx, order)
		if claims {
			a.spending.inherit()
		}
		if err == nil && !first {
			err = a.claimed()
		}
		return a, err
	})
}

// read loads a session without changing it. If shown is set, it includes the streamed text that viewers of this server
// saw.
func (s *Sessions) read(ctx context.Context, id string, shown bool) (_ *actor, err error) {
	a := s.newActor(id, "")
	defer func() {
		if err != nil {
			a.cancel() // otherwise its context is kept until Close
		}
	}()
	at, err := a.log.Last(ctx)
	if err != nil && (!IsMissing(err) || len(s.losses(id)) == 0) {
		return nil, err
	}
	a.setEpoch(at.Epoch)
	told := uint64(0) // events up to here are in the outbox, even if the snapshot cannot be used
	if snap, err := a.log.Snapshot(ctx); err == nil {
		told = snap.Seq
		if err := a.restore(snap.Data); err != nil {
			a.logger.Warn("a snapshot cannot be read; the log is", "err", err)
			a.core, a.conv = core{ID: id, State: Starting}, event.Conversation{}
		} else {
			a.seq, a.snapSeq = snap.Seq, snap.Seq
		}
	} else if !IsMissing(err) {
		return nil, err
	}
	if shown {
		if err := a.shown.read(); err != nil {
			a.logger.Warn("deltas that viewers saw cannot be read", "err", err)
		}
		a.shown.owned(a.core.Owner.Epoch)
	}
	if err := a.readAround(ctx, a.seq, told); err != nil {
		return nil, err
	}
	a.core.knowQueue(a.conv.Queue)
	a.hub.seq = a.seq
	if a.provider, a.env, err = s.providerOf(ctx, a.core.Opened.Tenant, a.core.Provider, a.machine()); err != nil {
		return nil, err
	}
	if a.unopened() {
		a.core.State, a.core.Title = Failed, cmp.Or(a.core.title(), damagedTitle)
	}
	return a, nil
}

// settle repairs a session after it was loaded.
func (a *actor) settle(ctx context.Context, order func(*actor)) error {
	a.replayShown(a.seq)
	a.notes.tell()
	a.tellLoss()
	order(a)
	if a.blocked == nil {
		a.shown.forget()
	}
	if a.logEpoch == "" { // no events were left in its log, which has the notice now
		at, err := a.log.Last(ctx)
		if err != nil {
			return err
		}
		a.setEpoch(at.Epoch)
	}
	return nil
}

// run starts the loop of an actor.
func (s *Sessions) run(e *entry, a *actor) {
	s.wg.Go(func() {
		a.run()
		a.disown()
		s.ended(e, a)
	})
}

// title returns the title of the session for people.
func (c *core) title() string { return cmp.Or(c.Title, c.FirstPrompt) }
