package budget

import (
	"fmt"
	"strings"
	"time"
)

// Level is the level of usage of a limit.
type Level int

// The levels of a limit, the worst last.
const (
	Below   Level = iota // less than Warning of it is used
	Near                 // at least Warning of it is used
	Reached              // all of it is used
)

// Warning is the part of a limit at which a warning is reported.
const Warning = 0.8

// Standing is the usage of a limit by an account, and its level.
type Standing struct {
	Limit
	Target string // of the account, also if the limit has none
	Spent  Amount
	Resets time.Time // when counting restarts; zero is never
	Level  Level
	Hidden bool // the usage is not shown: see For
}

// For returns the standing as the sessions of a tenant show it, "" for none: the usage of the whole server is that of other tenants too,
// and is hidden.
func (s Standing) For(tenant string) Standing {
	if tenant != "" && s.Scope == ScopeServer {
		s.Spent, s.Hidden = Amount{}, true
	}
	return s
}

// Key identifies the limit, the account and the period, so that each can be reported once.
func (s Standing) Key() string {
	return strings.Join([]string{s.Limit.ID, s.Target, s.Resets.Format(time.DateOnly)}, "\x00")
}

// Stops reports whether no new turn may start, because the limit is reached and its action is more
// than a notice.
func (s Standing) Stops() bool { return s.Level == Reached && s.Action != ActionNotify }

// Interrupts reports whether running turns are interrupted, because the limit is reached and its
// action requires it.
func (s Standing) Interrupts() bool { return s.Level == Reached && s.Action == ActionInterrupt }

// Part returns the used part of the limit, 1 for all of it: the larger of money and tokens.
func (s Standing) Part() float64 {
	part := 0.0
	if s.USD != nil {
		part = fraction(s.Spent.USD, *s.USD)
	}
	if s.Tokens != nil {
		part = max(part, fraction(float64(s.Spent.Tokens), float64(*s.Tokens)))
	}
	return part
}

func fraction(n, of float64) float64 {
	if of <= 0 {
		return 1
	}
	return max(n, 0) / of
}

// Left returns the remaining dollars; false if the limit is not one of money.
func (s Standing) Left() (float64, bool) {
	if s.USD == nil {
		return 0, false
	}
	return max(*s.USD-s.Spent.USD, 0), true
}

// String returns a sentence for people about the usage of the limit by the account, and the next
// reset.
func (s Standing) String() string {
	whose := map[string]string{ScopeSession: "this session", ScopeToken: "this token", ScopeTenant: "this tenant", ScopeServer: "the server"}[s.Scope]
	var used []string
	if s.USD != nil && !s.Hidden {
		used = append(used, dollars(s.Spent.USD)+" of "+dollars(*s.USD))
	}
	if s.Tokens != nil && !s.Hidden {
		used = append(used, fmt.Sprintf("%d of %d tokens", s.Spent.Tokens, *s.Tokens))
	}
	period := ""
	if s.Period != "" {
		period = " of the " + s.Period
	}
	text := fmt.Sprintf("The budget%s for %s: %s used", period, whose, strings.Join(used, ", "))
	switch {
	case s.Level == Reached && s.Hidden:
		text = fmt.Sprintf("The budget%s for %s is used up", period, whose)
	case s.Level == Reached:
		text = fmt.Sprintf("The budget%s for %s is used up: %s", period, whose, strings.Join(used, ", "))
	case s.Hidden:
		text = fmt.Sprintf("The budget%s for %s: %s than %.0f %% used", period, whose, map[bool]string{true: "more", false: "less"}[s.Level == Near], 100*Warning)
	}
	if !s.Resets.IsZero() {
		text += ", anew on " + s.Resets.Format("2006-01-02 15:04 MST")
	}
	return text + "."
}

// dollars formats an amount of money with a suitable number of digits.
func dollars(usd float64) string {
	if usd != 0 && usd < 1 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Consequence returns a sentence for people about the action when the limit is reached.
func (l Limit) Consequence() string {
	switch l.Action {
	case ActionNotify:
		return "Nothing is stopped at the limit."
	case ActionRefuse:
		return "At the limit running turns may end and new ones are refused."
	}
	return "At the limit running turns are interrupted and new ones are refused."
}

// Check returns the standings of an account with each limit that applies to it.
func (b *Book) Check(acc Account, now time.Time) []Standing {
	var all []Standing
	for _, l := range b.limits {
		for _, target := range acc.targets(l.Scope) {
			if l.Target == "" || l.Target == target {
				all = append(all, b.standing(l, target, now))
			}
		}
	}
	return all
}

// All returns the standings of all limits, for a list: for a limit without a target, that of the
// account with the highest usage.
func (b *Book) All(now time.Time) []Standing {
	var all []Standing
	for _, l := range b.limits {
		worst := b.standing(l, l.Target, now)
		if l.Target == "" && l.Scope != ScopeServer {
			for k := range b.sums {
				if k.scope == l.Scope && k.period == bucket(l.Period, now) {
					if s := b.standing(l, k.target, now); s.Part() > worst.Part() {
						worst = s
					}
				}
			}
		}
		all = append(all, worst)
	}
	return all
}

func (b *Book) standing(l Limit, target string, now time.Time) Standing {
	s := Standing{Limit: l, Target: target, Spent: b.spent(l.Scope, target, l.Period, now), Resets: l.resets(now)}
	switch part := s.Part(); {
	case part >= 1:
		s.Level = Reached
	case part >= Warning:
		s.Level = Near
	}
	return s
}
