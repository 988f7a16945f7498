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

// The CLI asks for permission and calls the PermissionRequest hooks at the same time, and the first answer counts:
// a quick allow would win over a hook that is about to deny. So this package delays an allow until the hooks have
// answered, and sends a deny of a hook instead.

// hookArrival limits how long an allow waits for the CLI to call an expected hook. Once a hook is called, the allow
// waits for its answer without a limit.
const hookArrival = 2 * time.Second

// maxPermissionCalls limits the remembered tool calls with hooks.
const maxPermissionCalls = 64

// permissionHooks holds the PermissionRequest hooks of recent tool calls.
type permissionHooks struct {
	mu    sync.Mutex
	calls map[string]*permissionCall
	order []string // of calls, the oldest first
}

// permissionCall is the state of the hooks of one tool call.
type permissionCall struct {
	begun, ended int // hooks
	asked        int // permission requests; equal calls share this state
	waiting      int // requests without an answer
	deny         *hook.PermissionRequestDecision
	changed      chan struct{} // closed and replaced on every change
}

// permissionKey identifies a tool call by name and input, because the hook does not get its id.
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

// shrink drops the oldest finished calls. It keeps unfinished ones regardless of their number, because their hook
// may be about to deny.
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

// watchHook records the call of a hook; the returned function records its answer.
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

// denial returns the decision in a hook's answer if it is a deny, or nil.
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

// hooksFor returns the number of PermissionRequest hooks that the CLI calls for a tool.
func (l *launch) hooksFor(name string) (n int) {
	for _, r := range l.hooks.Events[hook.PermissionRequest] {
		if matches(r.Matcher, name) {
			n += len(r.HookCallbackIDs)
		}
	}
	return n
}

// listMatcher matches matchers that the CLI treats as a list of names.
var listMatcher = regexp.MustCompile(`^[a-zA-Z0-9_|, -]+$`)

// matches reports whether the CLI calls a hook with this matcher for a tool. The matcher is a list of names, or a
// regular expression that matches anywhere in the name; former names of a tool count too. An expression that Go
// cannot compile counts as matching.
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

// afterHooks delays an allow until the PermissionRequest hooks of its call have answered. It returns the deny of a
// hook if there is one.
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

// forget removes the state of a finished call, because a later call may be equal.
func (h *permissionHooks) forget(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.calls[key]; c != nil && c.begun == c.ended && c.waiting == 0 {
		delete(h.calls, key)
		h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == key })
	}
}
