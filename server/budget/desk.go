package budget

import (
	"slices"
	"time"
)

// Verdict is whether a turn may begin now.
type Verdict int

// The verdicts on a turn.
const (
	Begin  Verdict = iota // it may, and what it may cost is reserved
	Wait                  // what is left is reserved by turns that run
	Refuse                // a limit is reached
)

// Desk lets turns begin. Each reserves what it may cost, so that turns that begin at once do not
// all spend what is left of a limit; what it uses is taken from its reservation, and its end
// releases the rest. If no turn uses more than it has reserved, the sum is below the limit plus
// the last turn that began. The zero value has no reservations; it is not for use by several
// goroutines at once.
type Desk struct {
	turns   map[string]*request // by session
	waiting []*request          // in the order in which they asked
}

// request is what a session has reserved, or waits to reserve.
type request struct {
	acc  Account
	left Amount
}

// Reserve decides about a turn of a session that may cost so much. A session that has a
// reservation keeps it; one that waits is named by a later [Desk.Release].
func (d *Desk) Reserve(b *Book, acc Account, cost Amount, now time.Time) Verdict {
	if d.turns[acc.Session] != nil {
		return Begin
	}
	r := &request{acc, cost}
	v := d.decide(b, r, now)
	i := slices.IndexFunc(d.waiting, func(w *request) bool { return w.acc.Session == acc.Session })
	switch {
	case v == Begin:
		d.begin(r)
	case v == Wait && i < 0:
		d.waiting = append(d.waiting, r)
	}
	if v != Wait && i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
	return v
}

func (d *Desk) begin(r *request) {
	if d.turns == nil {
		d.turns = map[string]*request{}
	}
	d.turns[r.acc.Session] = r
}

// decide is the verdict on a turn beside those that run.
func (d *Desk) decide(b *Book, r *request, now time.Time) Verdict {
	v := Begin
	for _, s := range b.Check(r.acc, now) {
		if s.Stops() {
			return Refuse
		}
		if s.Action == ActionNotify {
			continue
		}
		for _, other := range d.turns {
			if target, ok := other.acc.target(s.Scope); ok && target == s.Target {
				s.Spent = s.Spent.plus(other.left)
			}
		}
		if s.Part() >= 1 {
			v = Wait
		}
	}
	return v
}

// Used takes what a row counts from the reservation of its session.
func (d *Desk) Used(row Row) {
	if r := d.turns[row.Session]; r != nil {
		r.left = Amount{USD: max(r.left.USD-max(row.USD, 0), 0), Tokens: max(r.left.Tokens-max(row.Amount.Tokens, 0), 0)}
	}
}

// Release ends the turn of a session, or its wait. It returns the sessions that wait no longer:
// their turns may begin and have their reservation, or their limit is reached.
func (d *Desk) Release(b *Book, session string, now time.Time) []string {
	delete(d.turns, session)
	var woken []string
	d.waiting = slices.DeleteFunc(d.waiting, func(r *request) bool {
		if r.acc.Session == session {
			return true
		}
		v := d.decide(b, r, now)
		if v == Wait {
			return false
		}
		if v == Begin {
			d.begin(r)
		}
		woken = append(woken, r.acc.Session)
		return true
	})
	return woken
}
