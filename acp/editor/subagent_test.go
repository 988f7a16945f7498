package editor_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// summarize returns a summary of the updates for events: the session, the kind and the shown text.
func summarize(t *testing.T, m *editor.Mapper, events ...event.Event) []string {
	t.Helper()
	var list []string
	for _, ev := range events {
		for _, u := range m.Event(ev) {
			text, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			var o struct {
				SessionUpdate, SessionID, Title, Status string
				SenderSessionID, RecipientSessionID     string
				Content                                 json.RawMessage
				State                                   struct{ State, StopReason string }
				Capabilities                            struct{ Cancel *struct{} }
				Meta                                    struct {
					ClaudeCode struct{ ParentToolUseID string }
				} `json:"_meta"`
			}
			if err := json.Unmarshal(text, &o); err != nil {
				t.Fatal(err)
			}
			line := []string{u.Subagent + ":", o.SessionUpdate, o.SessionID, o.Title, o.Status, o.State.State, o.State.StopReason}
			if o.SenderSessionID != "" {
				line = append(line, o.SenderSessionID+">"+o.RecipientSessionID)
			}
			if o.Capabilities.Cancel != nil {
				line = append(line, "can be stopped")
			}
			var one struct{ Text string }
			var many []struct{ Text string }
			if json.Unmarshal(o.Content, &many) == nil && len(many) == 1 {
				line = append(line, many[0].Text)
			} else if json.Unmarshal(o.Content, &one) == nil {
				line = append(line, one.Text)
			}
			if p := o.Meta.ClaudeCode.ParentToolUseID; p != "" {
				line = append(line, "of "+p)
			}
			line = slices.DeleteFunc(line, func(s string) bool { return s == "" })
			list = append(list, strings.Join(line, " "))
		}
	}
	return list
}

func launch(id, parent string) event.Event {
	block := fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Agent","input":{"prompt":"look","description":"d","subagent_type":"kind"}}`, id)
	return &event.ToolStart{Header: event.Header{ParentToolUseID: parent}, ToolUseID: id, Name: "Agent", Block: event.JSON(block)}
}

func childSays(parent, id, text string) event.Event {
	return &event.AssistantMessage{Header: event.Header{ParentToolUseID: parent, MessageID: id}, Blocks: []event.IndexedBlock{{Block: event.TextContent(text)}}}
}

func read(parent, id string) event.Event {
	return &event.ToolStart{Header: event.Header{ParentToolUseID: parent}, ToolUseID: id, Name: "Read", Block: event.JSON(`{"type":"tool_use","id":"` + id + `","name":"Read","input":{}}`)}
}

// TestMapper_subagentSessions checks that a client with subagent sessions gets a session for each
// subagent.
func TestMapper_subagentSessions(t *testing.T) {
	begin := []string{": subagent_update c kind running can be stopped", ": session_message s>c look", "c: session_message s>c look"}
	idle := func(reason string) string { return ": subagent_update c idle " + reason }
	started := &event.TaskStarted{TaskID: "c", ToolUseID: "t", TaskType: "local_agent"}
	launched := &event.ToolComplete{ToolUseID: "t", Content: `"Async agent launched"`, ToolUseResult: `{"status":"async_launched","agentId":"c"}`}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   []string
	}{
		{"foreground", []event.Event{launch("t", ""), started, read("t", "r"), childSays("t", "m", "seen"), &event.ToolComplete{ToolUseID: "t", Content: `"report"`}},
			append(begin[:3:3], "c: tool_call Read File pending of t", "c: agent_message_chunk seen", "c: session_message c>s report", ": session_message c>s report", idle("end_turn"))},
		{"background", []event.Event{launch("t", ""), started, launched, childSays("t", "m", "seen"), &event.TaskNotification{TaskID: "c", Status: "completed", Summary: "report"}},
			append(begin[:3:3], "c: agent_message_chunk seen", "c: session_message c>s report", ": session_message c>s report", idle("end_turn"))},
		{"stopped", []event.Event{launch("t", ""), started, launched, &event.TaskNotification{TaskID: "c", Status: "stopped"}}, append(begin[:3:3], idle("cancelled"))},
		{"failed", []event.Event{launch("t", ""), started, launched, &event.TaskUpdated{TaskID: "c", Status: "failed"}, &event.TaskNotification{TaskID: "c", Status: "failed"}}, append(begin[:3:3], idle("error"))},
		{"ended before the result of its call", []event.Event{launch("t", ""), started, &event.TaskUpdated{TaskID: "c", Status: "completed"}, launched}, append(begin[:3:3], idle("end_turn"))},
		{"without a task", []event.Event{launch("t", ""), childSays("t", "m", "seen"), &event.ToolComplete{ToolUseID: "t", IsError: true, Content: `"broke"`}}, []string{
			": subagent_update t kind running", ": session_message s>t look", "t: session_message s>t look", "t: agent_message_chunk seen",
			"t: session_message t>s broke", ": session_message t>s broke", ": subagent_update t idle error",
		}},
		{"refused", []event.Event{launch("t", ""), &event.ToolComplete{ToolUseID: "t", IsError: true, Content: `"no"`}}, []string{": tool_call d pending", ": tool_call_update failed"}},
		{"asks", []event.Event{launch("t", ""), started, read("t", "r"), &event.PermissionRequest{ToolUseID: "r", ToolName: "Read"}, &event.PermissionResolved{ToolUseID: "r", Behavior: "allow"}},
			append(begin[:3:3], "c: tool_call Read File pending of t", ": subagent_update c requires_action", ": subagent_update c running", "c: tool_call_update in_progress of t")},
		{"asked for", []event.Event{launch("t", ""), &event.PermissionRequest{ToolUseID: "t", ToolName: "Agent"}, started, &event.ToolComplete{ToolUseID: "t", Content: `"report"`}},
			slices.Concat([]string{": tool_call d pending"}, begin, []string{": tool_call_update in_progress", ": tool_call_update completed", "c: session_message c>s report", ": session_message c>s report", idle("end_turn")})},
		{"below another", []event.Event{launch("t", ""), started, launch("u", "t"), childSays("u", "m", "deep"), &event.ResultMessage{Subtype: "error_during_execution"}},
			append(begin[:3:3], "c: subagent_update u kind running", "c: session_message c>u look", "u: session_message c>u look", "u: agent_message_chunk deep", "c: subagent_update u idle cancelled", idle("cancelled"))},
		{"streamed", []event.Event{launch("t", ""), started, &event.TextStart{Header: event.Header{ParentToolUseID: "t", MessageID: "m"}}, &event.TextDelta{Header: event.Header{ParentToolUseID: "t", MessageID: "m"}, Text: "se"}, childSays("t", "m", "seen")},
			append(begin[:3:3], "c: agent_message_chunk se", "c: agent_message_chunk en")},
		{"of another tool", []event.Event{read("", "t"), childSays("t", "m", "seen"), &event.ToolComplete{ToolUseID: "t", Content: `"x"`}}, []string{
			": tool_call Read File pending", ": subagent_update t Read File running", "t: agent_message_chunk seen", ": tool_call_update in_progress", ": tool_call_update completed", "t: session_message t>s x", ": session_message t>s x", ": subagent_update t idle end_turn",
		}},
		{"of an unknown call", []event.Event{childSays("t", "m", "seen")}, []string{": agent_message_chunk seen of t"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &editor.Mapper{Session: "s", Features: editor.Features{Subagents: true}}
			if diff := cmp.Diff(tt.want, summarize(t, m, tt.events...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestMapper_subagentTexts checks that texts of a subagent are tagged with its call and wait for the end of a streamed
// message.
func TestMapper_subagentTexts(t *testing.T) {
	m := &editor.Mapper{Session: "s"}
	delta := func(parent, text string) event.Event {
		return &event.TextDelta{Header: event.Header{ParentToolUseID: parent, MessageID: "main" + parent}, Text: text}
	}
	got := summarize(t, m, launch("t", ""), childSays("t", "m", "one"), delta("", "I "), delta("t", "tw"), childSays("t", "m2", "two"), delta("", "go on"),
		&event.MessageComplete{Header: event.Header{MessageID: "main"}}, childSays("t", "m3", "three"), &event.ResultMessage{Subtype: "success"})
	want := []string{
		": tool_call d pending", ": agent_message_chunk one of t", ": agent_message_chunk I", ": agent_message_chunk go on", ": agent_message_chunk two of t", ": agent_message_chunk three of t",
	}
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if len(got) > len(want) {
		got = got[:len(want)] // the end of the turn ends the call
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	history := &editor.Mapper{Session: "s", Replay: true}
	if got := summarize(t, history, childSays("t", "m", "one")); got != nil {
		t.Errorf("a replay shows %q", got)
	}
}

// TestMapper_liveOutput checks that the output of a running command is shown in a terminal or as the content of its
// call, and never twice in the terminal.
func TestMapper_liveOutput(t *testing.T) {
	short.SkipQuick(t, "maps much output")
	run := func(terminals bool, result string, pieces ...string) (terminal string, contents []string) {
		m := &editor.Mapper{Features: editor.Features{Terminals: terminals}}
		events := []event.Event{&event.ToolStart{ToolUseID: "t1", Name: "Bash", Block: `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}`}}
		for _, p := range pieces {
			events = append(events, &event.ToolProgress{ToolUseID: "t1", Output: p})
		}
		events = append(events, &event.ToolComplete{ToolUseID: "t1", Content: event.JSON(event.Quote(result))}, &event.ToolProgress{ToolUseID: "t1", Output: "late"})
		for _, line := range strings.Split(shownUpdates(t, m, events...), "\n") {
			var u struct {
				Content []struct{ Content struct{ Text string } }
				Meta    struct {
					Output struct{ Data string } `json:"terminal_output"`
				} `json:"_meta"`
			}
			if err := json.Unmarshal([]byte(line), &u); err != nil {
				t.Fatal(err)
			}
			terminal += u.Meta.Output.Data
			if n := len(u.Content); n > 0 {
				contents = append(contents, u.Content[n-1].Content.Text)
			}
		}
		return terminal, contents
	}
	for name, tt := range map[string]struct {
		result string
		pieces []string
		want   string
	}{
		"whole":     {"a\nb", []string{"a\n", "b\n"}, "a\nb\n"},
		"the rest":  {"a\nb\nc", []string{"a\n"}, "a\nb\nc\n"},
		"no result": {"", []string{"a\n"}, "a\n"},
		"other":     {"z", []string{"a\n"}, "a\nz\n"},
		"the end":   {"b", []string{"a\nb\n"}, "a\nb\n"},
		"no pieces": {"a", nil, "a\n"},
		"large":     {strings.Repeat("x", 300<<10), []string{strings.Repeat("x", 200<<10), strings.Repeat("x", 100<<10)}, strings.Repeat("x", 300<<10) + "\n"},
		"steps":     {"", []string{strings.Repeat("x", 3000), "y"}, strings.Repeat("x", 3000) + "y"},
	} {
		if got, _ := run(true, tt.result, tt.pieces...); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(tt.want, "\n") {
			t.Errorf("%s: the terminal shows %d bytes %.80q, want %d bytes %.80q", name, len(got), got, len(tt.want), tt.want)
		}
	}
	_, contents := run(false, "a\nb", "a\n", "b\n")
	if diff := cmp.Diff([]string{"```console\na\n```", "```console\na\nb\n```", "```console\na\nb\n```"}, contents); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	var lines []string
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf("line %d\n", i))
	}
	_, contents = run(false, "", lines...)
	last, size := contents[len(contents)-1], 0
	for _, c := range contents {
		size += len(c)
	}
	if total := len(strings.Join(lines, "")); size > 8*total || len(last) > 5<<10 || !strings.Contains(last, "…\nline ") {
		t.Errorf("%d bytes of output are shown with %d bytes in %d updates, the last %d: %.60q", total, size, len(contents), len(last), last)
	}
}
