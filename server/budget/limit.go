package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The scopes of a [Limit]: the usage that it counts.
const (
	ScopeSession = "session"
	ScopeToken   = "token"
	ScopeTenant  = "tenant"
	ScopeServer  = "server"
)

var scopes = []string{ScopeSession, ScopeToken, ScopeTenant, ScopeServer}

// The periods of a [Limit], after each of which counting restarts. Empty never resets.
const (
	PeriodDay   = "day"
	PeriodMonth = "month"
)

var periods = []string{"", PeriodDay, PeriodMonth}

// The actions of a [Limit] when it is reached.
const (
	ActionInterrupt = "interrupt" // running turns are interrupted, new ones refused
	ActionRefuse    = "refuse"    // running turns may end, new ones are refused
	ActionNotify    = "notify"    // only a notice is sent
)

var actions = []string{ActionInterrupt, ActionRefuse, ActionNotify}

// Limit is a limit of usage. Without a target it applies to each session, token or tenant
// separately.
type Limit struct {
	ID     string   `json:"id"`
	Scope  string   `json:"scope"`
	Target string   `json:"target,omitempty"`
	Period string   `json:"period,omitempty"`
	USD    *float64 `json:"usd,omitempty"`
	Tokens *int64   `json:"tokens,omitempty"`
	Action string   `json:"action,omitempty"` // empty is ActionInterrupt
}

// Check returns an error if a limit is invalid, and sets its default action.
func (l *Limit) Check() error {
	if l.Action == "" {
		l.Action = ActionInterrupt
	}
	switch {
	case !slices.Contains(scopes, l.Scope):
		return fmt.Errorf("scope %q is not one of %s", l.Scope, strings.Join(scopes, ", "))
	case l.Scope == ScopeServer && l.Target != "":
		return errors.New("a limit of the server has no target")
	case !slices.Contains(periods, l.Period):
		return fmt.Errorf("period %q is not day, month or empty", l.Period)
	case !slices.Contains(actions, l.Action):
		return fmt.Errorf("action %q is not one of %s", l.Action, strings.Join(actions, ", "))
	case l.USD == nil && l.Tokens == nil:
		return errors.New("there is a limit neither in dollars nor in tokens")
	case l.USD != nil && (!(*l.USD >= 0) || math.IsInf(*l.USD, 0)) || l.Tokens != nil && *l.Tokens < 0:
		return errors.New("a limit is not a number from 0 on")
	}
	return nil
}

// ParseLimit parses a limit in the form of a setting: words of the form key=value with the keys
// scope, target, period, usd, tokens and action, as in "scope=tenant period=day usd=20".
func ParseLimit(text string) (Limit, error) {
	l := Limit{ID: "setting:" + strings.Join(strings.Fields(text), " ")}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "scope":
			l.Scope = value
		case "target":
			l.Target = value
		case "period":
			l.Period = value
		case "action":
			l.Action = value
		case "usd":
			l.USD = new(float64)
			*l.USD, err = strconv.ParseFloat(value, 64)
		case "tokens":
			l.Tokens = new(int64)
			*l.Tokens, err = strconv.ParseInt(value, 10, 64)
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return Limit{}, fmt.Errorf("budget %q: %w", text, err)
		}
	}
	if err := l.Check(); err != nil {
		return Limit{}, fmt.Errorf("budget %q: %w", text, err)
	}
	return l, nil
}

// bucket returns the name of the day or month that contains a time, or "" without a period.
func bucket(period string, t time.Time) string {
	switch period {
	case PeriodDay:
		return t.UTC().Format(time.DateOnly)
	case PeriodMonth:
		return t.UTC().Format("2006-01")
	}
	return ""
}

// resets returns the start of the next period, or the zero time for a limit that never resets.
func (l Limit) resets(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	switch l.Period {
	case PeriodDay:
		return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	case PeriodMonth:
		return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}
