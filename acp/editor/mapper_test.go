package editor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/acp/internal/draft2"
	"github.com/seed7221b0f9/parley/agent/event"
)

// mapped returns a summary of the updates for events.
func mapped(t *testing.T, m *editor.Mapper, events ...event.Event) []string {
	t.Helper()
	var list []string
	for _, ev := range events {
		for _, u := range m.Event(ev) {
			text, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			var o struct {
				SessionUpdate, Status, Title, Severity string
				Content                                json.RawMessage
			}
			if err := json.Unmarshal(text, &o); err != nil {
				t.Fatal(err)
			}
			var c struct{ Text string }
			_ = json.Unmarshal(o.Content, &c) // fails for a list, which has no text
			list = append(list, strings.TrimSpace(strings.Join([]string{o.SessionUpdate, o.Status, o.Severity, o.Title, c.Text}, " ")))
		}
	}
	return list
}

func TestMapper(t *testing.T) {
	bash := []event.Event{
		&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "1", Name: "Bash"},
		&event.ToolInputDelta{ToolUseID: "1", PartialJSON: `{"command":"ls",`},
		&event.ToolInputComplete{ToolUseID: "1", Input: `{"command":"ls","description":"d"}`},
		&event.MessageComplete{Header: event.Header{MessageID: "m"}},
	}
	result := &event.ResultMessage{Subtype: "success"}
	apiError := &event.AssistantMessage{Header: event.Header{UUID: "u"}, Error: "server_error", Blocks: []event.IndexedBlock{{Block: event.TextContent("API Error: 500")}}}
	tests := []struct {
		name   string
		mapper editor.Mapper
		events []event.Event
		want   []string
	}{
		{"tool", editor.Mapper{}, append(bash[:4:4], &event.ToolComplete{ToolUseID: "1", Content: `"out"`}), []string{
			"tool_call pending  Terminal", "tool_call_update   ls", "tool_call_update", "tool_call_update in_progress", "tool_call_update completed",
		}},
		{"tool that waits for a person", editor.Mapper{}, append(bash[:3:3], &event.PermissionRequest{ToolUseID: "1"}, bash[3], &event.PermissionResolved{ToolUseID: "1", Behavior: "allow"}), []string{
			"tool_call pending  Terminal", "tool_call_update   ls", "tool_call_update", "tool_call_update in_progress",
		}},
		{"tool in the background", editor.Mapper{}, append(bash[:4:4], &event.TaskStarted{TaskID: "b", ToolUseID: "1"},
			&event.ToolComplete{ToolUseID: "1", Content: `"launched"`, ToolUseResult: `{"backgroundTaskId":"b"}`}, result, &event.TaskNotification{TaskID: "b", Status: "completed"}), []string{
			"tool_call pending  Terminal", "tool_call_update   ls", "tool_call_update", "tool_call_update in_progress", "tool_call_update completed",
		}},
		{"task that ended before the result of its call", editor.Mapper{}, append(bash[:4:4], &event.TaskStarted{TaskID: "b", ToolUseID: "1"}, &event.TaskUpdated{TaskID: "b", Status: "running"},
			&event.TaskUpdated{TaskID: "b", Status: "failed"}, &event.ToolComplete{ToolUseID: "1", Content: `"launched"`, ToolUseResult: `{"backgroundTaskId":"b"}`}, &event.TaskNotification{TaskID: "b", Status: "completed"}, result), []string{
			"tool_call pending  Terminal", "tool_call_update   ls", "tool_call_update", "tool_call_update in_progress", "tool_call_update failed",
		}},
		{"task that nothing announced", editor.Mapper{}, append(bash[:4:4], &event.ToolComplete{ToolUseID: "1", Content: `"launched"`, ToolUseResult: `{"backgroundTaskId":"b"}`},
			&event.TaskNotification{TaskID: "b", Status: "completed", Summary: "all done"}, &event.TaskNotification{TaskID: "b", Status: "failed"}), []string{
			"tool_call pending  Terminal", "tool_call_update   ls", "tool_call_update", "tool_call_update in_progress", "tool_call_update completed",
		}},
		{"history", editor.Mapper{Replay: true}, []event.Event{&event.UserMessage{IsPrompt: true, Blocks: []event.Content{
			event.TextContent("<system-reminder>x</system-reminder>"), event.TextContent(" "), event.TextContent("<command-name>/go</command-name><command-args>on</command-args>"),
			event.TextContent("see <command-name>/go</command-name>"), event.TextContent("<command-name>/go"), {Type: "image", Raw: `{"source":{}}`}, {Type: "image", Raw: `{"source":{"data":"x","media_type":"image/png"}}`}, {Type: "smell"},
		}}, &event.UserMessage{Blocks: []event.Content{event.TextContent(" <local-command-stdout>said</local-command-stdout>")}}, &event.UserMessage{Blocks: []event.Content{event.TextContent("<local-command-stderr>cried")}}}, []string{
			"user_message_chunk    /go on", "user_message_chunk    see <command-name>/go</command-name>", "user_message_chunk    <command-name>/go", "user_message_chunk", "agent_message_chunk    said", "agent_message_chunk    cried",
		}},
		{"tool that a turn left", editor.Mapper{}, append(bash[:4:4], result), []string{
			"tool_call pending  Terminal", "tool_call_update   ls", "tool_call_update", "tool_call_update in_progress", "tool_call_update failed",
		}},
		{"error said by the answer", editor.Mapper{}, []event.Event{apiError, &event.ResultMessage{Subtype: "success", IsError: true, Result: "API Error: 500"}}, nil},
		{"error that is a stop reason", editor.Mapper{}, []event.Event{apiError, &event.ResultMessage{StopReason: "refusal", IsError: true}}, []string{"agent_message_chunk    API Error: 500"}},
		{"notice", editor.Mapper{Features: editor.Features{Notices: true}}, []event.Event{&event.Notice{Severity: "strange", Text: "Look"}}, []string{"notice  info Look"}},
		{"notice without the capability", editor.Mapper{}, []event.Event{&event.Notice{Severity: "warning", Text: "Look"}}, []string{"agent_message_chunk    **Warning:** Look"}},
		{"retry", editor.Mapper{Features: editor.Features{Notices: true}}, []event.Event{&event.Retry{Attempt: 1}}, []string{"notice  warning The request failed and is tried again (attempt 1)."}},
		// Gap 6: retries and limits were silent for clients without notices.
		{"retries without the capability", editor.Mapper{}, []event.Event{&event.Retry{Attempt: 1}, &event.Retry{Attempt: 2}, &event.Retry{Attempt: 3, Reason: "429"}, &event.Retry{Attempt: 4}}, []string{
			"agent_message_chunk    **Warning:** The request failed and is tried again (attempt 3).\n\n429",
		}},
		{"limit without the capability", editor.Mapper{}, []event.Event{
			&event.RateLimit{Info: `{"status":"allowed"}`}, &event.RateLimit{Info: `{"status":"rejected","rateLimitType":"five_hour"}`}, &event.RateLimit{Info: `{"status":"rejected","rateLimitType":"five_hour"}`},
		}, []string{"agent_message_chunk    **Warning:** The account is at a limit: rejected five_hour"}},
		{"prompt live", editor.Mapper{}, []event.Event{&event.UserMessage{IsPrompt: true, Blocks: []event.Content{event.TextContent("hi")}}}, nil},
		{"prompt replayed", editor.Mapper{Replay: true}, []event.Event{&event.UserMessage{IsPrompt: true, Blocks: []event.Content{event.TextContent("hi")}}}, []string{"user_message_chunk    hi"}},
		{"failed plan tool", editor.Mapper{}, []event.Event{&event.ToolStart{ToolUseID: "2", Name: "TaskCreate"}, &event.ToolComplete{ToolUseID: "2", IsError: true, Content: `"no"`}}, []string{
			"tool_call pending  TaskCreate", "tool_call_update failed",
		}},
		{"plan tool", editor.Mapper{}, []event.Event{&event.ToolStart{ToolUseID: "2", Name: "TaskCreate"}, &event.ToolComplete{ToolUseID: "2"}, &event.Plan{Entries: []event.PlanEntry{}}}, []string{"plan"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mapped(t, &tt.mapper, tt.events...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestPatch checks the patches of version 2.
func TestPatch(t *testing.T) {
	d := &acp.Diff{Path: "/a", OldText: acp.Some("one\ntwo\nthree"), NewText: "one\nTWO\nthree"}
	u := acp.SessionUpdate{SessionUpdate: "tool_call_update", Value: &acp.ToolCallUpdate{
		ToolCallID: "1", Content: acp.Some([]acp.ToolCallContent{{Type: "diff", Value: d}}), Locations: acp.Some([]acp.ToolCallLocation{{Path: "/a", Line: acp.Some(int64(4))}}),
	}}
	text, err := json.Marshal(draft2.Updates(u))
	if err != nil {
		t.Fatal(err)
	}
	if want := `@@ -4,3 +4,3 @@\n one\n-two\n+TWO\n three\n`; !strings.Contains(string(text), want) {
		t.Errorf("got %s, want it to have %s", text, want)
	}
}

// Gap 10: a login that expires during a session is reported as auth_required, not as an internal
// error.
func TestStop_login(t *testing.T) {
	for text, code := range map[string]int64{
		"Login expired · Run /login to sign in again": acp.CodeAuthRequired, "Invalid API key · Please run /login": acp.CodeAuthRequired,
		"agent: not logged in: Sign in first; ways to log in to X: Web": acp.CodeAuthRequired, "API Error: 500": -32603,
	} {
		var m editor.Mapper
		mapped(t, &m, &event.ResultMessage{Subtype: "success", IsError: true, Result: text})
		if _, err := m.Stop(); err == nil || err.Code != code {
			t.Errorf("%s: %v, want the code %d", text, err, code)
		}
	}
}
