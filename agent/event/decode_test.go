package event_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/seed7221b0f9/parley/agent/event"
)

// fill sets every field of a struct to a distinct value, so that no field can be forgotten or
// confused.
func fill(v reflect.Value, name string) {
	switch {
	case v.Type() == reflect.TypeFor[event.JSON]():
		v.SetString(`{"` + name + `":[1,"<&>"]}`)
		return
	case v.Type() == reflect.TypeFor[event.Extra]():
		v.Set(reflect.ValueOf(event.Extra{"future_" + strings.ToLower(name): json.RawMessage(`{"b":null}`)}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name + " \"b\" \u2028 <é>")
	case reflect.Int64:
		v.SetInt(-int64(len(name)) - int64(name[0])<<8 - int64(name[len(name)-1]))
	case reflect.Float64:
		v.SetFloat(0.1 * float64(len(name)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
	}
}

// TestRoundTrip encodes and decodes every event that is one message with its members: empty, with
// all of its fields, and with each of them alone.
func TestRoundTrip(t *testing.T) {
	for _, s := range event.Shapes() {
		if s.Union != reflect.TypeFor[event.Event]() || !reflect.PointerTo(s.Type).Implements(s.Union) {
			continue // user, assistant, stream_event: see TestRoundTrip_exceptions
		}
		t.Run(s.Name, func(t *testing.T) {
			full := reflect.New(s.Type)
			fill(full.Elem(), s.Name)
			roundTrip(t, reflect.New(s.Type).Interface().(event.Event), s)
			roundTrip(t, full.Interface().(event.Event), s)
			for i := range s.Type.NumField() {
				one := reflect.New(s.Type)
				one.Elem().Field(i).Set(full.Elem().Field(i))
				roundTrip(t, one.Interface().(event.Event), s)
			}
		})
	}
}

func roundTrip(t *testing.T, ev event.Event, s event.Shape) {
	t.Helper()
	// Fields without a member in the message are empty after decoding.
	sent := reflect.New(s.Type)
	sent.Elem().Set(reflect.ValueOf(ev).Elem())
	head := sent.Interface().(event.Event).Head()
	members := map[string]bool{}
	for i := range s.Form.NumField() {
		members[s.Form.Field(i).Name] = true
	}
	head.MessageID = ""
	for name, field := range map[string]*string{"ParentToolUseID": &head.ParentToolUseID, "SessionID": &head.SessionID, "UUID": &head.UUID} {
		if !members[name] {
			*field = ""
		}
	}
	line, err := event.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	back, err := new(event.Decoder).Decode(line)
	if err != nil || len(back) != 1 {
		t.Fatalf("%s decodes to %d events, %v", line, len(back), err)
	}
	var direct, wired event.Conversation
	direct.Apply(ev)
	wired.Apply(back[0])
	if diff := cmp.Diff(string(event.Encoded(&wired)), string(event.Encoded(&direct))); diff != "" {
		t.Errorf("the fold has what is not on the wire (-from the wire +direct):\n%s", diff)
	}
	hidden := cmpopts.IgnoreFields(event.Header{}, "Extra")
	options := cmp.Options{hidden, cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && len(p) == 3 && !members[f.Name()] && f.Name() != "Header"
	}, cmp.Ignore()), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(sent.Interface(), any(back[0]), options); diff != "" {
		t.Errorf("Decode(Encode(x)) is not x (-x +got):\n%s\n%s", diff, line)
	}
	again, err := event.Marshal(back[0])
	if err != nil || string(again) != string(line) {
		t.Errorf("encoded again:\n%s, %v\nwant\n%s", again, err, line)
	}
}

func TestDecode_errors(t *testing.T) {
	for _, line := range []string{"", "null", "1", `"x"`, "[]", "{", `{"type":"user","message":5}`, `{"type":"result","num_turns":"x"}`,
		`{"type":"stream_event","event":7}`, `{"type":"assistant","message":{"content":[7]}}`} {
		if m, err := new(event.Decoder).Decode([]byte(line)); err == nil {
			t.Errorf("Decode(%s) = %#v and no error", line, m)
		}
	}
}

// deltaLines have the form of the fast path.
var deltaLines = []string{
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a \"b\" é \u00e9 \ud83d"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}},"parent_tool_use_id":"p","api_message_id":"m","provider":"sim"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":-1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}},"api_message_id":"m","provider":""}`,
}

// otherLines begin like a delta but must not be read by the fast path.
var otherLines = []string{
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a","new":1}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}},"provider":"claude","new":1}`,
	`{"type":"stream_event","uuid":null,"session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3e0,"delta":{"type":"text_delta","text":"a"}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":7}},"provider":"claude"}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a"}},"provider":"claude"}}`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a`,
	`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":3,"delta":{"type":"signature_delta","signature":"a"}},"provider":"claude"}`,
}

// TestDecode_deltas checks that the fast path decodes only its own form, with the result of the
// tables.
func TestDecode_deltas(t *testing.T) {
	for _, line := range deltaLines {
		ev, ok := new(event.Decoder).DecodeDelta([]byte(line))
		want, err := new(event.Decoder).Decode([]byte(" " + line))
		if err != nil || len(want) != 1 {
			t.Fatalf("want is %v, err is %v; want err == nil and len(want) == 1", want, err)
		}
		if diff := cmp.Diff(want[0], ev); !ok || diff != "" {
			t.Errorf("%s: %v (-tables +quick):\n%s", line, ok, diff)
		}
	}
	for _, line := range otherLines {
		if ev, ok := new(event.Decoder).DecodeDelta([]byte(line)); ok {
			t.Errorf("%s was taken for %+v", line, ev)
		}
	}
}

func BenchmarkDecode_delta(b *testing.B) {
	data := []byte(deltaLines[0])
	var d event.Decoder
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRoundTrip_emptyLists checks that an empty list is not an absent one.
func TestRoundTrip_emptyLists(t *testing.T) {
	for _, tt := range []struct {
		ev   event.Event
		want string
	}{
		{&event.SystemInit{}, `{"type":"system_init","cwd":"","model":"","permissionMode":"","apiKeySource":"","provider":""}`},
		{&event.SystemInit{Tools: []string{}, MCPServers: []event.MCPServer{}, Skills: []string{}},
			`{"type":"system_init","cwd":"","model":"","permissionMode":"","apiKeySource":"","tools":[],"mcp_servers":[],"skills":[],"provider":""}`},
		{&event.ResultMessage{Errors: []string{}}, `{"type":"result","subtype":"","duration_ms":0,"duration_api_ms":0,"is_error":false,"num_turns":0,"errors":[],"provider":""}`},
		{&event.SessionInfo{MCPServers: []event.MCPServer{}}, `{"type":"session_info","mcp_servers":[],"provider":""}`},
		{&event.QueueChanged{}, `{"type":"queue_changed","items":[],"provider":""}`},
		{&event.QueueUpdated{}, `{"type":"queue_updated","provider":""}`},
	} {
		line, err := event.Marshal(tt.ev)
		if err != nil || string(line) != tt.want {
			t.Errorf("encoded %s, %v\nwant %s", line, err, tt.want)
		}
		back, err := new(event.Decoder).Decode(line)
		if err != nil || len(back) != 1 {
			t.Fatalf("back is %v, err is %v; want err == nil and len(back) == 1", back, err)
		}
		if diff := cmp.Diff(tt.ev, back[0], cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Data" }, cmp.Ignore())); diff != "" {
			t.Errorf("Decode(Encode(x)) is not x (-x +got):\n%s", diff)
		}
	}
}

// TestRoundTrip_fields checks that every field of an event is a member of its message, except for the
// provider's message and for fields that are derived from another member when the message is read.
func TestRoundTrip_fields(t *testing.T) {
	var without []string
	for _, s := range event.Shapes() {
		if s.Union != reflect.TypeFor[event.Event]() || !reflect.PointerTo(s.Type).Implements(s.Union) {
			continue
		}
		for i := range s.Type.NumField() {
			name := s.Type.Field(i).Name
			if _, ok := s.Form.FieldByName(name); !ok && name != "Header" && name != "Data" {
				without = append(without, s.Type.Name()+"."+name)
			}
		}
	}
	want := []string{"CompactBoundary.PreTokens", "CompactBoundary.Trigger"}
	slices.Sort(without)
	if diff := cmp.Diff(want, without); diff != "" {
		t.Errorf("fields that no message has (-want +got):\n%s", diff)
	}
}
