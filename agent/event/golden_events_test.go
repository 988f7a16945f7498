package event_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

func ptr[T any](v T) *T { return &v }

// goldenEvents are the events with a separate message since turns, plans and notices are part of
// the format. Each has a golden file of its message.
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

// TestGolden_events encodes events, decodes their messages, and compares both ways.
func TestGolden_events(t *testing.T) {
	for name, ev := range goldenEvents {
		t.Run(name, func(t *testing.T) {
			want := compacted(t, name)
			got := send(t, event.NewEncoder("00000000", 0), ev)
			if len(got) != 1 || got[0] != want {
				t.Fatalf("%T gives\n%q, want\n%s", ev, got, want)
			}
			if name := event.MessageType([]byte(want)); !strings.HasPrefix(want, `{"type":"`+name+`"`) {
				t.Errorf("the type is %q", name)
			}
			back, err := new(event.Decoder).Decode([]byte(want))
			if err != nil || len(back) != 1 {
				t.Fatalf("back is %v, err is %v; want err == nil and len(back) == 1", back, err)
			}
			if again := send(t, event.NewEncoder("00000000", 0), back[0]); again[0] != want {
				t.Errorf("encoded again:\n%s\nwant\n%s", again[0], want)
			}
		})
	}
}
