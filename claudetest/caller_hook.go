package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// callerMatcher is a matcher in the hooks of a recorded caller.
type callerMatcher struct {
	Matcher   string           `json:"matcher"`
	Timeout   float64          `json:"timeout"` // seconds
	OnFailure claude.OnFailure `json:"onFailure"`
	Callbacks []string         `json:"callbacks"`
}

// setHooks gives o the hooks that the caller had.
func (c *Call) setHooks(o *claude.Options) error {
	if c.Options["hooks"] == nil {
		return nil
	}
	var events map[string][]callerMatcher
	if err := json.Unmarshal(c.Options["hooks"], &events); err != nil {
		return fmt.Errorf("claudetest: option hooks: %w", err)
	}
	answers := &hookAnswers{call: c, used: map[int]bool{}}
	o.Hooks = new(claude.Hooks)
	for event, matchers := range events {
		list := reflect.ValueOf(o.Hooks).Elem().FieldByName(event)
		if !list.IsValid() || list.Kind() != reflect.Slice {
			return fmt.Errorf("claudetest: option hooks: %s is no event", event)
		}
		for _, m := range matchers {
			list.Set(reflect.Append(list, answers.matcher(list.Type().Elem(), m)))
		}
	}
	return nil
}

// hookAnswers are the recorded calls of hooks.
type hookAnswers struct {
	call *Call
	mu   sync.Mutex
	used map[int]bool
}

// matcher makes a claude.HookMatcher of type t.
func (h *hookAnswers) matcher(t reflect.Type, m callerMatcher) reflect.Value {
	v := reflect.New(t).Elem()
	v.FieldByName("Matcher").SetString(m.Matcher)
	v.FieldByName("Timeout").SetInt(int64(m.Timeout * float64(time.Second)))
	v.FieldByName("OnFailure").SetString(string(m.OnFailure))
	hooks := v.FieldByName("Hooks")
	hook := hooks.Type().Elem()
	for _, id := range m.Callbacks {
		hooks.Set(reflect.Append(hooks, reflect.MakeFunc(hook, func(args []reflect.Value) []reflect.Value {
			out := reflect.New(hook.Out(0)).Elem()
			err := reflect.New(hook.Out(1)).Elem()
			text, failure := h.give(args[0].Interface().(context.Context), id)
			if failure == nil && len(text) > 0 && string(text) != "null" {
				out.Set(reflect.New(hook.Out(0).Elem()))
				failure = setHookOutput(out, text)
			}
			if failure != nil {
				err.Set(reflect.ValueOf(failure))
			}
			return []reflect.Value{out, err}
		})))
	}
	return v
}

var errNoHookCall = errors.New("claudetest: the recording has no such call of a hook")

// give does what a hook did: it waits as long, and returns or fails.
func (h *hookAnswers) give(ctx context.Context, id string) (json.RawMessage, error) {
	i := h.next(id)
	if i < 0 {
		return nil, errNoHookCall
	}
	h.call.invoke(i)
	a := h.call.Answers[i]
	delay := a.DelayMS
	if a.DelayAfterCancelMS != nil {
		<-ctx.Done()
		delay = *a.DelayAfterCancelMS
	}
	if delay > 0 {
		// The recorded functions did not end with their signal.
		<-time.After(time.Duration(delay * float64(time.Millisecond)))
	}
	if a.Throw != nil {
		return nil, errors.New(*a.Throw)
	}
	return a.Return, nil
}

// next is the first call of a hook that was not made yet, -1 if there is none.
func (h *hookAnswers) next(id string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, a := range h.call.Answers {
		if a.Subtype == "hook_callback" && a.CallbackID == id && !h.used[i] {
			h.used[i] = true
			return i
		}
	}
	return -1
}

// setHookOutput sets the fields of the output that out points to from the JSON
// of an output.
func setHookOutput(out reflect.Value, text json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for name, member := range members {
		var dst any
		switch name {
		case "hookSpecificOutput":
			dst = out.Interface()
		case "asyncTimeout":
			var ms float64
			if err := json.Unmarshal(member, &ms); err != nil {
				return err
			}
			out.Elem().FieldByName("AsyncTimeout").SetInt(int64(ms * float64(time.Millisecond)))
			continue
		default:
			field := out.Elem().FieldByName("HookOutput").FieldByName(strings.ToUpper(name[:1]) + name[1:])
			if !field.IsValid() {
				return fmt.Errorf("claudetest: a hook's output has no %s", name)
			}
			dst = field.Addr().Interface()
		}
		if err := json.Unmarshal(member, dst); err != nil {
			return err
		}
	}
	return nil
}

// hookIDs are the ids of hooks in an initialize line, by event and place.
func hookIDs(line string) map[string]string {
	var l struct {
		Request struct {
			Subtype string
			Hooks   map[string][]struct {
				IDs []string `json:"hookCallbackIds"`
			}
		}
	}
	if json.Unmarshal([]byte(line), &l) != nil || l.Request.Subtype != "initialize" {
		return nil
	}
	ids := map[string]string{}
	for event, matchers := range l.Request.Hooks {
		for i, m := range matchers {
			for j, id := range m.IDs {
				ids[fmt.Sprint(event, i, ".", j)] = id
			}
		}
	}
	return ids
}

// ownHook is a hook_callback line with the id that the SDK gave the hook: SDKs
// number them in orders of their own. p.mu is held.
func (p *Player) ownHook(text string) string {
	if !strings.Contains(text, `"hook_callback"`) {
		return text
	}
	find := func(lines []string) map[string]string {
		for _, line := range lines {
			if ids := hookIDs(line); ids != nil {
				return ids
			}
		}
		return nil
	}
	own := find(p.input)
	for place, id := range find(p.proc.Stdin) {
		recorded := `"callback_id":` + string(quote(id))
		if strings.Contains(text, recorded) && own[place] != "" {
			return strings.Replace(text, recorded, `"callback_id":`+string(quote(own[place])), 1)
		}
	}
	return text
}
