package claudetest_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// everything is a script with every member of the format.
const everything = `{"replies":[
	{"blocks":[
		{"text":"hi","chunk":1},{"text":"hi","chunks":["h","i"]},{"text_repeat":{"s":"ab","n":3}},
		{"thinking":"hm","signature":"c2ln"},
		{"tool_use":{"name":"Bash","input":{"command":"ls"},"id":"toolu_x","raw_input":"{"},"chunk":2},
		{"raw":{"type":"future_block"}}],
	 "stop_reason":"max_tokens","usage":{"input_tokens":7},"model":"m","id":"msg_x","repeat":2,
	 "delay_ms":1,"event_delay_ms":2,"hold":"mid","hold_after":0,"hold_ms":3,
	 "error":{"status":429,"body":"slow","headers":{"retry-after":"1"}},"reset":true,"drop_after":0,"end_after":1,
	 "malformed_after":2,"sse_error_after":3,"sse_error":{"type":"error"},"headers":{"x":"y"},
	 "match":{"model":"m","system_includes":"s","last_includes":"l","any_includes":"a","side":true}}],
	"all_main":true,"no_tools_main":true,"side_text":"side"}`

func TestParseScriptEverything(t *testing.T) {
	got, err := claudetest.ParseScript([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	reply := claudetest.Reply{
		Blocks: []claudetest.Block{
			claudetest.Text("hi").Chunked(1),
			{Text: new("hi"), Chunks: []string{"h", "i"}},
			{TextRepeat: &claudetest.TextRepeat{S: "ab", N: 3}},
			{Thinking: new("hm"), Signature: "c2ln"},
			{ToolUse: &claudetest.ToolCall{
				Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), ID: "toolu_x", RawInput: new("{"),
			}, Chunk: 2},
			claudetest.Raw(map[string]string{"type": "future_block"}),
		},
		StopReason: "max_tokens", Usage: map[string]any{"input_tokens": 7.0}, Model: "m", ID: "msg_x", Repeat: 2,
		DelayMS: 1, EventDelayMS: 2, Hold: claudetest.HoldMid, HoldAfter: new(0), HoldMS: 3,
		Error: &claudetest.APIError{
			Status: 429, Body: json.RawMessage(`"slow"`), Headers: map[string]string{"retry-after": "1"},
		},
		Reset: true, DropAfter: new(0), EndAfter: new(1), MalformedAfter: new(2), SSEErrorAfter: new(3),
		SSEError: json.RawMessage(`{"type":"error"}`), Headers: map[string]string{"x": "y"},
		Match: &claudetest.Match{Model: "m", SystemIncludes: "s", LastIncludes: "l", AnyIncludes: "a", Side: true},
	}
	want := claudetest.Script{Replies: []claudetest.Reply{reply}, AllMain: true, NoToolsMain: true, SideText: "side"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	again, err := claudetest.ParseScript(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("script after writing and reading (-want +got):\n%s", diff)
	}
}

func TestParseScriptErrors(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"unknown member", `{"replies":[{"blocks":[{"txt":"a"}]}]}`, `"txt"`},
		{"unknown top member", `{"replys":[]}`, `"replys"`},
		{"wrong type", `{"replies":[{"repeat":"3"}]}`, "repeat"},
		{"not JSON", `{"replies":`, "unexpected EOF"},
		{"two values", `{"replies":[]} {}`, "data after"},
		{"empty block", `{"replies":[{},{"blocks":[{}]}]}`, "reply 1: block 0: none of"},
		{"two kinds", `{"replies":[{"blocks":[{"text":"a","thinking":"b"}]}]}`, "more than one of"},
		{"hold", `{"replies":[{"hold":"after"}]}`, `"after"`},
		{"negative count", `{"replies":[{"drop_after":-1}]}`, "drop_after is -1"},
		{"negative chunk", `{"replies":[{"blocks":[{"text":"a","chunk":-1}]}]}`, "chunk is -1"},
		{"negative repeat of text", `{"replies":[{"blocks":[{"text_repeat":{"s":"a","n":-1}}]}]}`, "n is -1"},
		{"status", `{"replies":[{"error":{"body":{}}}]}`, "status is 0"},
		{"raw", `{"replies":[{"blocks":[{"raw":7}]}]}`, "raw is not an object"},
		{"input", `{"replies":[{"blocks":[{"tool_use":{"name":"Bash","input":[]}}]}]}`, "input is not an object"},
		{"tool name", `{"replies":[{"blocks":[{"tool_use":{"input":{}}}]}]}`, "no name"},
		{"sse_error", `{"replies":[{"sse_error":"x"}]}`, "sse_error is not an object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := claudetest.ParseScript([]byte(tc.script))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestReadScript(t *testing.T) {
	got, err := claudetest.ReadScript("testdata/scripts/fallback-model.json")
	if err != nil {
		t.Fatal(err)
	}
	overloaded := claudetest.Fail(529, "overloaded_error", "Overloaded").Times(6)
	want := claudetest.Replies(
		overloaded.When(claudetest.Match{Model: "claude-opus-5-5"}),
		claudetest.Say("from fallback"),
		claudetest.Say("x"),
	)
	// Files are indented; white space is insignificant.
	compact := cmp.Transformer("compact", func(m json.RawMessage) (v any) {
		_ = json.Unmarshal(m, &v)
		return v
	})
	if diff := cmp.Diff(want, got, compact); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
	if _, err := claudetest.ReadScript("testdata/none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v for a file that does not exist", err)
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"x":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := claudetest.ReadScript(bad); err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("error %v does not name the file", err)
	}
}

func TestBuildersPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("ToolUse with a channel did not panic")
		}
	}()
	claudetest.ToolUse("Bash", make(chan int))
}
