package acp_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/tape"
)

// again decodes a text into v and encodes it, and checks that the JSON is the same.
func again(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Errorf("%.200s: %v", text, err)
		return
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
		return
	}
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(out, &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%.400s became %.400s", text, out)
	}
}

// TestUnknownMembersAreKept sends values with members and variants that are not known through the
// types.
func TestUnknownMembersAreKept(t *testing.T) {
	for _, text := range []string{
		`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"<&>","new":[1]},"messageId":"m","later":{"a":null}},"_meta":{"k":1},"x":true}`,
		`{"sessionId":"s","update":{"sessionUpdate":"hologram","depth":3,"content":{"type":"text"}}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"smell","strength":2}}}`,
		`{"sessionId":"s","update":{"sessionUpdate":7,"x":1}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","title":null,"status":"dreaming","locations":[{"path":"/a","line":null,"column":3}]}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","content":"not a list"}}`,
	} {
		again(t, text, new(acp.SessionNotification))
	}
	again(t, `{"cwd":"/","mcpServers":[{"name":"a","command":"/b","args":[],"env":[],"x":1},{"type":"http","name":"h","url":"u","headers":[]},{"type":"quic","q":1}]}`, new(acp.NewSessionRequest))
}

// TestRecordedLines decodes and encodes every recorded line of both sides.
func TestRecordedLines(t *testing.T) {
	params := map[string]func() any{
		"session/update":             func() any { return new(acp.SessionNotification) },
		"session/request_permission": func() any { return new(acp.RequestPermissionRequest) },
		"elicitation/create":         func() any { return new(acp.CreateElicitationRequest) },
		"initialize":                 func() any { return new(acp.InitializeRequest) },
		"session/new":                func() any { return new(acp.NewSessionRequest) },
		"session/load":               func() any { return new(acp.LoadSessionRequest) },
		"session/prompt":             func() any { return new(acp.PromptRequest) },
	}
	n := 0
	scenarios, err := filepath.Glob(filepath.Join("..", "testdata", "acp", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range scenarios {
		var script struct{ Protocol int }
		if err := tape.ReadJSON(filepath.Join(dir, "script.json"), &script, nil); err != nil {
			t.Fatal(err)
		}
		if script.Protocol != 1 || filepath.Base(dir) == "invalid_requests" {
			continue
		}
		lines, err := tape.ReadLines(filepath.Join(dir, "timeline.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			var l struct {
				Msg struct {
					Method string
					Params json.RawMessage
				}
			}
			if json.Unmarshal([]byte(line), &l) != nil || params[l.Msg.Method] == nil || l.Msg.Params == nil {
				continue
			}
			n++
			again(t, string(l.Msg.Params), params[l.Msg.Method]())
		}
	}
	if n < 100 {
		t.Errorf("%d lines were looked at", n)
	}
}

func TestOptional(t *testing.T) {
	var u acp.ToolCallUpdate
	if err := json.Unmarshal([]byte(`{"toolCallId":"t","title":null,"name":"Read"}`), &u); err != nil {
		t.Fatal(err)
	}
	if !u.Title.IsNull() || u.Title.IsSet() || !u.Kind.IsZero() || u.Name.Or("") != "Read" {
		t.Errorf("got %+v", u)
	}
	if u.Title = acp.Some("x"); !u.Title.IsSet() || u.Title.IsNull() {
		t.Errorf("got %+v", u.Title)
	}
}

func TestMissingMember(t *testing.T) {
	var p acp.PromptRequest
	err := json.Unmarshal([]byte(`{"sessionId":"s","prompt":[{"type":"text"}]}`), &p)
	if m, ok := errors.AsType[*acp.MemberError](err); !ok || m.Path != "prompt.text" {
		t.Errorf("got %v", err)
	}
}
