package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// recordedMatcher is a matcher of the option hooks. Callbacks are the wire ids of its
// hooks.
type recordedMatcher struct {
	Matcher   string         `json:"matcher"`
	Callbacks []string       `json:"callbacks"`
	Timeout   float64        `json:"timeout"` // seconds
	OnFailure hook.OnFailure `json:"onFailure"`
}

// hooks returns the hooks of a recording, which repeat the recorded results.
func (a *callAnswers) hooks(raw json.RawMessage) (*hook.Hooks, error) {
	var events map[string][]recordedMatcher
	if err := json.Unmarshal(raw, &events); err != nil {
		return nil, err
	}
	hooks := &hook.Hooks{}
	for event, matchers := range events {
		list := reflect.ValueOf(hooks).Elem().FieldByName(event)
		if list.IsValid() && list.Kind() == reflect.Slice {
			a.setMatchers(list, matchers)
			continue
		}
		other := reflect.New(reflect.TypeOf(hooks.Other).Elem()).Elem()
		a.setMatchers(other, matchers)
		if hooks.Other == nil {
			hooks.Other = map[string][]hook.Matcher[hook.OtherInput, hook.OtherOutput]{}
		}
		reflect.ValueOf(hooks.Other).SetMapIndex(reflect.ValueOf(event), other)
	}
	return hooks, nil
}

// setMatchers fills a list of matchers of any event.
func (a *callAnswers) setMatchers(list reflect.Value, matchers []recordedMatcher) {
	for _, m := range matchers {
		v := reflect.New(list.Type().Elem()).Elem()
		v.FieldByName("Matcher").SetString(m.Matcher)
		v.FieldByName("Timeout").SetInt(int64(m.Timeout * float64(time.Second)))
		if m.OnFailure == "" && a.FailOpen {
			m.OnFailure = hook.Continue
		}
		v.FieldByName("OnFailure").Set(reflect.ValueOf(m.OnFailure))
		hooks := v.FieldByName("Hooks")
		for _, id := range m.Callbacks {
			hooks.Set(reflect.Append(hooks, a.hook(hooks.Type().Elem(), id)))
		}
		list.Set(reflect.Append(list, v))
	}
}

// hook returns the function of one recorded hook, of the event's own type.
func (a *callAnswers) hook(typ reflect.Type, id string) reflect.Value {
	output := typ.Out(0)
	return reflect.MakeFunc(typ, func(args []reflect.Value) []reflect.Value {
		out, err := a.callHook(args[0].Interface().(context.Context), id, output)
		failed := reflect.Zero(typ.Out(1))
		if err != nil {
			failed = reflect.ValueOf(&err).Elem()
		}
		return []reflect.Value{out, failed}
	})
}

// callHook repeats a recorded hook; output is a pointer to its output.
func (a *callAnswers) callHook(ctx context.Context, id string, output reflect.Type) (reflect.Value, error) {
	none := reflect.Zero(output)
	answer, err := a.give(ctx, "hook "+id, func(r *recordedAnswer) bool { return r.Subtype == "hook_callback" && r.CallbackID == id })
	if err != nil {
		return none, err
	}
	if isNull(answer.Return) || string(answer.Return) == "{}" {
		return none, nil
	}
	out := reflect.New(output.Elem())
	if err := hookOutput(answer.Return, out.Interface()); err != nil {
		return none, fmt.Errorf("recording: the output of %s: %w", id, err)
	}
	return out, nil
}

// hookOutput decodes the result of a hook into the output of its event.
func hookOutput(raw json.RawMessage, out any) error {
	var v struct {
		Continue         *bool           `json:"continue"`
		SuppressOutput   bool            `json:"suppressOutput"`
		StopReason       string          `json:"stopReason"`
		Decision         hook.Decision   `json:"decision"`
		Reason           string          `json:"reason"`
		SystemMessage    string          `json:"systemMessage"`
		TerminalSequence string          `json:"terminalSequence"`
		Async            bool            `json:"async"`
		AsyncTimeout     float64         `json:"asyncTimeout"` // milliseconds
		Specific         json.RawMessage `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	reflect.ValueOf(out).Elem().FieldByName("Output").Set(reflect.ValueOf(hook.Output{
		Continue: v.Continue, SuppressOutput: v.SuppressOutput, StopReason: v.StopReason, Decision: v.Decision, Reason: v.Reason,
		SystemMessage: v.SystemMessage, TerminalSequence: v.TerminalSequence,
		Async: v.Async, AsyncTimeout: time.Duration(v.AsyncTimeout * float64(time.Millisecond)),
	}))
	if isNull(v.Specific) {
		return nil
	}
	if other, ok := out.(*hook.OtherOutput); ok {
		other.Specific = message.JSON(v.Specific)
		return nil
	}
	return json.Unmarshal(v.Specific, out)
}
