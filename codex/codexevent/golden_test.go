package codexevent_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

var update = flag.Bool("update", false, "write the golden files")

// messagesOf converts events to messages as clients receive them.
func messagesOf(t *testing.T, events []event.Event) string {
	t.Helper()
	enc := event.NewEncoder("0a1b2c3d", 0, event.CapabilityOutputDelta)
	var out strings.Builder
	for _, ev := range events {
		messages, err := enc.Messages(ev)
		if err != nil {
			t.Fatalf("%T: %v", ev, err)
		}
		for _, m := range messages {
			out.WriteString(golden.Line(t, strings.TrimPrefix(fmt.Sprintf("%T", ev), "*event."), m))
		}
	}
	return out.String()
}

// TestGolden_recordings compares all messages of the recorded threads.
func TestGolden_recordings(t *testing.T) {
	t.Parallel()
	parts, seen := golden.Parts{}, golden.Forms{}
	for _, r := range codexrec.All(t) {
		lines := r.Lines(t)
		for _, id := range roots(t, lines) {
			if text := messagesOf(t, convert(t, lines, id).events); seen.Fresh(text) {
				parts[r.Title()+" "+id] = text
			}
		}
	}
	parts.Check(t, "testdata/recordings.txt", *update)
}

// filled returns JSON with a distinct value in every member of a type.
func filled(t reflect.Type, name string) any {
	switch {
	case t == reflect.TypeFor[item.JSON]():
		return map[string]any{name: 1}
	case t.Kind() == reflect.Interface:
		return map[string]any{"type": "agentMessage", "id": "nested", "text": name}
	}
	switch t.Kind() {
	case reflect.String:
		return name
	case reflect.Int64, reflect.Int:
		return len(name) + int(name[0])<<8
	case reflect.Float64:
		return 0.25 * float64(len(name))
	case reflect.Bool:
		return true
	case reflect.Slice:
		return []any{filled(t.Elem(), name)}
	case reflect.Pointer:
		return filled(t.Elem(), name)
	case reflect.Map:
		return map[string]any{name: filled(t.Elem(), name)}
	case reflect.Struct:
		o := map[string]any{}
		for i := range t.NumField() {
			f := t.Field(i)
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous:
				if more, ok := filled(f.Type, name).(map[string]any); ok {
					for k, v := range more {
						o[k] = v
					}
				}
			case f.IsExported() && member != "" && member != "-":
				o[member] = filled(f.Type, member)
			}
		}
		return o
	}
	return nil
}

// line returns a decoded message of the server.
func line(t *testing.T, v any) item.Line {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := item.DecodeServer(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l
}

// made returns params of a type for a thread, a turn and an item that the converter knows.
func made(t reflect.Type) map[string]any {
	params, _ := filled(t.Elem(), "x").(map[string]any)
	for member, id := range map[string]string{"threadId": "t", "turnId": "u", "itemId": "i", "conversationId": "t"} {
		if _, ok := params[member]; ok {
			params[member] = id
		}
	}
	return params
}

// TestGolden_methods compares the messages of every notification and request with a distinct value in every member, in a turn with a
// command.
func TestGolden_methods(t *testing.T) {
	t.Parallel()
	parts := golden.Parts{}
	for _, method := range append(item.Methods(), item.RequestMethods()...) {
		message := map[string]any{"method": method, "params": map[string]any{}}
		if slices.Contains(item.RequestMethods(), method) {
			message["id"] = 7
		}
		empty := line(t, message)
		message["params"] = made(reflect.TypeOf(empty))
		for member, v := range map[string]map[string]any{"turn": {"id": "u", "status": "completed"}, "thread": {"id": "t"}} {
			if p, ok := message["params"].(map[string]any)[member].(map[string]any); ok {
				for k, one := range v {
					p[k] = one
				}
			}
		}
		parts[method] = inTurn(t, message)
	}
	parts.Check(t, "testdata/methods.txt", *update)
}

// inTurn returns the messages of a line, sent twice, in a turn with a running command, and the messages of the end.
func inTurn(t *testing.T, messages ...any) string {
	t.Helper()
	c := &codexevent.Converter{ThreadID: "t"}
	feed(t, c, `{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress"}}}`,
		`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"i","command":"ls","cwd":"/d","status":"inProgress"}}}`)
	var events []event.Event
	for _, m := range messages {
		for range 2 {
			l := line(t, m)
			events = append(events, c.Server(l)...)
		}
	}
	return messagesOf(t, append(events, c.End(errors.New("gone"))...))
}

// TestGolden_items compares the messages of every kind of item with a distinct value in every member and in every state: started,
// completed, and read from history.
func TestGolden_items(t *testing.T) {
	t.Parallel()
	parts := golden.Parts{}
	for _, kind := range item.Kinds() {
		for _, status := range []string{"inProgress", "completed", "failed", "declined"} {
			started := map[string]any{"method": "item/started", "params": map[string]any{"threadId": "t", "turnId": "u", "item": map[string]any{"type": kind, "id": "k"}}}
			l := line(t, started)
			n, ok := l.(*item.ItemStarted)
			if !ok {
				t.Fatalf("item/started is a %T", l)
			}
			one, _ := filled(reflect.TypeOf(n.Item).Elem(), "x").(map[string]any)
			one["type"], one["id"] = kind, "k"
			if _, ok := one["status"]; ok {
				one["status"] = status
			} else if status != "completed" {
				continue
			}
			started["params"].(map[string]any)["item"] = one
			completed := map[string]any{"method": "item/completed", "params": started["params"]}
			parts[kind+" "+status] = inTurn(t, started, completed) + "history\n" + history(t, one)
		}
	}
	parts.Check(t, "testdata/items.txt", *update)
}

// history returns the messages of a turn that was read from history.
func history(t *testing.T, one map[string]any) string {
	t.Helper()
	l := line(t, map[string]any{"method": "turn/completed", "params": map[string]any{"threadId": "t", "turn": map[string]any{"id": "u", "status": "completed", "items": []any{one}}}})
	n, ok := l.(*item.TurnCompleted)
	if !ok {
		t.Fatalf("turn/completed is a %T", l)
	}
	c := &codexevent.Converter{ThreadID: "t"}
	return messagesOf(t, c.Turns("t", []item.Turn{n.Turn}))
}
