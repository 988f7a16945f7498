package hook

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Func is called by the CLI when something happens that it is registered for, in
// a goroutine of its own. Its input tells what happens; its output, of which nil
// has no opinion, can change it. The context ends when the CLI does not wait any
// longer, at the latest 5 s after the matcher's Timeout, and when the session
// ends; the session's end waits for hooks that still run.
//
// What an error or a panic does is said at [OnFailure].
type Func[In, Out any] func(ctx context.Context, in *In) (*Out, error)

// Matcher is a list of hooks of one event, with a pattern that selects when they are called and
// their time limit.
type Matcher[In, Out any] struct {
	// Matcher is a pattern for what the event is about: tools' names for tool
	// events, the kind or the source for most others. "" matches everything.
	Matcher string
	Hooks   []Func[In, Out]
	// Timeout is how long the CLI waits for each hook; 0 is the CLI's default. If the CLI waits
	// longer, the hook is reported to it as failed 5 s later.
	Timeout   time.Duration
	OnFailure OnFailure
}

// On returns a list of one matcher with these hooks, in the form that the fields of [Hooks]
// take.
func On[In, Out any](matcher string, hooks ...Func[In, Out]) []Matcher[In, Out] {
	return []Matcher[In, Out]{{Matcher: matcher, Hooks: hooks}}
}

// OnFailure says what happens when a hook fails: it returns an error, panics,
// does not return by its Timeout, or its output is one that the CLI would throw
// away.
//
// The zero value refuses where the event can be refused: a failing hook of
// PreToolUse or claude.PermissionRequest denies the call, of UserPromptSubmit blocks
// the prompt, of PreModelSwitch denies the change, of Elicitation declines. On the other events
// the error is reported to the CLI, which warns and goes on.
type OnFailure string

// What can be done about a failure.
const (
	// Continue tells the CLI of the error, which warns and goes on: the tool
	// runs. The official SDKs do so.
	Continue OnFailure = "continue"
	// Block has the CLI block what the event guards. A CLI that cannot do so is
	// refused with an *[claude.OnFailureError]; prompts wait until that is known.
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
