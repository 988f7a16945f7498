package hook

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Func is a hook. It is called, in a goroutine of its own, when the event that it is registered for
// happens. Its input describes the event; its output can change what happens, and nil changes
// nothing. The context ends when the CLI stops waiting, at the latest 5 s after the Timeout of the
// [Matcher] if it has one, and when the session ends. The end of the session waits for hooks that
// still run.
//
// [OnFailure] describes what an error or a panic does.
type Func[In, Out any] func(ctx context.Context, in *In) (*Out, error)

// Matcher is a list of hooks of one event, with a pattern that selects when they are called and
// their time limit.
type Matcher[In, Out any] struct {
	// Matcher is a pattern for what the event is about: the names of tools for tool events, the
	// kind or the source for most others. "" matches everything.
	Matcher string
	Hooks   []Func[In, Out]
	// Timeout is how long the CLI waits for each hook; 0 is the CLI's default, and then the hook
	// has no time limit on this side. If the CLI waits longer than Timeout, the hook fails 5 s
	// after it.
	Timeout   time.Duration
	OnFailure OnFailure
}

// On returns a list of one matcher with these hooks, in the form that the fields of [Hooks]
// take.
func On[In, Out any](matcher string, hooks ...Func[In, Out]) []Matcher[In, Out] {
	return []Matcher[In, Out]{{Matcher: matcher, Hooks: hooks}}
}

// OnFailure decides what happens when a hook fails: it returns an error, panics, does not return
// before its Timeout, or returns an output that the CLI would discard.
//
// With the zero value a failure refuses what these events are about: a failing hook of PreToolUse
// or PermissionRequest denies the call, one of UserPromptSubmit blocks the prompt, one of
// PreModelSwitch denies the change, and one of Elicitation declines. For other events the error is
// reported to the CLI, which shows a warning and goes on.
type OnFailure string

// The values of OnFailure other than the zero value, which is the safest one.
const (
	// Continue reports the error to the CLI, which shows a warning and goes on, so that the tool
	// runs. The official SDKs do the same.
	Continue OnFailure = "continue"
	// Block makes the CLI block what the event guards. A session with a CLI that does not support
	// this fails with a *claude.OnFailureError; prompts wait until it is known.
	Block OnFailure = "block"
)

// anyMatcher is a Matcher of any event.
type anyMatcher interface {
	registration() Registration
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

func (m Matcher[In, Out]) registration() Registration {
	return Registration{Matcher: m.Matcher, HookCallbackIDs: []string{}, Timeout: m.Timeout.Seconds(), OnFailure: m.OnFailure}
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
