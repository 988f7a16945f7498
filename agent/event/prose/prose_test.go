package prose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/event/prose"
)

func conversation() *event.Conversation {
	c := &event.Conversation{}
	main := event.Header{MessageID: "m", UUID: "a"}
	for _, ev := range []event.Event{
		&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Timestamp: "2026-01-01T00:00:00Z", Blocks: []event.Content{{Type: "text", Text: "Look."}, {Type: "image"}}},
		&event.AssistantMessage{Header: main, Blocks: []event.IndexedBlock{
			{Index: 0, Block: event.Content{Type: "thinking", Text: "Hm.\nWell."}},
			{Index: 1, Block: event.Content{Type: "tool_use", ToolUseID: "t1", Name: "Agent", Input: `{"prompt":"dig"}`}},
			{Index: 2, Block: event.Content{Type: "tool_use", ToolUseID: "t2", Name: "Shell", Input: `{"command":"cat x"}`}},
			{Index: 3, Block: event.Content{Type: "text", Text: "Found it.\n"}},
		}},
		&event.AssistantMessage{Header: event.Header{ParentToolUseID: "t1", MessageID: "s"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "Dug."}}}},
		&event.ToolComplete{Header: main, ToolUseID: "t2", IsError: true, Content: `[{"type":"text","text":"a\n` + "```" + `\nb"},{"type":"image"}]`},
		&event.CompactBoundary{},
		&event.ResultMessage{Subtype: "interrupted", IsError: true, Errors: []string{"stopped"}},
	} {
		c.Apply(ev)
	}
	return c
}

func TestMarkdown(t *testing.T) {
	want := strings.Join([]string{
		"## User", "Look.", "[image]", "## Agent", "> Hm.\n> Well.", "**Agent**", "```\n{\"prompt\":\"dig\"}\n```", "### Subagent", "Dug.", "## Agent",
		"**Shell** (failed)", "```\ncat x\n```", "````\na\n```\nb\n[image]\n````", "Found it.", "*The conversation was compacted here.*", "*The turn ended: interrupted stopped*", "",
	}, "\n\n")
	if diff := cmp.Diff(want, prose.Markdown(conversation(), prose.Options{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	short := prose.Markdown(conversation(), prose.Options{NoThinking: true, NoTools: true, NoSubagents: true})
	if want := "## User\n\nLook.\n\n[image]\n\n## Agent\n\nFound it.\n\n*The conversation was compacted here.*\n\n*The turn ended: interrupted stopped*\n\n"; short != want {
		t.Errorf("%q; want short == want", short)
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	got := prose.Cut(long, 100)
	if len(got) > 150 || !strings.Contains(got, "bytes left out") || strings.Contains(got, "\ufffd") {
		t.Errorf("%q; want len(got) <= 150 and strings.Contains(got, \"bytes left out\") and not strings.Contains(got, \"\\ufffd\")", got)
	}
	if prose.Cut("abc", 3) != "abc" || prose.Cut("abcd", 0) != "abcd" {
		t.Error("what fits is cut")
	}
}

func ExampleMarkdown() {
	c := &event.Conversation{}
	c.Apply(&event.UserMessage{Header: event.Header{UUID: "1"}, Blocks: []event.Content{{Type: "text", Text: "Hello"}}})
	c.Apply(&event.AssistantMessage{Header: event.Header{MessageID: "2"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "Hi."}}}})
	fmt.Print(prose.Markdown(c, prose.Options{}))
	// Output:
	// ## User
	//
	// Hello
	//
	// ## Agent
	//
	// Hi.
}
