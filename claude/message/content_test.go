package message_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// encoding/json and Decode read the same Content, and encoding writes the original bytes.
func TestContent_JSON(t *testing.T) {
	for text, want := range map[string]string{
		`"hi"`: "hi",
		`[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]`: "ab",
		`null`: "",
	} {
		var c message.Content
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.String() != want {
			t.Errorf("%s: %q, %v; want err == nil and c.String() == want", text, c.String(), err)
		}
		if again, err := json.Marshal(c); text != "null" && (err != nil || string(again) != text) {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
	var c message.Content
	if err := json.Unmarshal([]byte(`{"type":"text"}`), &c); err == nil {
		t.Error("an object is taken for content")
	}
}

// A raw prompt that is not an object is an error, and an id with special characters is escaped.
func TestUserInput_Raw(t *testing.T) {
	if line, err := (message.UserInput{Raw: json.RawMessage("null"), UUID: "u"}).Line(); err == nil {
		t.Errorf("null became %s", line)
	}
	line, err := (message.UserInput{Raw: json.RawMessage(`{"type":"user"}`), UUID: `a"b`}).Line()
	var got struct{ Type, UUID string }
	if err != nil || json.Unmarshal(line, &got) != nil || got.Type != "user" || got.UUID != `a"b` {
		t.Errorf("%s, %v; want err == nil and json.Unmarshal(line, &got) == nil and got.Type == \"user\" and got.UUID == `a\"b`", line, err)
	}
}

// A streamed summary has all members of a whole one.
func TestAccumulator_compaction(t *testing.T) {
	var acc message.Accumulator
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":"a","encrypted_content":"x","tool_changes":[1]}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"b","encrypted_content":"y"}}`,
		`{"type":"content_block_stop","index":0}`,
	} {
		m, err := message.Decode([]byte(`{"type":"stream_event","session_id":"s","uuid":"u","event":` + event + `}`))
		if err != nil {
			t.Fatal(err)
		}
		acc.Add(m)
	}
	block, done := acc.Block("", 0)
	c, ok := block.(*message.Compaction)
	if !ok || !done || c.Content != "ab" || c.EncryptedContent != "xy" || c.ToolChanges != "[1]" {
		t.Errorf("%#v, done %t", block, done)
	}
}

// The input of a streamed tool call is set only when it is complete, because a prefix could be valid
// JSON with another meaning.
func TestAccumulator_input(t *testing.T) {
	for _, kind := range []string{"tool_use", "server_tool_use", "mcp_tool_use"} {
		for text, want := range map[string]message.JSON{`{"a":1}`: `{"a":1}`, `1`: `1`, `{"a":`: `{"__unparsedToolInput":{"len":5,"raw":"{\"a\":"}}`} {
			var acc message.Accumulator
			add := func(event string) {
				t.Helper()
				m, err := message.Decode([]byte(`{"type":"stream_event","session_id":"s","uuid":"u","event":` + event + `}`))
				if err != nil {
					t.Fatal(err)
				}
				acc.Add(m)
			}
			check := func(when string, want message.JSON, whole bool) {
				t.Helper()
				block, done := acc.Block("", 0)
				var got message.JSON
				switch b := block.(type) {
				case *message.ToolUse:
					got = b.Input
				case *message.ServerToolUse:
					got = b.Input
				case *message.MCPToolUse:
					got = b.Input
				}
				if got != want || done != whole {
					t.Errorf("%s, %s: the input is %q, whole %v, want %q, %v", kind, when, got, done, want, whole)
				}
			}
			add(`{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}`)
			add(`{"type":"content_block_start","index":0,"content_block":{"type":"` + kind + `","id":"t","name":"n","input":{}}}`)
			check("begun", "{}", false)
			for i := range text {
				part, err := json.Marshal(text[i : i+1])
				if err != nil {
					t.Fatal(err)
				}
				add(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + string(part) + `}}`)
				check("streamed", "", false)
			}
			add(`{"type":"content_block_stop","index":0}`)
			check("ended", want, true)
		}
	}
}
