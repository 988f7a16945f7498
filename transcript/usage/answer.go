package usage

import (
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/internal/tokens"
)

// Tokens counts the tokens of one or many answers, by how they are priced.
type Tokens = tokens.Count

// Answer is one answer of a model as the ledger counts it, with its tokens, no matter how many
// lines repeat it.
type Answer struct {
	Provider string // the agent: Claude, or the one that was passed to Add
	Time     time.Time
	Session  string // the session in which it was written first
	Project  string // the directory of the session
	Branch   string
	Model    string
	Agent    string // the id of the subagent, "" for the main conversation
	Tokens
	Cost     float64 // in dollars
	Priced   bool    // the model has a price; otherwise Cost is invalid
	Stopped  bool    // interrupted while it was streamed; the CLI's bill omits it
	Fast     bool    // made in fast mode
	InUS     bool    // had to be made in the US
	LongRate bool    // priced as a long prompt
}

// Answers yields the answers of a view, by time. The ledger must not be updated during the
// iteration.
func (l *Ledger) Answers(v View) iter.Seq[Answer] {
	v = v.withDefaults()
	return func(yield func(Answer) bool) {
		long := l.longPrompts(v.Prices)
		for _, i := range l.inOrder(l.filter(v)) {
			if e := l.entries.at(int(i)); !yield(l.answer(e, v, long(e))) {
				return
			}
		}
	}
}

func (l *Ledger) answer(e *entry, v View, long bool) Answer {
	a := Answer{
		Provider: l.providerOf(e),
		Time:     e.time().In(v.Location), Session: l.names.text(e.session), Project: l.projectName(l.files[e.file]), Branch: l.names.text(e.branch),
		Model: l.names.text(e.model), Agent: l.names.text(e.agent), Tokens: e.tokens(),
		Stopped: e.has(broken), Fast: e.has(fast), InUS: e.has(inUS), LongRate: long,
	}
	if price, ok := v.Prices.Of(a.Model); ok {
		a.Cost, a.Priced = price.cost(a.Tokens, e.flags&priceFlags, long)
	}
	return a
}
