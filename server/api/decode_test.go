package api_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// filled gives every field of a struct a value, so that none is forgotten.
func filled(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch p := f.Addr().Interface().(type) {
		case *event.JSON:
			*p = `{"a":[1,"<&>"]}`
		case *api.Extra:
			*p = api.Extra{"future_member": json.RawMessage(`{"b":null}`)}
		case *api.Event:
			*p = &api.UnknownEvent{OriginalType: "e", Data: "1"}
		case *api.Delta:
			*p = &api.UnknownDelta{OriginalType: "d", Data: "[]"}
		case *api.ContentBlock:
			*p = &api.TextBlock{Text: "t", Extra: api.Extra{"citations": json.RawMessage(`[{"type":"x"}]`)}}
		case *[]api.ContentBlock:
			*p = []api.ContentBlock{&api.UnknownBlock{OriginalType: "b", Data: `"x"`}, &api.OtherBlock{BlockType: "image", Extra: api.Extra{"source": json.RawMessage("{}")}}}
		default:
			fillPlain(f)
		}
	}
}

func fillPlain(f reflect.Value) {
	switch f.Kind() {
	case reflect.String:
		f.SetString("a \"b\" \u2028 <é>")
	case reflect.Int64:
		f.SetInt(-7)
	case reflect.Float64:
		f.SetFloat(0.1)
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		fillPlain(f.Index(0))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		fillPlain(f.Elem())
	case reflect.Struct:
		filled(f)
	}
}

// api.TestRoundTrip encodes and decodes a value of every type of every union, empty and
// with all of its fields.
func TestRoundTrip(t *testing.T) {
	for _, u := range api.Unions() {
		for wire, typ := range u.Variants {
			for _, full := range []bool{false, true} {
				v := reflect.New(typ)
				if full {
					filled(v.Elem())
				}
				if f := v.Elem().FieldByName("BlockType"); f.IsValid() {
					f.SetString(wire)
					if wire == "tool_use" {
						f.SetString("")
					}
				}
				roundTrip(t, wire, v.Interface())
			}
		}
	}
}

// roundTrip sends a value there and back, inside of a message if it is none.
func roundTrip(t *testing.T, wire string, v any) {
	t.Helper()
	m, ok := v.(api.Message)
	if !ok {
		s := &api.StreamEvent{}
		switch v := v.(type) {
		case api.Event:
			s.Event = v
		case api.Delta:
			s.Event = &api.ContentBlockDeltaEvent{Delta: v}
		case api.ContentBlock:
			s.Event = &api.ContentBlockStartEvent{ContentBlock: v}
		}
		m = s
	}
	line, err := api.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	var head struct{ Type string }
	if err := json.Unmarshal(line, &head); err != nil || head.Type != m.Type() {
		t.Errorf("%s: %s, %v", wire, line, err)
	}
	back, err := api.Decode(line)
	if err != nil {
		t.Fatalf("%s: %s: %v", wire, line, err)
	}
	if diff := cmp.Diff(m, back); diff != "" {
		t.Errorf("%s: Decode(Encode(x)) is not x (-x +got):\n%s", wire, diff)
	}
}

func TestDecode_errors(t *testing.T) {
	for _, line := range []string{"", "null", "1", `"x"`, "[]", "{", `{"type":"user","message":5}`, `{"type":"result","num_turns":"x"}`,
		`{"type":"stream_event","event":7}`, `{"type":"assistant","message":{"content":[7]}}`} {
		if m, err := api.Decode([]byte(line)); err == nil {
			t.Errorf("Decode(%s) = %#v and no error", line, m)
		}
	}
}

func TestMethods(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range api.Methods {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		for _, typ := range []reflect.Type{m.Params, m.Result} {
			v := reflect.New(typ)
			line, err := json.Marshal(v.Interface())
			if err != nil {
				t.Errorf("%s: %v: %v", m.Name, typ, err)
			}
			if err := json.Unmarshal(line, v.Interface()); err != nil {
				t.Errorf("%s: %v: %v", m.Name, typ, err)
			}
		}
	}
	for _, name := range []string{"hello", "session.connect", "session.queryWithContent", "queue.sendNow", "permission.respond", "history.search", "server.drain"} {
		if !seen[name] {
			t.Errorf("there is no method %s", name)
		}
	}
}
