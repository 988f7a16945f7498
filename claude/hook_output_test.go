package claude

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// hookTypes are the types of each event's input and output.
func hookTypes(t *testing.T) map[HookEvent][2]reflect.Type {
	types := map[HookEvent][2]reflect.Type{}
	add := func(event HookEvent, list reflect.Type) {
		hooks, _ := list.Elem().FieldByName("Hooks")
		hook := hooks.Type.Elem()
		types[event] = [2]reflect.Type{hook.In(1).Elem(), hook.Out(0).Elem()}
	}
	for f := range reflect.TypeFor[Hooks]().Fields() {
		switch f.Type.Kind() {
		case reflect.Slice:
			add(HookEvent(f.Name), f.Type)
		case reflect.Map:
			add("Brand new", f.Type.Elem())
		}
	}
	if len(types) != 34 {
		t.Fatalf("%d events", len(types))
	}
	return types
}

// TestEveryEventIsTyped holds the names of fields, types and constants together.
func TestEveryEventIsTyped(t *testing.T) {
	for event, types := range hookTypes(t) {
		want := [2]string{string(event) + "Input", string(event) + "Output"}
		if event == "Brand new" {
			want = [2]string{"OtherHookInput", "OtherHookOutput"}
		}
		if got := [2]string{types[0].Name(), types[1].Name()}; got != want {
			t.Errorf("%s has %v", event, got)
		}
		in, out := reflect.New(types[0]).Interface(), reflect.New(types[1]).Interface()
		if _, ok := in.(interface{ Raw() JSON }); !ok {
			t.Errorf("%T has no Raw", in)
		}
		if _, ok := out.(hookOutput); !ok {
			t.Errorf("%T has no HookOutput", out)
		}
	}
	events := []HookEvent{HookPreToolUse, HookPostToolUse, HookPostToolUseFailure, HookPostToolBatch, HookNotification, HookUserPromptSubmit,
		HookUserPromptExpansion, HookSessionStart, HookSessionEnd, HookStop, HookStopFailure, HookSubagentStart, HookSubagentStop, HookPreCompact,
		HookPostCompact, HookPreModelSwitch, HookPostModelSwitch, HookPermissionRequest, HookPermissionDenied, HookSetup, HookTeammateIdle,
		HookTaskCreated, HookTaskCompleted, HookElicitation, HookElicitationResult, HookConfigChange, HookWorktreeCreate, HookWorktreeRemove,
		HookInstructionsLoaded, HookCwdChanged, HookFileChanged, HookDirectoryAdded, HookMessageDisplay}
	for i, event := range events {
		if f := reflect.TypeFor[Hooks]().Field(i); f.Name != string(event) {
			t.Errorf("field %d is %s, not %s", i, f.Name, event)
		}
	}
}

// values are what a field of a type may be set to: unset, empty in every way,
// and full.
func values(t *testing.T, typ reflect.Type) []any {
	switch reflect.Zero(typ).Interface().(type) {
	case bool:
		return []any{false, true}
	case []string:
		return []any{[]string(nil), []string{}, []string{"", "x"}}
	case []PermissionUpdate:
		return []any{[]PermissionUpdate(nil), []PermissionUpdate{}, []PermissionUpdate{{}},
			[]PermissionUpdate{{Type: UpdateAddRules, Behavior: BehaviorAllow, Destination: DestinationSession}}}
	case *string:
		return []any{(*string)(nil), new(""), new("x")}
	case *bool:
		return []any{(*bool)(nil), new(false), new(true)}
	case time.Duration:
		return []any{time.Duration(0), time.Microsecond, time.Second}
	case JSON:
		return []any{JSON(""), JSON("null"), JSON(`{"a":null,"hookEventName":"x","b":1}`)}
	case *PermissionRequestDecision:
		return nil // filled like an output
	}
	switch typ.Kind() {
	case reflect.String:
		return []any{"", "x"}
	case reflect.Interface:
		return []any{nil, JSON(""), JSON("null"), json.RawMessage(nil), map[string]any(nil), (*int)(nil), []string(nil),
			JSON(`{"a":1}`), map[string]any{"a": 1}, struct{ A int }{1}, &BashInput{Command: "ls"}, "text", []string{}}
	}
	t.Fatalf("no values for a %v", typ)
	return nil
}

// fillOutput sets the fields of a struct to any of their values.
func fillOutput(t *testing.T, v reflect.Value, r *rand.Rand) {
	for f, field := range v.Fields() {
		switch {
		case f.Anonymous:
			fillOutput(t, field, r)
		case field.Type() == reflect.TypeFor[*PermissionRequestDecision]():
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

// The CLI throws an answer with a null away, and runs the tool that it refused
// (raw-hook-null-fields, raw-hook-null-specific); so it does with one that does not
// name its event (raw-hook-no-event-name). No output can be written as such.
func TestOutputsHoldNoNull(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for event, types := range hookTypes(t) {
		written, specific := 0, 0
		for range 600 {
			out := reflect.New(types[1])
			fillOutput(t, out.Elem(), r)
			text, err := encodeHookOutput(event, out.Interface().(hookOutput))
			if err != nil {
				continue // then nothing of it is written
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
					t.Fatalf("%s: %s", event, text)
				}
			}
		}
		if written < 100 || types[1].NumField() > 1 && specific < 20 {
			t.Errorf("%s: only %d outputs were written, %d with a part of their own", event, written, specific)
		}
	}
}

// nullIn is where there is a null, "" if there is none.
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
		event HookEvent
		out   hookOutput
		want  string
	}{
		{HookPreToolUse, &PreToolUseOutput{}, `{}`},
		{HookPreToolUse, &PreToolUseOutput{PermissionDecision: DecisionDeny}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`},
		{HookPreToolUse, &PreToolUseOutput{UpdatedInput: &BashInput{Command: "a && b"}}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"a && b"}}}`},
		{HookStop, &StopOutput{HookOutput: HookOutput{Decision: DecisionBlock, Reason: "go on", Continue: new(false)}}, `{"continue":false,"decision":"block","reason":"go on"}`},
		{HookStop, &StopOutput{HookOutput: HookOutput{Async: true, AsyncTimeout: 1500 * time.Millisecond}}, `{"async":true,"asyncTimeout":1500}`},
		{HookMessageDisplay, &MessageDisplayOutput{DisplayContent: new("")}, `{"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":""}}`},
		{HookFileChanged, &FileChangedOutput{WatchPaths: []string{}}, `{"hookSpecificOutput":{"hookEventName":"FileChanged","watchPaths":[]}}`},
		{HookElicitation, &ElicitationOutput{Action: ElicitationDecline}, `{"decision":"block","hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}`},
		{HookElicitationResult, &ElicitationResultOutput{Action: ElicitationDecline}, `{"decision":"block","hookSpecificOutput":{"hookEventName":"ElicitationResult","action":"decline"}}`},
		{HookElicitation, &ElicitationOutput{Action: ElicitationAccept, Content: JSON(`{"a":1}`)}, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"a":1}}}`},
		{HookPermissionRequest, &PermissionRequestOutput{Decision: &PermissionRequestDecision{Behavior: DecisionDeny}},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}`},
		{HookPermissionRequest, &PermissionRequestOutput{Decision: &PermissionRequestDecision{Behavior: DecisionAllow, UpdatedInput: JSON(`{"a":1}`), UpdatedPermissions: []PermissionUpdate{{Type: UpdateSetMode, Mode: ModePlan, Destination: DestinationSession}}}},
			`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}`},
		{"New", &OtherHookOutput{HookOutput: HookOutput{SystemMessage: "m"}, Specific: `{"x":1,"y":null}`}, `{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"New","x":1}}`},
	} {
		if got, err := encodeHookOutput(tt.event, tt.out); err != nil || string(got) != tt.want {
			t.Errorf("%+v:\n got %s, %v\nwant %s", tt.out, got, err, tt.want)
		}
	}
}

// Outputs that the CLI would throw away are not written.
func TestOutputsThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		out  hookOutput
		want string
	}{
		{&PreToolUseOutput{PermissionDecision: "Deny"}, "PermissionDecision"},
		{&PreToolUseOutput{UpdatedInput: []string{"x"}}, "UpdatedInput"},
		{&PreToolUseOutput{UpdatedInput: func() {}}, "UpdatedInput"},
		{&PreToolUseOutput{UpdatedInput: JSON("{")}, "UpdatedInput"},
		{&PreModelSwitchOutput{PermissionDecision: DecisionDefer}, "PermissionDecision"},
		{&PermissionRequestOutput{Decision: &PermissionRequestDecision{}}, "Behavior"},
		{&PermissionRequestOutput{Decision: &PermissionRequestDecision{Behavior: DecisionAsk}}, "Behavior"},
		{&ElicitationOutput{Action: "yes"}, "Action"},
		{&ElicitationResultOutput{Content: 1}, "Content"},
		{&StopOutput{HookOutput: HookOutput{Decision: "deny"}}, "Decision"},
		{&StopOutput{HookOutput: HookOutput{Async: true, Reason: "x"}}, "Async"},
		{&PreToolUseOutput{HookOutput: HookOutput{Async: true}, PermissionDecision: DecisionDeny}, "Async"},
		{&PostToolUseOutput{UpdatedToolOutput: func() {}}, "unsupported"},
		{&OtherHookOutput{Specific: `[]`}, "no JSON object"},
	} {
		err := checkHookOutput(tt.out)
		if err == nil {
			_, err = encodeHookOutput("E", tt.out)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.out, err)
		}
	}
}

// The caller may change what it gave, and use it again.
func TestHooksAreCopied(t *testing.T) {
	given := &Hooks{PreToolUse: On("Bash", noPreHook), Other: map[string][]HookMatcher[OtherHookInput, OtherHookOutput]{"X": On("y", noHook[OtherHookInput, OtherHookOutput])}}
	o := (&Options{Hooks: given}).clone()
	before, err := o.initialize()
	if err != nil {
		t.Fatal(err)
	}
	given.PreToolUse[0].Matcher, given.PreToolUse[0].Hooks[0] = "z", nil
	given.Other["X"][0].Hooks[0] = nil
	given.Other["Y"] = nil
	given.Stop = On("", noHook[StopInput, StopOutput])
	after, err := o.initialize()
	if err != nil || string(before) != string(after) || o.Hooks.check() != nil {
		t.Errorf("%s became %s, %v", before, after, err)
	}
}
