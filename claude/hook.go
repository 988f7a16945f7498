package claude

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Hook is called by the CLI when something happens that it is registered for, in
// a goroutine of its own. Its input tells what happens; its output, of which nil
// has no opinion, can change it. The context ends when the CLI does not wait any
// longer, at the latest 5 s after the matcher's Timeout, and when the session
// ends; the session's end waits for hooks that still run.
//
// What an error or a panic does is said at [OnFailure].
type Hook[In, Out any] func(ctx context.Context, in *In) (*Out, error)

// HookMatcher has hooks and says when they are called.
type HookMatcher[In, Out any] struct {
	// Matcher is a pattern for what the event is about: tools' names for tool
	// events, the kind or the source for most others. "" matches everything.
	Matcher string
	Hooks   []Hook[In, Out]
	// Timeout is how long the CLI waits for each hook; 0 is the CLI's default. A
	// CLI that waits longer is told 5 s later that the hook has failed.
	Timeout   time.Duration
	OnFailure OnFailure
}

// On is a list of one matcher, as the fields of [Hooks] take it.
func On[In, Out any](matcher string, hooks ...Hook[In, Out]) []HookMatcher[In, Out] {
	return []HookMatcher[In, Out]{{Matcher: matcher, Hooks: hooks}}
}

// OnFailure says what happens when a hook fails: it returns an error, panics,
// does not return by its Timeout, or its output is one that the CLI would throw
// away.
//
// The zero value refuses where the event can be refused: a failing hook of
// PreToolUse or PermissionRequest denies the call, of UserPromptSubmit blocks
// the prompt, of PreModelSwitch denies the change, of Elicitation declines. On
// the other events the CLI is told of the error, warns and goes on.
type OnFailure string

// What can be done about a failure.
const (
	// Continue tells the CLI of the error, which warns and goes on: the tool
	// runs. The official SDKs do so.
	Continue OnFailure = "continue"
	// Block has the CLI block what the event guards. A CLI that cannot do so is
	// refused with an *[OnFailureError]; prompts wait until that is known.
	Block OnFailure = "block"
)

// hookMatcher is a HookMatcher of any event.
type hookMatcher interface {
	registration() hookRegistration
	hooks() int
	check() error
	clone() hookMatcher
	// call calls one of the hooks and returns the CLI's answer.
	call(ctx context.Context, i int, c *hookCall) ([]byte, error)
}

// hookRegistration is a matcher in initialize.
type hookRegistration struct {
	Matcher         string    `json:"matcher,omitempty"`
	HookCallbackIDs []string  `json:"hookCallbackIds"`
	Timeout         float64   `json:"timeout,omitempty"` // seconds
	OnFailure       OnFailure `json:"onFailure,omitempty"`
}

func (m HookMatcher[In, Out]) registration() hookRegistration {
	return hookRegistration{Matcher: m.Matcher, HookCallbackIDs: []string{}, Timeout: m.Timeout.Seconds(), OnFailure: m.OnFailure}
}

func (m HookMatcher[In, Out]) hooks() int { return len(m.Hooks) }

func (m HookMatcher[In, Out]) clone() hookMatcher {
	m.Hooks = slices.Clone(m.Hooks)
	return m
}

func (m HookMatcher[In, Out]) check() error {
	switch {
	case slices.ContainsFunc(m.Hooks, func(h Hook[In, Out]) bool { return h == nil }):
		return errNilHook
	case m.Timeout < 0:
		return errHookTimeout
	case m.OnFailure != "" && m.OnFailure != Continue && m.OnFailure != Block:
		return fmt.Errorf("OnFailure %q is neither Continue nor Block", m.OnFailure)
	}
	return nil
}

// allHooks are the caller's hooks behind those of this package.
func (o *Options) allHooks() *Hooks {
	if o.Hooks == nil && o.Guard == nil {
		return nil // most sessions have none, and wait for nothing
	}
	var all Hooks
	if o.Hooks != nil {
		all = *o.Hooks
	}
	all.PreToolUse = slices.Concat(o.guards(), all.PreToolUse)
	return &all
}

// registerHooks are the hooks as initialize has them, nil if there are none.
func (o *Options) registerHooks() map[HookEvent][]hookRegistration {
	var events map[HookEvent][]hookRegistration
	n := 0
	for event, m := range o.allHooks().all {
		if events == nil {
			events = map[HookEvent][]hookRegistration{}
		}
		r := m.registration()
		for range m.hooks() {
			r.HookCallbackIDs = append(r.HookCallbackIDs, hookID(n))
			n++
		}
		events[event] = append(events[event], r)
	}
	return events
}

func hookID(n int) string { return fmt.Sprintf("hook_%d", n) }

// hasHooks reports whether the CLI may call a hook.
func (o *Options) hasHooks() bool {
	for range o.allHooks().all {
		return true
	}
	return false
}

// hooksBlock reports whether a hook counts on the CLI to block when it fails.
func (o *Options) hooksBlock() bool {
	for _, m := range o.allHooks().all {
		if m.registration().OnFailure == Block {
			return true
		}
	}
	return false
}
