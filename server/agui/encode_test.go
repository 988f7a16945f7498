package agui_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/agui"
	"github.com/seed7221b0f9/parley/server/parts"
)

// TestEncoder checks the events of every kind of part, with all of its members, of the main thread and of a subagent.
func TestEncoder(t *testing.T) {
	e := agui.NewEncoder("thread", "run")
	usage := event.JSON(`{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":4,"cache_creation_input_tokens":8}`)
	for _, step := range []struct {
		part parts.Part
		want string
	}{
		{parts.Part{Kind: parts.TextStart, ID: "t"}, `{"messageId":"t","role":"assistant","type":"TEXT_MESSAGE_START"}`},
		{parts.Part{Kind: parts.TextDelta, ID: "t", Text: "a"}, `{"delta":"a","messageId":"t","type":"TEXT_MESSAGE_CONTENT"}`},
		{parts.Part{Kind: parts.TextEnd, ID: "t"}, `{"messageId":"t","type":"TEXT_MESSAGE_END"}`},
		{parts.Part{Kind: parts.TextEnd, ID: "t"}, ``},
		{parts.Part{Kind: parts.ThinkingStart, ID: "h", Parent: "p"}, `{"messageId":"h","subagentRunId":"p","type":"REASONING_START"} {"messageId":"h","role":"reasoning","subagentRunId":"p","type":"REASONING_MESSAGE_START"}`},
		{parts.Part{Kind: parts.ThinkingDelta, ID: "h", Parent: "p", Text: "b"}, `{"delta":"b","messageId":"h","subagentRunId":"p","type":"REASONING_MESSAGE_CONTENT"}`},
		{parts.Part{Kind: parts.ThinkingEnd, ID: "h"}, `{"messageId":"h","subagentRunId":"p","type":"REASONING_MESSAGE_END"} {"messageId":"h","subagentRunId":"p","type":"REASONING_END"}`},
		{parts.Part{Kind: parts.ToolStart, ID: "c", Name: "Bash", Parent: "p"}, `{"subagentRunId":"p","toolCallId":"c","toolCallName":"Bash","type":"TOOL_CALL_START"}`},
		{parts.Part{Kind: parts.ToolInput, ID: "c", Parent: "p", Input: `{"x":1}`}, `{"delta":"{\"x\":1}","subagentRunId":"p","toolCallId":"c","type":"TOOL_CALL_ARGS"} {"subagentRunId":"p","toolCallId":"c","type":"TOOL_CALL_END"}`},
		{parts.Part{Kind: parts.ToolResult, ID: "c", Parent: "p", Text: "out"}, `{"content":"out","messageId":"result:c","role":"tool","subagentRunId":"p","toolCallId":"c","type":"TOOL_CALL_RESULT"}`},
		{parts.Part{Kind: parts.ToolStart, ID: "d", Name: "Read"}, `{"toolCallId":"d","toolCallName":"Read","type":"TOOL_CALL_START"}`},
		{parts.Part{Kind: parts.ToolInput, ID: "d"}, `{"toolCallId":"d","type":"TOOL_CALL_END"}`}, // it was interrupted
		{parts.Part{Kind: parts.ToolResult, ID: "d", Text: "no", IsError: true}, `{"content":"no","messageId":"result:d","metadata":{"isError":true},"role":"tool","toolCallId":"d","type":"TOOL_CALL_RESULT"}`},
		{parts.Part{Kind: parts.Error, Text: "oops"}, `{"name":"parley.error","type":"CUSTOM","value":{"message":"oops"}}`},
		{parts.Part{Kind: parts.Ask}, ``},
		{parts.Part{Kind: parts.TextStart, ID: "o"}, `{"messageId":"o","role":"assistant","type":"TEXT_MESSAGE_START"}`},
		{parts.Part{Kind: parts.ToolStart, ID: "q", Name: "Bash"}, `{"toolCallId":"q","toolCallName":"Bash","type":"TOOL_CALL_START"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Failed, Message: "why"}}, // open parts end first
			`{"messageId":"o","type":"TEXT_MESSAGE_END"} {"toolCallId":"q","type":"TOOL_CALL_END"} {"code":"turn_failed","message":"why","type":"RUN_ERROR"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Cancelled}}, `{"outcome":{"type":"cancelled"},"runId":"run","threadId":"thread","type":"RUN_FINISHED"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Length, Result: &event.ResultMessage{Result: "r", Usage: usage}}},
			`{"outcome":{"type":"success"},"result":{"stopReason":"length","text":"r"},"runId":"run","threadId":"thread","type":"RUN_FINISHED",` +
				`"usage":[{"cacheWriteInputTokens":8,"cachedInputTokens":4,"inputTokens":13,"outputTokens":2,"totalTokens":15}]}`},
	} {
		var got []string
		for _, data := range e.Part(step.part) {
			got = append(got, string(data))
		}
		if text := strings.Join(got, " "); text != step.want {
			t.Errorf("%+v gives\n%s\nwant\n%s", step.part, text, step.want)
		}
	}
}

// TestEncoder_ask checks the events of requests to a person.
func TestEncoder_ask(t *testing.T) {
	for name, tt := range map[string]struct {
		part parts.Part
		want []string
	}{
		"permission": {parts.Part{Call: "c", Permission: &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", Description: "Run it"}},
			[]string{`"id":"id"`, `"toolCallId":"c"`, `"reason":"tool_call"`, `"message":"Run it"`, `"permission":{`, `"required":["approved"]`}},
		"question": {parts.Part{Call: "c", Question: &event.QuestionRequest{Kind: event.QuestionAsk, RequestID: "r", Message: "m", Questions: []event.Question{{Question: "one"}, {Question: "two"}}}},
			[]string{`"id":"id"`, `"toolCallId":"c"`, `"reason":"input_required"`, `"message":"m\none\ntwo"`, `"question":{`, `"required":["answers"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			e := agui.NewEncoder("thread", "run")
			e.Part(parts.Part{Kind: parts.ToolStart, ID: "c"})
			all := e.Ask(tt.part, "id")
			if len(all) != 2 || !strings.Contains(string(all[0]), "TOOL_CALL_END") || !strings.Contains(string(all[1]), `"type":"interrupt"`) {
				t.Fatalf("the events are %s, want the end of the call and an interrupt", all)
			}
			for _, part := range tt.want {
				if !strings.Contains(string(all[1]), part) {
					t.Errorf("the interrupt is %s, want %s in it", all[1], part)
				}
			}
		})
	}
}
