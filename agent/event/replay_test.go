package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent/event"
)

// replayed returns the messages that show a conversation again.
func replayed(t *testing.T, c *event.Conversation) (list []string) {
	t.Helper()
	encoder := event.NewEncoder("00000000", 0)
	for ev := range c.Events() {
		for _, text := range send(t, encoder, ev) {
			list = append(list, fmt.Sprintf("%T %s", ev, text))
		}
	}
	return list
}

// outline returns the main thread of a conversation as text: roles, blocks, tools and results.
func outline(c *event.Conversation) string {
	var b strings.Builder
	thread := c.Thread("")
	if thread == nil {
		return ""
	}
	for _, it := range thread.Items {
		m := it.Message
		if m == nil {
			continue
		}
		fmt.Fprintf(&b, "%s %s%s model=%s stop=%s at=%s\n", m.Role, m.ID, m.UUID, m.Model, m.StopReason, m.Timestamp())
		for _, block := range m.Blocks {
			fmt.Fprintf(&b, "  %d %s %q %s\n", block.Index, block.Type, block.Text.String(), block.Data)
			if tool := block.Tool; tool != nil {
				fmt.Fprintf(&b, "    %s %s %q %s input=%s%s result=%s %s\n", tool.ID, tool.Name, tool.Title, tool.Status, tool.Input, tool.InputText.String(), tool.Result, tool.ToolUseResult)
			}
		}
	}
	if thread.Plan != nil {
		fmt.Fprintf(&b, "plan %d %s\n", len(thread.Plan.Entries), thread.Plan.Entries[0].Content)
	}
	return b.String()
}

// isInput reports whether an event has the complete input of the test's tool.
func isInput(ev event.Event) bool {
	in, ok := ev.(*event.ToolInputComplete)
	return ok && in.Input == `{"command":"ls"}` && in.ToolUseID == "tool-1" && in.Index == 2 && in.MessageID == "m1"
}

// TestConversation_events rebuilds a conversation after each of its events: the copy has the same
// main thread, and its events rebuild it again.
func TestConversation_events(t *testing.T) {
	h := func(uuid, message string) event.Header {
		return event.Header{Provider: "claude", SessionID: "s", UUID: uuid, MessageID: message}
	}
	tool := event.Content{Type: "tool_use", ToolUseID: "tool-1", Name: "Bash", Title: "Run it", Input: `{"command":"ls"}`}
	all := []event.Event{
		&event.TurnStart{Header: h("", ""), TurnID: "t", By: event.ByUser, PromptID: "u1"},
		&event.UserMessage{Header: h("u1", ""), IsPrompt: true, IsText: true, Timestamp: "2026-03-14T00:00:00Z", Blocks: []event.Content{event.TextContent("a prompt")}},
		&event.MessageStart{Header: h("", "m1"), Model: "model-1"},
		&event.ThinkingStart{Header: h("", "m1"), Index: 0, Thinking: "hm"},
		&event.ThinkingDelta{Header: h("", "m1"), Index: 0, Thinking: ", well"},
		&event.BlockStop{Header: h("", "m1"), Index: 0},
		&event.TextStart{Header: h("", "m1"), Index: 1, Text: "I"},
		&event.TextDelta{Header: h("", "m1"), Index: 1, Text: " will"},
		&event.BlockStop{Header: h("", "m1"), Index: 1},
		&event.ToolStart{Header: h("", "m1"), Index: 2, ToolUseID: "tool-1", Name: "Bash", BlockType: "tool_use", Title: "Run it"},
		&event.ToolInputDelta{Header: h("", "m1"), Index: 2, ToolUseID: "tool-1", PartialJSON: `{"comm`},
		&event.ToolInputComplete{Header: h("", "m1"), Index: 2, ToolUseID: "tool-1", Input: `{"command":"ls"}`},
		&event.AssistantMessage{Header: h("a1", "m1"), Model: "model-1", Blocks: []event.IndexedBlock{{Index: 0, Block: event.ContentOf(`{"type":"thinking","thinking":"hm, well"}`)}}},
		&event.AssistantMessage{Header: h("a2", "m1"), Model: "model-1", Blocks: []event.IndexedBlock{{Index: 1, Block: event.TextContent("I will")}, {Index: 2, Block: tool}}},
		&event.MessageComplete{Header: h("", "m1"), StopReason: "tool_use"},
		&event.ToolComplete{Header: h("", ""), ToolUseID: "tool-1", Content: `"out"`, ToolUseResult: `{"code":0}`},
		&event.Plan{Header: h("", ""), Entries: []event.PlanEntry{{ID: "1", Content: "Read", Status: event.PlanCompleted}}},
		&event.MessageStart{Header: h("", "m2"), Model: "model-2"},
		&event.TextStart{Header: h("", "m2"), Index: 0, Text: "Done"},
		&event.TextDelta{Header: h("", "m2"), Index: 0, Text: "."},
		&event.ToolStart{Header: h("", "m2"), Index: 1, ToolUseID: "tool-2", Name: "Write", BlockType: "tool_use"},
		&event.ToolInputComplete{Header: h("", "m2"), Index: 1, ToolUseID: "tool-2", Input: `{"file":"f"}`},
		&event.ToolComplete{Header: h("", ""), ToolUseID: "tool-2", Content: `"no"`, IsError: true},
	}
	var c event.Conversation
	if got := replayed(t, &c); len(got) != 0 {
		t.Errorf("an empty conversation is shown as %q", got)
	}
	for i, ev := range all {
		c.Apply(ev)
		shown := replayed(t, &c)
		var again event.Conversation
		for shown := range c.Events() {
			again.Apply(shown)
		}
		if diff := cmp.Diff(shown, replayed(t, &again)); diff != "" {
			t.Errorf("after event %d (%T) the copy shows itself differently (-first +copy):\n%s", i, ev, diff)
		}
		want, got := outline(&c), outline(&again)
		if _, ok := ev.(*event.AssistantMessage); ok && i == 13 { // its answer streams: only the end of a block gives a copy the input of its tool
			if !slices.ContainsFunc(slices.Collect(c.Events()), isInput) {
				t.Errorf("the input of the tool is not shown: %q", shown)
			}
			continue
		}
		strip := func(s string) string { return strings.NewReplacer("stop=tool_use", "stop=").Replace(s) }
		if diff := cmp.Diff(strings.Split(strip(want), "\n"), strings.Split(strip(got), "\n")); diff != "" {
			t.Errorf("after event %d (%T) the copy differs (-first +copy):\n%s", i, ev, diff)
		}
	}
	want := []string{"UserMessage", "AssistantMessage", "ToolComplete", "MessageStart", "TextStart", "ToolStart", "ToolComplete", "Plan"}
	var kinds []string
	for ev := range c.Events() {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", ev), "*event."))
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("the conversation is shown as %q, want %q", kinds, want)
	}
	for range c.Events() {
		break // the caller may stop early
	}
	c.Apply(&event.AssistantMessage{Header: event.Header{ParentToolUseID: "tool-1", MessageID: "sub"}, Blocks: []event.IndexedBlock{{Block: event.TextContent("of a subagent")}}})
	if text := strings.Join(replayed(t, &c), "\n"); strings.Contains(text, "subagent") {
		t.Errorf("a subagent is shown: %s", text)
	}
}

// TestNewJSON checks which texts count as JSON and which become strings.
func TestNewJSON(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]event.JSON{
		"": "", "{}": "{}", ` [1, "a"] `: ` [1, "a"] `, "null": "null", "1": "1", "x": `"x"`, "{": `"{"`, "1 2": `"1 2"`, "\"a\xff\"": `"a` + "\uFFFD" + `"`, "\xff": `"` + "\uFFFD" + `"`,
		deep(event.MaxDepth): event.JSON(deep(event.MaxDepth)), deep(event.MaxDepth + 1): event.JSON(`"` + deep(event.MaxDepth+1) + `"`),
	} {
		if got := event.NewJSON(text); got != want {
			t.Errorf("NewJSON(%.40q) = %.40q, want %.40q", text, got, want)
		}
	}
	for _, tt := range []struct {
		text   string
		levels int
		want   bool
	}{{"[]", 1, false}, {"[[]]", 1, true}, {"[[]]", 2, false}, {"[{}]", 1, true}, {"[][][]", 1, false}, {"", 0, false}, {"[]", 0, true}, {"1", 0, false}, {"[[", 1, false}, {"[[1", 1, true}} {
		if got := event.Deeper(tt.text, tt.levels); got != tt.want {
			t.Errorf("Deeper(%q, %d) = %t, want %t", tt.text, tt.levels, got, tt.want)
		}
	}
	for name, want := range map[string]string{"": "", "Bash": "BASH", "WebFetch": "WEB_FETCH", "LSP": "LSP", "MCPTool": "MCP_TOOL", "a_B": "A_B", "ab2C": "AB2_C", "Az": "AZ", "zA": "Z_A", "AaZz": "AA_ZZ"} {
		if got := event.UpperSnake(name); got != want {
			t.Errorf("UpperSnake(%q) = %q, want %q", name, got, want)
		}
	}
}
