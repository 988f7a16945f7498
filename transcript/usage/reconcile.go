package usage

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Why is the reason for a difference between the bill of a session and the ledger, as far as known.
type Why string

// The reasons for a difference. If several apply, the first is reported.
const (
	// WhyEqual means that the bill and the ledger agree.
	WhyEqual Why = "equal"
	// WhyUnbilled means that the session has answers after the last bill: the session continues, or
	// the CLI was killed before it wrote one.
	WhyUnbilled Why = "answers after the last bill"
	// WhyBroken means answers that were interrupted while they were streamed: the transcript has
	// their usage up to then, the bill omits them.
	WhyBroken Why = "answers broken off, not on the bill"
	// WhyCompaction means requests that summarised the conversation: they are on the bill and in no
	// transcript.
	WhyCompaction Why = "compaction, not in the transcript"
	// WhyInherited means costs that a fork's bill took over from the original session without lines
	// in the fork: the work of subagents.
	WhyInherited Why = "taken over from the forked session"
	// WhyUnpriced means that the bill and the ledger differ by a model that only one of them
	// has a price for.
	WhyUnpriced Why = "a model without a price"
	// WhyPrices means that both count the same tokens but at different prices, as after a
	// change of prices.
	WhyPrices Why = "other prices"
	// WhyMissing means that the bill has answers that the ledger does not have, because their files
	// were deleted or cannot be read.
	WhyMissing Why = "on the bill, not in the transcript"
	// WhyMore means that the ledger has answers that the bill does not have, for an unknown reason.
	WhyMore Why = "in the transcript, not on the bill"
)

// Bill is the last bill that the CLI wrote to a session's transcript, with the ledger's sum for the
// same session. A fork's bill includes that of the original session, so Ledger includes the copied
// answers too: bills of different sessions must not be added up.
type Bill struct {
	Session string
	Project string
	Billed  Sum // according to the CLI
	Ledger  Sum // according to the transcripts
	Fork    bool
	Why     Why
}

// Difference returns the amount by which the bill exceeds the ledger, in dollars. It is negative if
// the ledger has more.
func (b *Bill) Difference() float64 { return b.Billed.Cost - b.Ledger.Cost }

// Reconciliation compares the bills of all sessions with the ledger, and counts the reasons for
// their differences.
type Reconciliation struct {
	Bills    []Bill      // largest difference first
	Without  int         // number of sessions without a bill, as old CLIs wrote them
	ByReason map[Why]int // number of bills per reason
}

// Different returns the bills that do not agree with the ledger, largest difference first.
func (r *Reconciliation) Different() []Bill {
	return slices.DeleteFunc(slices.Clone(r.Bills), func(b Bill) bool { return b.Why == WhyEqual })
}

// Reconcile compares the CLI's bills with the ledger. Of the view it uses only the prices, the
// project and the session: a bill covers a whole session.
func (l *Ledger) Reconcile(v View) *Reconciliation {
	v = v.withDefaults()
	v.Since, v.Until, v.Model, v.Provider = time.Time{}, time.Time{}, "", Claude
	tallies := l.sessionTallies(v)
	r := &Reconciliation{ByReason: map[Why]int{}}
	billed := map[uint32]bool{}
	for _, f := range l.files {
		if f.bill == nil || f.agent != "" {
			continue
		}
		session := l.names.id(cmp.Or(f.bill.SessionID, f.session))
		t := tallies[session]
		if t == nil || billed[session] {
			continue
		}
		billed[session] = true
		b := Bill{Session: l.names.text(session), Project: l.projectName(f), Billed: f.bill.sum(), Ledger: t.row("", l.names, v).Sum, Fork: t.shared}
		b.Why = b.explain(f, t)
		r.Bills = append(r.Bills, b)
		r.ByReason[b.Why]++
	}
	r.Without = len(tallies) - len(billed)
	slices.SortFunc(r.Bills, func(a, b Bill) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Difference()), math.Abs(a.Difference())), strings.Compare(a.Session, b.Session))
	})
	return r
}

// sessionTally is the sum of one session, including answers that it shares with others.
type sessionTally struct {
	tally
	shared bool
	broken Tokens
}

func (l *Ledger) sessionTallies(v View) map[uint32]*sessionTally {
	keep, long := l.filter(v), l.longPrompts(v.Prices)
	tallies := map[uint32]*sessionTally{}
	add := func(session uint32, e *entry, shared bool) {
		t := tallies[session]
		if t == nil {
			t = &sessionTally{}
			tallies[session] = t
		}
		t.add(e, long(e))
		t.shared = t.shared || shared
		if e.has(broken) {
			t.broken.Add(e.tokens())
		}
	}
	for i := range l.entries.n {
		if e := l.entries.at(i); !e.has(repeated) && keep(e) {
			add(e.session, e, false)
		}
	}
	for s := range l.copies {
		i, ok := l.index[s.key]
		if !ok {
			continue
		}
		if e := l.entries.at(int(i)); e.session != s.session && !e.has(repeated) && keep(e) {
			add(s.session, e, true)
		}
	}
	return tallies
}

func (b *bill) sum() Sum {
	s := Sum{Cost: b.TotalCostUSD}
	for model, u := range b.ModelUsage {
		t := Tokens{
			Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadInputTokens,
			CacheWrite5m: u.CacheCreationEphemeral5mInputTokens, CacheWrite1h: u.CacheCreationEphemeral1hInputTokens, WebSearches: u.WebSearchRequests,
		}
		if rest := u.CacheCreationInputTokens - t.CacheWrite(); rest > 0 {
			t.CacheWrite5m += rest
		}
		s.Add(t)
		if b.HasUnknownModelCost && u.CostUSD == 0 && t.Total() > 0 {
			s.Unpriced.Add(t)
			s.Missing = append(s.Missing, model)
		}
	}
	slices.Sort(s.Missing)
	return s
}

// cent is the tolerance for equal costs: both sides add in a different order.
const cent = 1e-6

func (b *Bill) explain(f *file, t *sessionTally) Why {
	more := b.Billed.Tokens
	more.Sub(b.Ledger.Tokens)
	broken := t.broken
	broken.Add(more)
	switch equal := more == (Tokens{}); {
	case equal && math.Abs(b.Difference()) <= cent:
		return WhyEqual
	case equal && (len(b.Billed.Missing) > 0 || len(b.Ledger.Missing) > 0):
		return WhyUnpriced
	case equal:
		return WhyPrices
	case f.sinceBill > 0:
		return WhyUnbilled
	case broken == (Tokens{}):
		return WhyBroken
	case more.Total() > 0 && b.Fork:
		return WhyInherited
	case more.Total() > 0 && f.compactions > 0:
		return WhyCompaction
	case more.Total() > 0:
		return WhyMissing
	}
	return WhyMore
}
