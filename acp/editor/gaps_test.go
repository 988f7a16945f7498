package editor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/event"
)

// shownUpdates returns the updates for events as JSON, one per line.
func shownUpdates(t *testing.T, m *editor.Mapper, events ...event.Event) string {
	t.Helper()
	var all []string
	for _, ev := range events {
		for _, u := range m.Event(ev) {
			text, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	return strings.Join(all, "\n")
}

// command returns the events of a command that ends with a result.
func command(result string, failed bool) []event.Event {
	return []event.Event{
		&event.TurnStart{TurnID: "1"},
		&event.ToolStart{ToolUseID: "t1", Name: "Bash", Block: `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}`},
		&event.ToolComplete{ToolUseID: "t1", Content: event.JSON(event.Quote(result)), IsError: failed},
	}
}

// TestMapper_terminal checks that commands are shown as terminals to clients that support them,
// with the output and the exit code.
func TestMapper_terminal(t *testing.T) {
	with := func(on bool) *editor.Mapper {
		return &editor.Mapper{Dir: "/work", Features: editor.Features{Terminals: on}}
	}
	for _, tt := range []struct {
		name, result string
		failed       bool
		want         []string
	}{
		{"success", "built", false, []string{
			`"content":[{"terminalId":"t1","type":"terminal"}]`, `"terminal_info":{"cwd":"/work","terminal_id":"t1"}`,
			`"terminal_output":{"data":"built\n","terminal_id":"t1"}`, `"terminal_exit":{"exit_code":0,"signal":null,"terminal_id":"t1"}`,
		}},
		{"failure", "Exit code 2\nno rule", true, []string{`"terminal_output":{"data":"no rule\n","terminal_id":"t1"}`, `"exit_code":2`}},
		{"no output", "(Bash completed with no output)", false, []string{`"exit_code":0`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := shownUpdates(t, with(true), command(tt.result, tt.failed)...)
			for _, want := range tt.want {
				if !strings.Contains(canonicalLines(t, got), want) {
					t.Errorf("no %s in\n%s", want, got)
				}
			}
			if strings.Contains(got, "```") {
				t.Errorf("the output is shown twice:\n%s", got)
			}
		})
	}
	if got := shownUpdates(t, with(false), command("built", false)...); strings.Contains(got, "terminal") {
		t.Errorf("a client without terminals gets\n%s", got)
	}
}

// canonicalLines returns lines of JSON with sorted members.
func canonicalLines(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for _, line := range strings.Split(text, "\n") {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(out))
	}
	return strings.Join(all, "\n")
}

// TestMapper_modelChange checks that the agent's message about a model change of the client is
// hidden, but only between turns.
func TestMapper_modelChange(t *testing.T) {
	said := &event.UserMessage{Header: event.Header{UUID: "u"}, Blocks: []event.Content{event.TextContent("<local-command-stdout>Set model to sonnet</local-command-stdout>")}}
	m := &editor.Mapper{}
	if got := shownUpdates(t, m, said); got != "" {
		t.Errorf("between turns: %s", got)
	}
	if got := shownUpdates(t, m, &event.TurnStart{TurnID: "1"}, said); !strings.Contains(got, "Set model to sonnet") {
		t.Errorf("in a turn of /model: %s", got)
	}
}

// TestMapper_statusForward checks that the status of a call never goes back: a permission does not
// change it.
func TestMapper_statusForward(t *testing.T) {
	got := shownUpdates(t, &editor.Mapper{},
		&event.TurnStart{TurnID: "1"},
		&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "t1", Name: "Bash", Block: `{"type":"tool_use","id":"t1","name":"Bash","input":{}}`},
		&event.MessageComplete{Header: event.Header{MessageID: "m"}},
		&event.PermissionRequest{RequestID: "r", ToolUseID: "t1", ToolName: "Bash"},
		&event.PermissionResolved{RequestID: "r", ToolUseID: "t1", Behavior: event.ResolvedAllow},
		&event.ToolComplete{ToolUseID: "t1", Content: `"ok"`},
	)
	order := []string{string(acp.ToolCallStatusPending), string(acp.ToolCallStatusInProgress), string(acp.ToolCallStatusCompleted)}
	at := 0
	for _, line := range strings.Split(got, "\n") {
		var u struct{ Status string }
		if err := json.Unmarshal([]byte(line), &u); err != nil {
			t.Fatal(err)
		}
		for i, s := range order {
			if s == u.Status && i < at {
				t.Errorf("the status goes back to %s:\n%s", s, got)
			} else if s == u.Status {
				at = i
			}
		}
	}
	if at != 2 {
		t.Errorf("the call did not end:\n%s", got)
	}
}

// TestMapper_planEnds removes the plan when it becomes empty and when the conversation is cleared.
func TestMapper_planEnds(t *testing.T) {
	begin := &event.Plan{Entries: []event.PlanEntry{{Content: "First this", Status: event.PlanPending}}}
	const empty = `{"sessionUpdate":"plan","entries":[]}`
	for name, end := range map[string]event.Event{"empty": &event.Plan{Entries: []event.PlanEntry{}}, "cleared": &event.Truncate{All: true}} {
		m := &editor.Mapper{}
		if got := shownUpdates(t, m, begin); !strings.Contains(got, "First this") {
			t.Errorf("%s: the plan is %s", name, got)
		}
		if got := shownUpdates(t, m, end); got != empty {
			t.Errorf("%s: %s, want %s", name, got, empty)
		}
	}
}

// TestMapper_restart checks a view that has fallen behind: a block that it receives again from its
// start is shown once, and of a complete block only the missing part is shown.
func TestMapper_restart(t *testing.T) {
	h := event.Header{MessageID: "m"}
	for name, tt := range map[string]struct {
		events []event.Event
		want   []string
	}{
		"again": {[]event.Event{&event.TextStart{Header: h}, &event.TextDelta{Header: h, Text: "one "}, &event.TextStart{Header: h, Text: "one two "}, &event.TextDelta{Header: h, Text: "three"}},
			[]string{"one ", "two ", "three"}},
		"nothing new": {[]event.Event{&event.TextStart{Header: h, Text: "one"}, &event.TextStart{Header: h, Text: "one"}}, []string{"one"}},
		"older":       {[]event.Event{&event.TextStart{Header: h, Text: "one two"}, &event.TextStart{Header: h, Text: "one"}}, []string{"one two"}},
		"thinking":    {[]event.Event{&event.ThinkingStart{Header: h, Thinking: "one "}, &event.ThinkingStart{Header: h, Thinking: "one two"}}, []string{"one ", "two"}},
		"the rest of a whole": {[]event.Event{&event.TextStart{Header: h, Text: "one "}, &event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: event.TextContent("one two")}}}},
			[]string{"one ", "two"}},
		"another whole": {[]event.Event{&event.TextStart{Header: h, Text: "one "}, &event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: event.TextContent("else")}}}},
			[]string{"one "}},
		"a new block": {[]event.Event{&event.TextStart{Header: h, Text: "one"}, &event.TextStart{Header: h, Index: 1, Text: "one"}}, []string{"one", "one"}},
	} {
		var got []string
		for _, line := range strings.Split(shownUpdates(t, &editor.Mapper{}, tt.events...), "\n") {
			var u struct{ Content struct{ Text string } }
			if err := json.Unmarshal([]byte(line), &u); err != nil {
				t.Fatal(err)
			}
			got = append(got, u.Content.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	got := shownUpdates(t, &editor.Mapper{}, &event.ToolStart{ToolUseID: "t", Name: "Bash"}, &event.ToolInputDelta{ToolUseID: "t", PartialJSON: `{"command":"ls`},
		&event.ToolStart{ToolUseID: "t", Name: "Bash"}, &event.ToolInputDelta{ToolUseID: "t", PartialJSON: `{"command":"ls -l","x":1`})
	if !strings.Contains(got, `"command":"ls -l"`) || strings.Count(got, `"tool_call"`) != 1 {
		t.Errorf("the call is shown as\n%s", got)
	}
}
