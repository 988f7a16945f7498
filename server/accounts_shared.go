package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/cluster"
)

// sharedDesk holds the reservations of all servers of a cluster in one value, which is replaced only if it has not changed. accounts.mu
// guards the fields.
type sharedDesk struct {
	bucket *cluster.Bucket
	logger interface{ Warn(string, ...any) }
	// turns are the sessions of this server with a reservation; ended are those with a reservation that could not
	// be released yet.
	turns, ended map[string]bool
}

const (
	deskBucket = "BUDGETS"
	deskKey    = "desk"
	// deskPoll is the interval at which the server retries failed operations.
	deskPoll = 5 * time.Second
)

// shareDesk shares the reservations of budgets in a cluster.
func (s *Server) shareDesk(ctx context.Context) error {
	c := s.opts.Cluster
	if c == nil {
		return nil
	}
	bucket, err := c.Bucket(ctx, deskBucket, 0)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.accounts.shared = &sharedDesk{bucket: bucket, logger: s.logger, turns: map[string]bool{}, ended: map[string]bool{}}
	return nil
}

// watchDesk makes waiting sessions try again when a server has changed the reservations.
func (s *Server) watchDesk() {
	if s.accounts.shared == nil {
		return
	}
	changed := make(chan struct{}, 1)
	wake := func(cluster.Entry) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	if err := s.accounts.shared.bucket.Watch(s.ctx, wake); err != nil {
		s.logger.Warn("prompts that wait for a budget are checked only every few seconds", "err", err)
	}
	s.wg.Go(func() {
		ticker := time.NewTicker(deskPoll)
		defer ticker.Stop()
		for {
			select {
			case <-changed:
			case <-ticker.C:
				s.accounts.releaseEnded()
			case <-s.ctx.Done():
				return
			}
			s.sessions.WakeWaiting()
		}
	})
}

// changeDesk replaces the reservations by the result of change. It reads the ledger after the reservations, because the usage of a turn
// is in the ledger before its reservation ends. The caller holds the lock.
func (l *accounts) changeDesk(change func(*budget.Desk)) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	for {
		e, err := l.shared.bucket.Get(ctx, deskKey)
		if err != nil && !errors.Is(err, cluster.ErrMissing) {
			return err
		}
		var desk budget.Desk
		if e.Value != nil {
			if err := json.Unmarshal(e.Value, &desk); err != nil {
				return fmt.Errorf("server: the reservations of budgets: %w", err)
			}
		}
		if err := l.catchUp(ctx); err != nil {
			return err
		}
		change(&desk)
		data, err := desk.MarshalJSON()
		switch {
		case err != nil || bytes.Equal(data, e.Value):
			return err
		case e.Value == nil:
			err = l.shared.bucket.Create(ctx, deskKey, data)
		default:
			err = l.shared.bucket.Update(ctx, deskKey, data, e.Revision)
		}
		if !errors.Is(err, cluster.ErrChanged) {
			return err
		}
	}
}

// reserveShared decides whether a turn may start on this server. It waits while the reservations cannot be changed. The caller holds the
// lock.
func (l *accounts) reserveShared(acc budget.Account, cost budget.Amount) (v budget.Verdict) {
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	if l.catchUp(ctx) == nil && len(l.book.Limits()) == 0 {
		return budget.Begin
	}
	err := l.changeDesk(func(d *budget.Desk) { v = d.Reserve(&l.book, acc, cost, l.now()) })
	if err != nil {
		l.shared.logger.Warn("a turn waits, because its budget cannot be reserved", "session", acc.Session, "err", err)
		return budget.Wait
	}
	if v == budget.Begin {
		l.shared.turns[acc.Session] = true
		delete(l.shared.ended, acc.Session)
	}
	return v
}

// usedShared subtracts usage from the reservations of this server. After an error they stay too large, until the turns end. The caller
// holds the lock.
func (l *accounts) usedShared(rows []budget.Row) {
	var own []budget.Row
	for _, row := range rows {
		if l.shared.turns[row.Session] {
			own = append(own, row)
		}
	}
	if len(own) == 0 {
		return
	}
	err := l.changeDesk(func(d *budget.Desk) {
		for _, row := range own {
			d.Used(row)
		}
	})
	if err != nil {
		l.shared.logger.Warn("the reservation of a turn was not changed", "err", err)
	}
}

// releaseShared ends the turn or the wait of a session of this server. The caller holds the lock.
func (l *accounts) releaseShared(session string) (woken []string) {
	delete(l.shared.turns, session)
	if len(l.book.Limits()) == 0 && !l.shared.ended[session] {
		return nil // removed limits leave reservations that no limit reads
	}
	err := l.changeDesk(func(d *budget.Desk) { woken = d.Release(&l.book, session, l.now()) })
	if err != nil {
		l.shared.ended[session] = true
		l.shared.logger.Warn("a reservation has not ended yet", "session", session, "err", err)
		return nil
	}
	delete(l.shared.ended, session)
	return woken
}

// releaseEnded ends the reservations that could not be ended before.
func (l *accounts) releaseEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for session := range l.shared.ended {
		l.releaseShared(session)
	}
}
