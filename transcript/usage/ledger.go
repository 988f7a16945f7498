package usage

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Ledger holds every answer of the transcripts once. Several goroutines may make reports
// concurrently, but not while Update runs.
type Ledger struct {
	options Options
	names   *names
	files   []*file
	byPath  map[string]*file

	mu      sync.Mutex // held by the workers while they put
	entries entryList
	index   map[key]int32
	copies  map[sharer]struct{}
	stats   Stats
	places  map[string]string // directories by project
	alone   bool              // created without transcripts
}

// sharer is a session that shares lines of an answer with other sessions.
type sharer struct {
	key
	session uint32
}

// Stats describes the input of a ledger: files, bytes and lines, and the problems found.
type Stats struct {
	Files    int
	Bytes    int64
	Answers  int   // each counted once
	Lines    int64 // of answers, including repeated ones
	BadLines int64 // not JSON or cut off
	Problems []error
}

func newLedger(o Options) *Ledger {
	return &Ledger{options: o, names: newNames(), byPath: map[string]*file{}, index: map[key]int32{}, copies: map[sharer]struct{}{}}
}

// Stats returns the input statistics as of the last scan, including the problems.
func (l *Ledger) Stats() Stats {
	s := l.stats
	s.Files = len(l.byPath)
	for _, f := range l.files {
		if f.torn {
			s.BadLines++
		}
	}
	return s
}

// put adds a line of an answer.
func (l *Ledger) put(e *entry) {
	i, ok := l.index[e.key]
	if !ok {
		l.index[e.key] = int32(l.entries.n)
		l.entries.append(e)
		return
	}
	l.take(l.entries.at(int(i)), e)
}

// take adds another line of a known answer.
func (l *Ledger) take(old, e *entry) {
	if old.session != e.session {
		l.copies[sharer{e.key, old.session}] = struct{}{}
		l.copies[sharer{e.key, e.session}] = struct{}{}
	}
	// Both are decided before either changes the fields that the other compares.
	numbers, place := l.betterNumbers(e, old), l.firstPlace(e, old)
	if numbers {
		old.copyNumbers(e)
	}
	if place {
		old.copyPlace(e)
	}
}

// betterNumbers is moreNumbers, with the alphabetical order of the models as a tie-breaker.
func (l *Ledger) betterNumbers(a, b *entry) bool {
	if a.model == b.model || moreNumbers(a, b) || moreNumbers(b, a) {
		return moreNumbers(a, b)
	}
	return l.names.text(a.model) < l.names.text(b.model)
}

// firstPlace orders two lines of one answer by their origin: the main conversation first, then a
// session that is not a fork, then the file that was started first, then the earliest time.
func (l *Ledger) firstPlace(a, b *entry) bool {
	for _, f := range []flags{sidechain, forked} {
		if a.has(f) != b.has(f) {
			return b.has(f)
		}
	}
	if a.file != b.file {
		x, y := l.files[a.file], l.files[b.file]
		return cmp.Or(cmp.Compare(x.born, y.born), cmp.Compare(x.path, y.path)) < 0
	}
	if a.at != b.at {
		return a.at < b.at
	}
	for _, pair := range [...][2]uint32{{a.session, b.session}, {a.branch, b.branch}, {a.agent, b.agent}} {
		if pair[0] != pair[1] {
			return l.names.text(pair[0]) < l.names.text(pair[1])
		}
	}
	return false
}

// settleStep is the number of answers between two checks of the context.
const settleStep = 1 << 12

// settle finds the answers that a subagent's file repeats under another request id, and counts.
func (l *Ledger) settle(ctx context.Context) error {
	type place struct {
		message uint64
		session uint32
	}
	best := map[place]*entry{}
	for i := range l.entries.n {
		if i%settleStep == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e := l.entries.at(i); e.has(sidechain) {
			e.flags &^= repeated
			p := place{e.message, e.session}
			if o := best[p]; o == nil || l.betterNumbers(e, o) || !l.betterNumbers(o, e) && l.firstPlace(e, o) {
				best[p] = e
			}
		}
	}
	main := map[place]bool{}
	for i := range l.entries.n {
		if i%settleStep == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := l.entries.at(i)
		p := place{e.message, e.session}
		if _, ok := best[p]; ok && !e.has(sidechain) {
			main[p] = true
		}
	}
	l.stats.Answers = 0
	for i := range l.entries.n {
		if i%settleStep == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := l.entries.at(i)
		if e.has(sidechain) {
			p := place{e.message, e.session}
			if main[p] || best[p] != e {
				e.flags |= repeated
			}
		}
		if !e.has(repeated) {
			l.stats.Answers++
		}
	}
	return nil
}

// Range returns the times of the first and the last answer; both are zero without answers.
func (l *Ledger) Range() (first, last time.Time) {
	for i := range l.entries.n {
		t := l.entries.at(i).time()
		if first.IsZero() || t.Before(first) {
			first = t
		}
		if t.After(last) {
			last = t
		}
	}
	return first, last
}

// inOrder returns the indexes of the counted answers that keep accepts, by time.
func (l *Ledger) inOrder(keep func(*entry) bool) []int32 {
	var order []int32
	for i := range l.entries.n {
		if e := l.entries.at(i); !e.has(repeated) && keep(e) {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.entries.at(int(a)).at, l.entries.at(int(b)).at) })
	return order
}
