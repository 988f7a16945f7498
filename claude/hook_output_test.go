package claude

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// hookTypes returns the types of each event's input and output.
func hookTypes(t *testing.T) map[hook.Event][2]reflect.Type {
	types := map[hook.Event][2]reflect.Type{}
	add := func(event hook.Event, list reflect.Type) {
		hooks, _ := list.Elem().FieldByName("Hooks")
		hook := hooks.Type.Elem()
		types[event] = [2]reflect.Type{hook.In(1).Elem(), hook.Out(0).Elem()}
	}
	for f := range reflect.TypeFor[hook.Hooks]().Fields() {
		switch f.Type.Kind() {
		case reflect.Slice:
			add(hook.Event(f.Name), f.Type)
		case reflect.Map:
			add("Brand new", f.Type.Elem())
		}
	}
	if len(types) != 34 {
		t.Fatalf("%d events", len(types))
	}
	return types
}

// TestEveryEventIsTyped checks that the names of fields, types and constants match.
func TestEveryEventIsTyped(t *testing.T) {
	for event, types := range hookTypes(t) {
		want := [2]string{string(event) + "Input", string(event) + "Output"}
		if event == "Brand new" {
			want = [2]string{"OtherInput", "OtherOutput"}
		}
		if got := [2]string{types[0].Name(), types[1].Name()}; got != want {
			t.Errorf("%s has %v", event, got)
		}
		in, out := reflect.New(types[0]).Interface(), reflect.New(types[1]).Interface()
		if _, ok := in.(interface{ Raw() message.JSON }); !ok {
			t.Errorf("%T has no Raw", in)
		}
		if _, ok := out.(hook.AnyOutput); !ok {
			t.Errorf("%T has no Output", out)
		}
	}
	events := []hook.Event{hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, hook.PostToolBatch, hook.Notification, hook.UserPromptSubmit,
		hook.UserPromptExpansion, hook.SessionStart, hook.SessionEnd, hook.Stop, hook.StopFailure, hook.SubagentStart, hook.SubagentStop, hook.PreCompact,
		hook.PostCompact, hook.PreModelSwitch, hook.PostModelSwitch, hook.PermissionRequest, hook.PermissionDenied, hook.Setup, hook.TeammateIdle,
		hook.TaskCreated, hook.TaskCompleted, hook.Elicitation, hook.ElicitationResult, hook.ConfigChange, hook.WorktreeCreate, hook.WorktreeRemove,
		hook.InstructionsLoaded, hook.CwdChanged, hook.FileChanged, hook.DirectoryAdded, hook.MessageDisplay}
	for i, event := range events {
		if f := reflect.TypeFor[hook.Hooks]().Field(i); f.Name != string(event) {
			t.Errorf("field %d is %s, not %s", i, f.Name, event)
		}
	}
	if n := reflect.TypeFor[hook.Hooks]().NumField() - 1; n != len(events) || n != 33 { // without Other; docs/comparison.md has the number
		t.Errorf("there are %d events, %d are in the list, want 33", n, len(events))
	}
}

// values returns the values to set a field of a type to: unset, empty in every way, and
// full.
func values(t *testing.T, typ reflect.Type) []any {
	switch reflect.Zero(typ).Interface().(type) {
	case bool:
		return []any{false, true}
	case []string:
		return []any{[]string(nil), []string{}, []string{"", "x"}}
	case []message.PermissionUpdate:
		return []any{[]message.PermissionUpdate(nil), []message.PermissionUpdate{}, []message.PermissionUpdate{{}},
			[]message.PermissionUpdate{{Type: message.UpdateAddRules, Behavior: message.BehaviorAllow, Destination: message.DestinationSession}}}
	case *string:
		return []any{(*string)(nil), new(""), new("x")}
	case *bool:
		return []any{(*bool)(nil), new(false), new(true)}
	case time.Duration:
		return []any{time.Duration(0), time.Microsecond, time.Second}
	case message.JSON:
		return []any{message.JSON(""), message.JSON("null"), message.JSON(`{"a":null,"hookEventName":"x","b":1}`)}
	case *hook.PermissionRequestDecision:
		return nil // set like an output
	}
	switch typ.Kind() {
	case reflect.String:
		return []any{"", "x"}
	case reflect.Interface:
		return []any{nil, message.JSON(""), message.JSON("null"), json.RawMessage(nil), map[string]any(nil), (*int)(nil), []string(nil),
			message.JSON(`{"a":1}`), map[string]any{"a": 1}, struct{ A int }{1}, &tool.BashInput{Command: "ls"}, "text", []string{}}
	}
	t.Fatalf("no values for a %v", typ)
	return nil
}

// fillOutput sets the fields of a struct to random values.
func fillOutput(t *testing.T, v reflect.Value, r *rand.Rand) {
	for f, field := range v.Fields() {
		switch {
		case f.Anonymous:
			fillOutput(t, field, r)
		case field.Type() == reflect.TypeFor[*hook.PermissionRequestDecision]():
			if r.IntN(4) > 0 {
				field.Set(reflect.New(field.Type().Elem()))
				fillOutput(t, field.Elem(), r)
			}
		default:
			of := values(t, field.Type())
			chosen := reflect.ValueOf(of[r.IntN(len(of))])
			if r.IntN(2) == 0 || !chosen.IsValid() {
				chosen = reflect.Zero(field.Type())
			}
			field.Set(chosen.Convert(field.Type()))
		}
	}
}

// The CLI discards an answer with a null, and runs the tool that the answer refused
// (raw-hook-null-fields, raw-hook-null-specific); it also discards an answer that does
// not name its event (raw-hook-no-event-name). Outputs never encode to such answers.
func TestOutputsHoldNoNull(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for event, types := range hookTypes(t) {
		written, specific := 0, 0
		for range 600 {
			out := reflect.New(types[1])
			fillOutput(t, out.Elem(), r)
			text, err := hook.Encode(event, out.Interface().(hook.AnyOutput))
			if err != nil {
				continue // then no part of it is written
			}
			written++
			var answer map[string]any
			if err := json.Unmarshal(text, &answer); err != nil {
				t.Fatalf("%s: %s: %v", event, text, err)
			}
			if where := nullIn(answer); where != "" {
				t.Fatalf("%s: null at %s: %s of %+v", event, where, text, out)
			}
			if hso, ok := answer["hookSpecificOutput"].(map[string]any); ok {
				specific++
				if hso["hookEventName"] != string(event) || len(hso) < 2 {
					t.Fatalf("%s: %s; want hso[\"hookEventName\"] == string(event) and len(hso) >= 2", event, text)
				}
			}
		}
		if written < 100 || types[1].NumField() > 1 && specific < 20 {
			t.Errorf("%s: only %d outputs were written, %d with a part of their own", event, written, specific)
		}
	}
}

// nullIn returns the path of a null, or "".
func nullIn(v any) string {
	switch v := v.(type) {
	case nil:
		return "."
	case map[string]any:
		for key, member := range v {
			if at := nullIn(member); at != "" {
				return "." + key + at
			}
		}
	case []any:
		for i, element := range v {
			if at := nullIn(element); at != "" {
				return fmt.Sprintf("[%d]%s", i, at)
			}
		}
	}
	return ""
}

func TestOutputsOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		event hook.Event
		out   hook.AnyOutput
		want  string
	}{
		{hook.PreToolUse, &hook.PreToolUseOutput{}, `{}`},
		{hook.PreToolUse, &hook.PreToolUseOutput{PermissionDecision: hook.DecisionDeny}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`},
		{hook.PreToolUse, &hook.PreToolUseOutput{UpdatedInput: &tool.BashInput{Command: "a && b"}}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"a && b"}}}`},
		{hook.Stop, &hook.StopOutput{Output: hook.Output{Decision: hook.DecisionBlock, Reason: "go on", Continue: new(false)}}, `{"continue":false,"decision":"block","reason":"go on"}`},
		{hook.Stop, &hook.StopOutput{Output: hook.Output{Async: true, AsyncTimeout: 1500 * time.Millisecond}}, `{"async":true,"asyncTimeout":1500}`},
		{hook.MessageDisplay, &hook.MessageDisplayOutput{DisplayContent: new("")}, `{"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":""}}`},
		{hook.FileChanged, &hook.FileChangedOutput{WatchPaths: []string{}}, `{"hookSpecificOutput":{"hookEventName":"FileChanged","watchPaths":[]}}`},
		{hook.Elicitation, &hook.ElicitationOutput{Action: message.ElicitationDecline}, `{"decision":"block","hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}`},
		{hook.ElicitationResult, &hook.ElicitationResultOutput{Action: message.ElicitationDecline}, `{"decision":"block","hookSpecificOutput":{"hookEventName":"ElicitationResult","action":"decline"}}`},
		{hook.Elicitation, &hook.ElicitationOutput{Action: message.ElicitationAccept, Content: message.JSON(`{"a":1}`)}, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"a":1}}}`},
		{hook.PermissionRequest, &hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{Behavior: hook.DecisionDeny}},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}`},
		{hook.PermissionRequest, &hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{Behavior: hook.DecisionAllow, UpdatedInput: message.JSON(`{"a":1}`), UpdatedPermissions: []message.PermissionUpdate{{Type: message.UpdateSetMode, Mode: message.ModePlan, Destination: message.DestinationSession}}}},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}`},
		{"New", &hook.OtherOutput{Output: hook.Output{SystemMessage: "m"}, Specific: `{"x":1,"y":null}`}, `{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"New","x":1}}`},
	} {
		if got, err := hook.Encode(tt.event, tt.out); err != nil || string(got) != tt.want {
			t.Errorf("%+v:\n got %s, %v\nwant %s", tt.out, got, err, tt.want)
		}
	}
}

// Outputs that the CLI would discard are errors.
func TestInvalidOutputs(t *testing.T) {
	for _, tt := range []struct {
		out  hook.AnyOutput
		want string
	}{
		{&hook.PreToolUseOutput{PermissionDecision: "Deny"}, "PermissionDecision"},
		{&hook.PreToolUseOutput{UpdatedInput: []string{"x"}}, "UpdatedInput"},
		{&hook.PreToolUseOutput{UpdatedInput: func() {}}, "UpdatedInput"},
		{&hook.PreToolUseOutput{UpdatedInput: message.JSON("{")}, "UpdatedInput"},
		{&hook.PreModelSwitchOutput{PermissionDecision: hook.DecisionDefer}, "PermissionDecision"},
		{&hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{}}, "Behavior"},
		{&hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{Behavior: hook.DecisionAsk}}, "Behavior"},
		{&hook.ElicitationOutput{Action: "yes"}, "Action"},
		{&hook.ElicitationResultOutput{Content: 1}, "Content"},
		{&hook.StopOutput{Output: hook.Output{Decision: "deny"}}, "Decision"},
		{&hook.StopOutput{Output: hook.Output{Async: true, Reason: "x"}}, "Async"},
		{&hook.PreToolUseOutput{Output: hook.Output{Async: true}, PermissionDecision: hook.DecisionDeny}, "Async"},
		{&hook.PostToolUseOutput{UpdatedToolOutput: func() {}}, "unsupported"},
		{&hook.OtherOutput{Specific: `[]`}, "not a JSON object"},
	} {
		err := hook.Check(tt.out)
		if err == nil {
			_, err = hook.Encode("E", tt.out)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v; want err != nil and strings.Contains(err.Error(), tt.want)", tt.out, err)
		}
	}
}

// The caller may change and reuse its hooks.
func TestHooksAreCopied(t *testing.T) {
	given := &hook.Hooks{PreToolUse: hook.On("Bash", noPreHook), Other: map[string][]hook.Matcher[hook.OtherInput, hook.OtherOutput]{"X": hook.On("y", noHook[hook.OtherInput, hook.OtherOutput])}}
	o := unchecked(&Options{Hooks: given})
	before, err := o.initialize()
	if err != nil {
		t.Fatal(err)
	}
	given.PreToolUse[0].Matcher, given.PreToolUse[0].Hooks[0] = "z", nil
	given.Other["X"][0].Hooks[0] = nil
	given.Other["Y"] = nil
	given.Stop = hook.On("", noHook[hook.StopInput, hook.StopOutput])
	after, err := o.initialize()
	if err != nil || string(before) != string(after) || o.Hooks.Check() != nil {
		t.Errorf("%s became %s, %v", before, after, err)
	}
}
