package acpevent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// summarize returns a short form of the events about calls: additions to a call, requests, and ends.
func summarize(t *testing.T, lines ...string) (list []string) {
	t.Helper()
	c := acpevent.Converter{Provider: "acp:x", SessionID: "s"}
	for _, line := range lines {
		var events []event.Event
		switch {
		case line == "allow":
			events = c.Resolve("r", "1", event.ResolvedAllow, "", "")
		case strings.Contains(line, `"toolCall"`):
			var r acp.RequestPermissionRequest
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			events = c.Ask("r", &r)
		default:
			var u acp.SessionUpdate
			if err := json.Unmarshal([]byte(line), &u); err != nil {
				t.Fatal(err)
			}
			events = c.Update(&u)
		}
		for _, ev := range events {
			switch ev := ev.(type) {
			case *event.AssistantMessage:
				b := ev.Blocks[0].Block
				list = append(list, strings.TrimSpace("call "+b.Name+" "+b.Title+" "+string(b.Input)+" "+string(b.Content)))
			case *event.PermissionRequest:
				list = append(list, strings.TrimSpace("ask "+ev.RequestID+" "+string(ev.Input)+" "+string(ev.Content)+" "+string(ev.Request)))
			case *event.ToolProgress:
				list = append(list, "progress "+ev.Output)
			case *event.ToolComplete:
				list = append(list, "end "+string(ev.Content))
			}
		}
	}
	return list
}

func TestConverter_toolCalls(t *testing.T) {
	t.Parallel()
	const options = `"options":[],"sessionId":"s"`
	tests := map[string]struct{ lines, want []string }{
		"more after the request": {[]string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"bash","rawInput":{}}`,
			`{"toolCall":{"toolCallId":"1","rawInput":{"command":"ls"}},` + options + `}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"command":"ls","cwd":"/"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"command":"ls","cwd":"/"}}`,
			"allow",
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"ls /"}`,
		}, []string{
			`call bash bash {}`, `call bash bash {"command":"ls"}`, `ask r {"command":"ls"}`,
			`call bash bash {"command":"ls","cwd":"/"}`, `ask r {"command":"ls","cwd":"/"}`, `call bash ls / {"command":"ls","cwd":"/"}`,
		}},
		"nothing is known": {[]string{
			`{"toolCall":{"toolCallId":"1"},` + options + `}`,
		}, []string{`call Tool  {}`, `ask r {}  {"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[]}`}},
		"a member that is unknown": {[]string{
			`{"toolCall":{"toolCallId":"1","title":"x","rawInput":{"a":1},"why":"?"},` + options + `}`,
		}, []string{`call x x {"a":1}`, `ask r {"a":1}  {"sessionId":"s","toolCall":{"toolCallId":"1","title":"x","rawInput":{"a":1},"why":"?"},"options":[]}`}},
		"output of a terminal": {[]string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"ls","status":"in_progress","content":[{"type":"terminal","terminalId":"1"}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","_meta":{"terminal_output_delta":{"data":"a\n"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","_meta":{"terminal_output":{"data":"b\n"},"terminal_exit":{"exit_code":0}}}`,
		}, []string{`call ls ls {}`, "progress ", "progress a\n", `end "a\nb\n"`}},
		"output that is sent whole each time": {[]string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"ls","status":"pending"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"a"}}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[{"type":"content","content":{"type":"text","text":"ab"}}]}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":{"exit":0}}`,
		}, []string{`call ls ls {}`, "progress a", "progress b", `end "ab"`}},
		"diff of a result": {[]string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"edit","status":"in_progress"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}},{"type":"diff","path":"/a","oldText":null,"newText":"b"}]}`,
		}, []string{
			`call edit edit {}`, "progress ", `call edit edit {} [{"type":"diff","path":"/a","oldText":null,"newText":"b"}]`,
			`end [{"type":"text","text":"ok"},{"type":"diff","path":"/a","oldText":null,"newText":"b"}]`,
		}},
		"an id that is used again": {[]string{
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"a","rawInput":{"x":1},"status":"completed"}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"late","status":"completed"}`,
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"b"}`,
		}, []string{`call a a {"x":1}`, "end ", `call b b {}`}},
	}
	for name, test := range tests {
		if diff := cmp.Diff(test.want, summarize(t, test.lines...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
