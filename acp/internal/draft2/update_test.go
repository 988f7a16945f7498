package draft2_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/internal/draft2"
)

// Every update of version 1 is converted to the form of version 2.
func TestUpdates(t *testing.T) {
	bash := `"_meta":{"claudeCode":{"toolName":"Bash"}}`
	for name, tt := range map[string]struct{ in, want string }{
		"mode":                {`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`, `null`},
		"plan":                {`{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}`, `[{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}}]`},
		"text without an id":  {`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}`, `[{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"message"}]`},
		"text with an id":     {`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"m"}`, `[{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"m"}]`},
		"commands":            {`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"n","description":"d","input":{"hint":"h"}},{"name":"o","description":"e"}]}`, `[{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"n","description":"d","input":{"type":"text","hint":"h"}},{"type":"command","name":"o","description":"e"}]}]`},
		"options":             {`{"sessionUpdate":"config_option_update","configOptions":[{"id":"i","name":"n","type":"select","currentValue":"v","options":[{"value":"v","name":"V"}]}]}`, `[{"sessionUpdate":"config_option_update","configOptions":[{"configId":"i","name":"n","type":"select","currentValue":"v","options":[{"value":"v","name":"V"}]}]}]`},
		"a call":              {`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"read","status":"pending","rawInput":{"a":1},"rawOutput":"o","locations":[{"path":"/f","line":3}]}`, `[{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"T","kind":"read","status":"pending","rawInput":{"a":1},"rawOutput":"o","locations":[{"path":"/f","line":3}],"content":[]}]`},
		"an update of a call": {`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]}`, `[{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]}]`},
		"the start of a command": {`{"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","rawInput":{"command":"ls"},` + bash + `}`,
			`[{"sessionUpdate":"terminal_update","terminalId":"c","command":"ls"},{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"ls","rawInput":{"command":"ls"},"content":[{"type":"terminal","terminalId":"c"}],` + bash + `}]`},
		"a command that runs": {`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress",` + bash + `}`, `[{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress",` + bash + `}]`},
		"a command that ends": {`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":"out",` + bash + `}`,
			`[{"sessionUpdate":"terminal_update","terminalId":"c","output":{"data":"b3V0"},"exitStatus":{"exitCode":0}},{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed",` + bash + `}]`},
		"a command that fails": {`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":"Exit code 7\nout",` + bash + `}`,
			`[{"sessionUpdate":"terminal_update","terminalId":"c","output":{"data":"b3V0"},"exitStatus":{"exitCode":7}},{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed",` + bash + `}]`},
		"a command that fails without a code": {`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":"out",` + bash + `}`,
			`[{"sessionUpdate":"terminal_update","terminalId":"c","output":{"data":"b3V0"},"exitStatus":{"exitCode":1}},{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed",` + bash + `}]`},
		"a command with an odd output": {`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":"Exit code x",` + bash + `}`,
			`[{"sessionUpdate":"terminal_update","terminalId":"c","output":{"data":"RXhpdCBjb2RlIHg="},"exitStatus":{"exitCode":0}},{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed",` + bash + `}]`},
	} {
		var u acp.SessionUpdate
		if err := json.Unmarshal([]byte(tt.in), &u); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := json.Marshal(draft2.Updates(u))
		if err != nil {
			t.Fatal(err)
		}
		var x, y any
		if err := json.Unmarshal(got, &x); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt.want), &y); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(x, y) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(y, x))
		}
	}
}

// The hunks of a file become one patch with line numbers. Each file has its own patch.
func TestUpdates_diffs(t *testing.T) {
	in := `{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"/f","line":5},{"path":"/f","line":0},{"path":"/g"}],"content":[
		{"type":"diff","path":"/f","oldText":"a\nb\nc\n","newText":"a\nB\nc\n"},{"type":"diff","path":"/f","oldText":"","newText":"x"},{"type":"diff","path":"/g","newText":"n\n"},
		{"type":"diff","path":"/f","oldText":"z\n","newText":""},{"type":"content","content":{"type":"text","text":"t"}}]}`
	var u acp.SessionUpdate
	if err := json.Unmarshal([]byte(in), &u); err != nil {
		t.Fatal(err)
	}
	var got []string
	text, err := json.Marshal(draft2.Updates(u)[0]["content"])
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Type, Path string
		Changes    []struct{ Operation, Path string }
		Patch      struct{ Text string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		line := c.Type + c.Path
		for _, change := range c.Changes {
			line += " " + change.Operation + " " + change.Path
		}
		got = append(got, line+"\n"+c.Patch.Text)
	}
	head := func(from, to string) string {
		return "diff --git " + to + " " + to + "\n--- " + from + "\n+++ " + to + "\n"
	}
	want := []string{
		"diff modify /f\n" + head("/f", "/f") + "@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n" + "@@ -0,0 +1,1 @@\n+x\n",
		"diff add /g\n" + head("/dev/null", "/g") + "@@ -0,0 +1,1 @@\n+n\n", "diff modify /f\n" + head("/f", "/f") + "@@ -1,1 +0,0 @@\n-z\n", "content\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the content (-want +got):\n%s", diff)
	}
}

// A request for permission has a title: that of the call, or one of the tool.
func TestPermission(t *testing.T) {
	for call, want := range map[string]string{`{"toolCallId":"c","title":"Edit f"}`: "Edit f", `{"toolCallId":"c","name":"Write"}`: "Allow Write", `{"toolCallId":"c"}`: "Allow the tool"} {
		var r acp.RequestPermissionRequest
		if err := json.Unmarshal([]byte(`{"sessionId":"s","options":[{"optionId":"o","name":"O","kind":"allow_once"}],"toolCall":`+call+`}`), &r); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(draft2.Permission(&r))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			SessionID, Title string
			Options          []struct{ OptionID string }
			Subject          struct {
				Type     string
				ToolCall map[string]any
			}
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.SessionID != "s" || got.Title != want || len(got.Options) != 1 || got.Options[0].OptionID != "o" || got.Subject.Type != "tool_call" || got.Subject.ToolCall["toolCallId"] != "c" || got.Subject.ToolCall["sessionUpdate"] != nil {
			t.Errorf("the request for %s is %s, want the title %q", call, text, want)
		}
	}
}
