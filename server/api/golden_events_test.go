package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

func ptr[T any](v T) *T { return &v }

// goldenEvents are the events that the message format has a message of its own for since
// turns, plans and notices are in it. Each has a golden file of its message.
var goldenEvents = map[string]event.Event{
	"turn_start": &event.TurnStart{Header: goldenHead(), TurnID: "turn-1", By: event.ByQueue, PromptID: "prompt-1"},
	"plan": &event.Plan{Header: goldenHead(), ToolUseID: "toolu_1", Entries: []event.PlanEntry{
		{ID: "1", Content: "Read the code", Status: event.PlanCompleted},
		{ID: "2", Content: "Fix it", Status: event.PlanInProgress, ActiveForm: "Fixing it", BlockedBy: []string{"1"}},
	}},
	"turn_diff": &event.TurnDiff{Header: goldenHead(), TurnID: "turn-1", ToolUseID: "toolu_2", Files: []event.FileChange{{
		Path: "/p/a.go", Kind: event.ChangeUpdate, ToolUseID: "toolu_2",
		Hunks: []event.Hunk{{OldStart: 3, OldLines: 1, NewStart: 3, NewLines: 1, Lines: []string{"-old", "+new"}}},
	}}},
	"usage": &event.Usage{Header: goldenHead(), TurnID: "turn-1", Model: "m", InputTokens: ptr(int64(10)), OutputTokens: ptr(int64(0)),
		ContextTokens: ptr(int64(1200)), ContextWindow: ptr(int64(200000))},
	"notice": &event.Notice{Header: goldenHead(), Severity: event.NoticeWarning, Text: "Not allowed", Code: "permission_denied", ToolUseID: "toolu_1",
		Data: `{"type":"system","subtype":"permission_denied","tool_name":"Bash"}`},
	"retry": &event.Retry{Header: goldenHead(), Attempt: 1, MaxAttempts: ptr(int64(10)), DelayMS: ptr(int64(0)), Reason: "rate_limit", Status: ptr(int64(429))},
	"hook": &event.Hook{Header: goldenHead(), HookID: "hook-1", Name: "PreToolUse:Bash", Event: "PreToolUse", State: event.HookFinished, Outcome: "success",
		Decision: "deny", Message: "not here", ExitCode: ptr(int64(0)), ToolUseID: "toolu_1"},
	"session_info": &event.SessionInfo{Header: goldenHead(), Title: ptr("A title"), Model: ptr("m"), PermissionMode: ptr("plan"), Goal: ptr(""),
		MCPServers: []event.MCPServer{{Name: "calc", Status: "failed", Error: "no such file"}}},
	"truncate": &event.Truncate{Header: goldenHead(), Reason: "rewind", From: "prompt-1"},
}

func goldenHead() event.Header {
	return event.Header{Provider: "codex", SessionID: "sess-xyz", UUID: "line-1"}
}

// api.TestGolden_events makes the messages of events, reads them back as events, and compares
// both ways.
func TestGolden_events(t *testing.T) {
	for name, ev := range goldenEvents {
		t.Run(name, func(t *testing.T) {
			want := compacted(t, name)
			messages := api.NewConverter("00000000", 0).Messages(ev)
			if len(messages) != 1 || messages[0].Type() != name {
				t.Fatalf("%T gives %d messages: %v", ev, len(messages), messages)
			}
			got, err := api.Encode(messages[0])
			if err != nil || string(got) != want {
				t.Fatalf("encoded:\n%s, %v\nwant:\n%s", got, err, want)
			}
			m, err := api.Decode(got)
			if err != nil {
				t.Fatal(err)
			}
			var r api.Reader
			events := r.Events(m)
			if len(events) != 1 {
				t.Fatalf("%d events are read", len(events))
			}
			// The provider's own members come back under their names, with all others.
			if diff := cmp.Diff(ev, events[0], cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Data" }, cmp.Ignore())); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// Every type of message that an event has is in the golden files or among the seed's.
func TestGolden_complete(t *testing.T) {
	for name := range goldenEvents {
		if _, err := api.Decode([]byte(`{"type":"` + name + `"}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if m, _ := api.Decode([]byte(`{"type":"` + name + `"}`)); m.Type() != name {
			t.Errorf("%s is a message of type %s", name, m.Type())
		}
	}
}

// An empty list is not an absent one.
func TestRoundTrip_emptyLists(t *testing.T) {
	for _, tt := range []struct {
		m    api.Message
		want string
	}{
		{&api.SystemInit{}, `{"type":"system_init","cwd":"","model":"","permissionMode":"","apiKeySource":"","provider":""}`},
		{&api.SystemInit{Tools: []string{}, MCPServers: []event.MCPServer{}, Skills: []string{}},
			`{"type":"system_init","cwd":"","model":"","permissionMode":"","apiKeySource":"","tools":[],"mcp_servers":[],"skills":[],"provider":""}`},
		{&api.ResultMessage{Errors: []string{}}, `{"type":"result","subtype":"","duration_ms":0,"duration_api_ms":0,"is_error":false,"num_turns":0,"errors":[],"provider":""}`},
		{&api.SessionInfo{MCPServers: []event.MCPServer{}}, `{"type":"session_info","mcp_servers":[],"provider":""}`},
		{&api.QueueChanged{}, `{"type":"queue_changed","items":[],"provider":""}`},
	} {
		line, err := api.Encode(tt.m)
		if err != nil || string(line) != tt.want {
			t.Errorf("encoded %s, %v\nwant %s", line, err, tt.want)
		}
		back, err := api.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.m, back); diff != "" {
			t.Errorf("Decode(Encode(x)) is not x (-x +got):\n%s", diff)
		}
	}
}
