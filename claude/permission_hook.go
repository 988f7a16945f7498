package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// The CLI asks for permission and calls the PermissionRequest hooks at the same
// time, and the first answer counts: an allow that came at once won against a hook
// that was about to deny. So an allow is held until the hooks have answered, and a
// deny of theirs takes its place.

// hookArrival bounds how long an allow waits for the CLI to call a hook that should
// be called. One that has been called is waited for until it has answered.
const hookArrival = 2 * time.Second

// maxPermissionCalls bounds the calls of tools whose hooks are remembered.
const maxPermissionCalls = 64

// permissionHooks are the PermissionRequest hooks of the last calls of tools.
type permissionHooks struct {
	mu    sync.Mutex
	calls map[string]*permissionCall
	order []string // of calls, the oldest first
}

// permissionCall is what the hooks of one call of a tool have done so far.
type permissionCall struct {
	begun, ended int // hooks
	asked        int // questions for permission: calls that are alike share this
	waiting      int // of them, those that have no answer yet
	deny         *hook.PermissionRequestDecision
	changed      chan struct{} // closed and made anew when something happens
}

// permissionKey names a call of a tool: the hook is not given its id.
func permissionKey(name string, input message.JSON) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(input)) != nil {
		return name + " " + string(input)
	}
	return name + " " + b.String()
}

func (h *permissionHooks) update(key string, f func(c *permissionCall)) (now permissionCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[key]
	if c == nil {
		if h.calls == nil {
			h.calls = map[string]*permissionCall{}
		}
		c = &permissionCall{changed: make(chan struct{})}
		h.calls[key] = c
		h.order = append(h.order, key)
		h.shrink()
	}
	if f != nil {
		f(c)
		close(c.changed)
		c.changed = make(chan struct{})
	}
	return *c
}

// shrink drops the oldest calls that are over. One that is not stays, however many there are: its hook may be about
// to deny.
func (h *permissionHooks) shrink() {
	for i := 0; len(h.order) > maxPermissionCalls && i < len(h.order)-1; {
		if c := h.calls[h.order[i]]; c.begun > c.ended || c.waiting > 0 {
			i++
			continue
		}
		delete(h.calls, h.order[i])
		h.order = slices.Delete(h.order, i, i+1)
	}
}

// watchHook notes that a hook was called; the returned function notes its answer.
func (r *responder) watchHook(input message.JSON) (answered func(answer []byte)) {
	var in struct {
		Event string       `json:"hook_event_name"`
		Tool  string       `json:"tool_name"`
		Input message.JSON `json:"tool_input"`
	}
	if !r.launch.asksForPermission() || jsonwire.Unmarshal(string(input), &in) != nil || in.Event != string(hook.PermissionRequest) {
		return func([]byte) {}
	}
	key := permissionKey(in.Tool, in.Input)
	r.permissionHooks.update(key, func(c *permissionCall) { c.begun++ })
	return func(answer []byte) {
		deny := denial(answer)
		r.permissionHooks.update(key, func(c *permissionCall) {
			c.ended++
			if deny != nil {
				c.deny = deny
			}
		})
	}
}

// denial is the decision in a hook's answer if it is a deny.
func denial(answer []byte) *hook.PermissionRequestDecision {
	var out struct {
		Specific struct {
			Decision struct {
				Behavior  hook.PermissionDecision `json:"behavior"`
				Message   string                  `json:"message"`
				Interrupt bool                    `json:"interrupt"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(answer, &out) != nil || out.Specific.Decision.Behavior != hook.DecisionDeny {
		return nil
	}
	d := out.Specific.Decision
	return &hook.PermissionRequestDecision{Behavior: d.Behavior, Message: d.Message, Interrupt: d.Interrupt}
}

// hooksFor is the number of PermissionRequest hooks that the CLI calls for a tool.
func (l *launch) hooksFor(name string) (n int) {
	for _, r := range l.hooks.Events[hook.PermissionRequest] {
		if matches(r.Matcher, name) {
			n += len(r.HookCallbackIDs)
		}
	}
	return n
}

// listMatcher is a matcher that the CLI takes for a list of names.
var listMatcher = regexp.MustCompile(`^[a-zA-Z0-9_|, -]+$`)

// matches reports whether the CLI calls a hook with this matcher for a tool. The matcher is a list
// of names or an expression that is found anywhere in the name; the old names of a tool count too.
// An expression that is not known here counts as one that matches.
func matches(matcher, name string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	if listMatcher.MatchString(matcher) {
		list := strings.FieldsFunc(matcher, func(c rune) bool { return c == '|' || c == ',' })
		return slices.ContainsFunc(list, func(one string) bool { return tool.Canonical(strings.TrimSpace(one)) == tool.Canonical(name) })
	}
	pattern, err := regexp.Compile(matcher)
	return err != nil || slices.ContainsFunc(tool.NamesOf(name), pattern.MatchString)
}

// afterHooks holds an allow until the PermissionRequest hooks of its call have
// answered, and is the deny of theirs where there is one.
func (r *responder) afterHooks(ctx context.Context, p *PermissionRequest, answer []byte) ([]byte, error) {
	expected := r.launch.hooksFor(p.ToolName)
	if expected == 0 || !bytes.Contains(answer, []byte(`"behavior":"allow"`)) {
		return answer, nil
	}
	key := permissionKey(p.ToolName, p.Input)
	r.permissionHooks.update(key, func(c *permissionCall) { c.asked++; c.waiting++ })
	defer r.permissionHooks.update(key, func(c *permissionCall) { c.waiting-- })
	arrival := time.NewTimer(hookArrival)
	defer arrival.Stop()
	for late := false; ; {
		c := r.permissionHooks.update(key, nil)
		switch {
		case c.deny != nil:
			return p.encode(&Deny{Message: c.deny.Message, Interrupt: c.deny.Interrupt})
		case c.ended >= expected*c.asked, late && c.ended >= c.begun:
			return answer, nil
		}
		select {
		case <-c.changed:
		case <-arrival.C:
			late = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// forget drops what the hooks of a call have done: another call may be the same.
func (h *permissionHooks) forget(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.calls[key]; c != nil && c.begun == c.ended && c.waiting == 0 {
		delete(h.calls, key)
		h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == key })
	}
}
