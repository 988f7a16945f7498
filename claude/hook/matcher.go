package hook

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Func is a hook. It is called in a new goroutine for each event that it is registered for. Its
// input describes the event; its output can change the CLI's behavior, and nil leaves it unchanged.
// The context ends when the CLI stops waiting, at the latest 5 s after the Timeout of the [Matcher]
// if it has one, and when the session ends. The session waits for running hooks before it ends.
//
// [OnFailure] describes the effect of an error or a panic.
type Func[In, Out any] func(ctx context.Context, in *In) (*Out, error)

// Matcher is a list of hooks of one event, with the pattern that selects the events and their time
// limit.
type Matcher[In, Out any] struct {
	// Matcher is a pattern for the subject of the event: the tool name for tool events, the kind or
	// the source for most others. "" matches all.
	Matcher string
	Hooks   []Func[In, Out]
	// Timeout is how long the CLI waits for each hook; 0 means the CLI's default, and then this
	// package sets no time limit, except one of 10 minutes with claude.Options.MaxAbsence. If the
	// CLI waits longer than Timeout, the hook fails 5 s after it.
	Timeout   time.Duration
	OnFailure OnFailure
}

// On returns a list of one matcher with these hooks, in the form that the fields of [Hooks]
// take.
func On[In, Out any](matcher string, hooks ...Func[In, Out]) []Matcher[In, Out] {
	return []Matcher[In, Out]{{Matcher: matcher, Hooks: hooks}}
}

// OnFailure decides the effect of a failing hook: one that returns an error, panics, does not
// return before its Timeout, or returns an output that the CLI would discard.
//
// With the zero value a failure refuses the action: a failing hook of PreToolUse or
// PermissionRequest denies the call, one of UserPromptSubmit blocks the prompt, one of
// PreModelSwitch denies the change, and one of Elicitation declines. For other events the error is
// reported to the CLI, which shows a warning and continues.
type OnFailure string

// The values of OnFailure other than the zero value, which is the safest.
const (
	// Continue reports the error to the CLI, which shows a warning and continues, so the tool runs.
	// The official SDKs do the same.
	Continue OnFailure = "continue"
	// Block makes the CLI block the action that the event guards. A session with a CLI that does
	// not support this fails with a *claude.OnFailureError; prompts wait until the CLI has reported
	// its support.
	Block OnFailure = "block"
)

type anyMatcher interface {
	registration(absence time.Duration) Registration
	refusal(event Event, why string) ([]byte, error)
	hooks() int
	check() error
	clone() anyMatcher
	// call calls one of the hooks and returns the CLI's answer.
	call(ctx context.Context, i int, c *Invocation) ([]byte, error)
}

// Registration is a matcher in the form that the initialize request has, with callback ids in
// place of functions.
type Registration struct {
	Matcher         string    `json:"matcher,omitempty"`
	HookCallbackIDs []string  `json:"hookCallbackIds"`
	Timeout         float64   `json:"timeout,omitempty"` // seconds
	OnFailure       OnFailure `json:"onFailure,omitempty"`
}

func (m Matcher[In, Out]) registration(absence time.Duration) Registration {
	timeout := m.Timeout
	if absence > 0 {
		timeout = min(m.limit(absence), maxTimeout) + min(absence, maxTimeout)
	}
	return Registration{Matcher: m.Matcher, HookCallbackIDs: []string{}, Timeout: min(timeout, maxTimeout).Seconds(), OnFailure: m.OnFailure}
}

const (
	// maxTimeout is below the limit of the CLI's timers, which count milliseconds in 32 bits and
	// fire at once beyond it.
	maxTimeout = 24 * 24 * time.Hour
	// defaultLimit is the time limit of a function without a Timeout if the CLI also waits for an
	// absence and therefore does not limit the function.
	defaultLimit = 10 * time.Minute
)

// limit returns the time limit of a function; 0 means no limit.
func (m Matcher[In, Out]) limit(absence time.Duration) time.Duration {
	switch {
	case m.Timeout > 0:
		return m.Timeout + hookGrace
	case absence > 0:
		return defaultLimit
	}
	return 0
}

func (m Matcher[In, Out]) hooks() int { return len(m.Hooks) }

func (m Matcher[In, Out]) clone() anyMatcher {
	m.Hooks = slices.Clone(m.Hooks)
	return m
}

func (m Matcher[In, Out]) check() error {
	switch {
	case slices.ContainsFunc(m.Hooks, func(h Func[In, Out]) bool { return h == nil }):
		return errNilFunc
	case m.Timeout < 0:
		return errHookTimeout
	case m.OnFailure != "" && m.OnFailure != Continue && m.OnFailure != Block:
		return fmt.Errorf("OnFailure %q is neither Continue nor Block", m.OnFailure)
	}
	return nil
}
