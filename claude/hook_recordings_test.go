package claude_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// recordedHook is one call of a hook in a recording.
type recordedHook struct {
	scenario string
	event    string
	input    json.RawMessage
	answer   json.RawMessage // nil: an error, or no answer
}

// recordedHooks returns the calls in the corpus.
func recordedHooks(t *testing.T) (calls []recordedHook) {
	for _, scenario := range scenarios(t) {
		answers := recordedAnswers(t, scenario)
		for _, line := range stdoutLines(t, scenario) {
			var l struct {
				RequestID string `json:"request_id"`
				Request   struct {
					Subtype string
					Input   json.RawMessage
				}
			}
			if json.Unmarshal([]byte(line), &l) != nil || l.Request.Subtype != "hook_callback" {
				continue
			}
			var in struct {
				Event string `json:"hook_event_name"`
			}
			if err := json.Unmarshal(l.Request.Input, &in); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, recordedHook{scenario, in.Event, l.Request.Input, answers[l.RequestID]})
		}
	}
	return calls
}

func recordedAnswers(t *testing.T, scenario string) map[string]json.RawMessage {
	answers := map[string]json.RawMessage{}
	files, err := filepath.Glob(filepath.Join(corpus(t), scenario, "stdin.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(corpus(t), scenario, "spawn*", "stdin.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, more...) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var l struct {
				Response struct {
					RequestID string `json:"request_id"`
					Response  json.RawMessage
				}
			}
			if json.Unmarshal([]byte(line), &l) == nil && l.Response.Response != nil {
				answers[l.Response.RequestID] = l.Response.Response
			}
		}
	}
	return answers
}

// mirror has a hook for every event that records its input and returns a preset answer, with
// OnFailure Continue like in the official SDKs.
type mirror struct {
	mu     sync.Mutex
	ids    map[string]string // event → callback id
	input  any
	output func(out reflect.Type) reflect.Value
}

func (m *mirror) hooks() *hook.Hooks {
	m.ids = map[string]string{}
	hooks := new(hook.Hooks)
	for field, list := range reflect.ValueOf(hooks).Elem().Fields() {
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		m.ids[field.Name] = fmt.Sprintf("hook_%d", len(m.ids))
		matcher := reflect.New(field.Type.Elem()).Elem()
		matcher.FieldByName("OnFailure").SetString(string(hook.Continue))
		all := matcher.FieldByName("Hooks")
		hook := all.Type().Elem()
		all.Set(reflect.Append(all, reflect.MakeFunc(hook, func(args []reflect.Value) []reflect.Value {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.input = args[1].Interface()
			return []reflect.Value{m.output(hook.Out(0)), reflect.Zero(hook.Out(1))}
		})))
		list.Set(reflect.Append(list, matcher))
	}
	return hooks
}

// typed converts a recorded answer to the output of an event. Null members remain unset.
func typed(t *testing.T, answer json.RawMessage, out reflect.Type) reflect.Value {
	v := reflect.New(out.Elem())
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		t.Fatal(err)
	}
	for name, text := range members {
		switch name {
		case "hookSpecificOutput":
			if err := json.Unmarshal(text, v.Interface()); err != nil {
				t.Fatal(err)
			}
		case "asyncTimeout":
			var ms int64
			if err := json.Unmarshal(text, &ms); err != nil {
				t.Fatal(err)
			}
			v.Elem().FieldByName("AsyncTimeout").SetInt(ms * int64(time.Millisecond))
		default:
			common := v.Elem().FieldByName("Output").FieldByName(strings.ToUpper(name[:1]) + name[1:])
			if !common.IsValid() {
				t.Fatalf("outputs have no %s", name)
			}
			if err := json.Unmarshal(text, common.Addr().Interface()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return v
}

// TestRecordedHooks calls the hooks of every recorded call: the input is decoded
// without loss, and the encoded answer equals the recorded one. The answers of raw recordings
// that the CLI discarded cannot be encoded.
func TestRecordedHooks(t *testing.T) {
	calls := recordedHooks(t)
	if len(calls) == 0 {
		t.Fatal("no calls of hooks in the corpus")
	}
	events := map[string]int{}
	var m mirror
	hooks := m.hooks()
	for i, call := range calls {
		events[call.event]++
		m.output = func(out reflect.Type) reflect.Value {
			if call.answer == nil || string(call.answer) == "{}" {
				return reflect.Zero(out)
			}
			return typed(t, call.answer, out)
		}
		withHooks(t, hooks, func(t *testing.T, cli *memCLI, _ *claude.Client) {
			id := fmt.Sprint("r", i)
			cli.say(hookLine(id, m.ids[call.event], string(call.input)))
			got := cli.given()[id]
			if got.err != "" {
				t.Fatalf("%s: %s; want got.err == \"\"", call.scenario, got.err)
			}
			checkLossless(t, call, m.input)
			switch equal := call.answer != nil && sameJSON(t, got.body, call.answer); {
			case call.answer == nil || equal:
			case strings.HasPrefix(call.scenario, "raw-hook-"):
				if strings.Contains(string(got.body), "null") || strings.Contains(string(got.body), "permissionDecision") && !strings.Contains(string(got.body), `"hookEventName":"PreToolUse"`) {
					t.Errorf("%s: %s; want not strings.Contains(string(got.body), \"null\") and not (strings.Contains(string(got.body), \"permissionDecision\") && !strings.Contains(string(got.body), `\"hookEventName\":\"PreToolUse\"`))", call.scenario, got.body)
				}
			default:
				t.Errorf("%s: %s, recorded was %s", call.scenario, got.body, call.answer)
			}
		})
	}
	t.Log(events)
}

// checkLossless compares the typed fields with the text: every member that has
// a field is in it.
func checkLossless(t *testing.T, call recordedHook, input any) {
	t.Helper()
	raw := input.(interface{ Raw() message.JSON }).Raw()
	if string(raw) != string(call.input) {
		t.Errorf("%s: Raw is %s", call.scenario, raw)
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var fields, members map[string]any
	if json.Unmarshal(text, &fields) != nil || json.Unmarshal(call.input, &members) != nil {
		t.Fatalf("call.scenario is %v; want json.Unmarshal(text, &fields) == nil and json.Unmarshal(call.input, &members) == nil", call.scenario)
	}
	for name, want := range members {
		got, ok := fields[name]
		if zero := reflect.ValueOf(want); !ok && (!zero.IsValid() || zero.IsZero() || zero.Kind() == reflect.Slice && zero.Len() == 0) {
			continue // omitted by omitempty
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s.%s is %v, not %v", call.scenario, call.event, name, got, want)
		}
	}
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("%s or %s is no JSON", a, b)
	}
	return reflect.DeepEqual(x, y)
}
