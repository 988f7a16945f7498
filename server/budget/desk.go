package budget

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Verdict is the decision whether a turn may start now.
type Verdict int

// The verdicts on a turn.
const (
	Begin  Verdict = iota // it may start, and its cost is reserved
	Wait                  // running turns have reserved the rest of the limit
	Refuse                // a limit is reached
)

// Desk admits turns. Each turn reserves its possible cost, so that concurrent turns do not all
// spend the rest of a limit; its usage is subtracted from its reservation, and its end releases the
// rest. If no turn uses more than its reservation, the sum is below the limit plus the last
// admitted turn. The zero value has no reservations; it is not safe for concurrent use.
type Desk struct {
	turns   map[string]*request // by session
	waiting []*request          // in the order of their requests
}

// request is the reservation of a session, or the one that it waits for.
type request struct {
	acc  Account
	left Amount
}

// Reserve decides about a turn of a session with this possible cost. A session with a reservation
// keeps it; a later [Desk.Release] returns a waiting one.
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

// decide returns the verdict on a turn, given the running turns.
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
			if slices.Contains(other.acc.targets(s.Scope), s.Target) {
				s.Spent = s.Spent.plus(other.left)
			}
		}
		if s.Part() >= 1 {
			v = Wait
		}
	}
	return v
}

// Used subtracts the usage in a row from the reservation of its session.
func (d *Desk) Used(row Row) {
	if r := d.turns[row.Session]; r != nil {
		r.left = Amount{USD: max(r.left.USD-max(row.USD, 0), 0), Tokens: max(r.left.Tokens-max(row.Amount.Tokens, 0), 0)}
	}
}

// Release ends the turn of a session, or its wait. It returns the sessions that stop waiting,
// because their turn has its reservation and may start, or because their limit is reached.
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

// deskJSON is the encoding of a Desk that servers of a cluster share.
type deskJSON struct {
	Turns   []requestJSON `json:"turns,omitempty"`
	Waiting []requestJSON `json:"waiting,omitempty"`
}

type requestJSON struct {
	Account Account `json:"account"`
	Left    Amount  `json:"left"`
}

// MarshalJSON encodes the reservations. The output is deterministic.
func (d *Desk) MarshalJSON() ([]byte, error) {
	var out deskJSON
	turns := slices.SortedFunc(maps.Values(d.turns), func(a, b *request) int { return cmp.Compare(a.acc.Session, b.acc.Session) })
	for _, r := range turns {
		out.Turns = append(out.Turns, requestJSON{r.acc, r.left})
	}
	for _, r := range d.waiting {
		out.Waiting = append(out.Waiting, requestJSON{r.acc, r.left})
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes the reservations.
func (d *Desk) UnmarshalJSON(data []byte) error {
	var in deskJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*d = Desk{}
	for _, r := range in.Turns {
		d.begin(&request{r.Account, r.Left})
	}
	for _, r := range in.Waiting {
		d.waiting = append(d.waiting, &request{r.Account, r.Left})
	}
	return nil
}

// Has reports whether a session has a reservation.
func (d *Desk) Has(session string) bool { return d.turns[session] != nil }
