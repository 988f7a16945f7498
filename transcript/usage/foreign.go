package usage

import (
	"iter"
	"maps"
	"slices"
)

// Claude is the provider of the answers that [Scan] finds. Answers of other agents come from
// [Ledger.Add].
const Claude = "claude"

// New returns an empty ledger without transcripts, for answers of other agents only. Its Update has
// no effect.
func New() *Ledger {
	l := newLedger(Options{})
	l.alone = true
	return l
}

// Add adds answers of another agent, which are in no transcript. Each counts: the caller has to
// remove duplicates. Add ignores their cost. It must not run concurrently with any other method.
func (l *Ledger) Add(provider string, answers iter.Seq[Answer]) {
	places := map[string]*file{}
	for _, f := range l.files {
		if f.provider == provider {
			places[f.project] = f
		}
	}
	for a := range answers {
		f := places[a.Project]
		if f == nil {
			f = &file{id: uint32(len(l.files)), project: a.Project, cwd: a.Project, provider: provider}
			places[a.Project] = f
			l.files = append(l.files, f)
		}
		e := entry{
			key: key{message: uint64(l.entries.n)}, at: a.Time.UnixMilli(), file: f.id,
			session: l.names.id(a.Session), branch: l.names.id(a.Branch), model: l.names.id(a.Model), agent: l.names.id(a.Agent),
		}
		e.setTokens(a.Tokens)
		e.set(broken, a.Stopped)
		e.set(fast, a.Fast)
		e.set(inUS, a.InUS)
		l.entries.append(&e)
		l.stats.Answers++
	}
	l.places = nil
}

// providerOf returns the agent of an answer.
func (l *Ledger) providerOf(e *entry) string {
	if p := l.files[e.file].provider; p != "" {
		return p
	}
	return Claude
}

// Providers returns the names of the agents with answers in the ledger, in alphabetical order.
func (l *Ledger) Providers() []string {
	found := map[string]bool{}
	for i := range l.entries.n {
		found[l.providerOf(l.entries.at(i))] = true
	}
	return slices.Sorted(maps.Keys(found))
}
