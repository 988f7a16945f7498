package message_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/largealloc"
)

// TestLine_copies checks that a large text is copied only once when the line of a prompt is made.
func TestLine_copies(t *testing.T) {
	if !largealloc.Exact {
		t.Skip("the race detector makes copies")
	}
	for name, text := range map[string]string{"plain": strings.Repeat("é a", 1<<20), "escaped": strings.Repeat("\"\n\x01\\", 1<<20)} {
		in := message.UserInput{UUID: "u", Content: []message.InputBlock{&message.Text{Text: "short"}, &message.Text{Text: text}}}
		var line []byte
		stacks := largealloc.Stacks(int64(len(text)/2), func() { line, _ = in.Line() })
		if len(stacks) != 1 {
			t.Errorf("%s: %d copies of the text, want 1:\n%s", name, len(stacks), strings.Join(stacks, "\n"))
		}
		var got struct {
			Message struct {
				Content []struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c := got.Message.Content; len(c) != 2 || c[0].Text != "short" || c[1].Type != "text" || c[1].Text != text {
			t.Errorf("%s: the line has %d blocks, or another text", name, len(c))
		}
	}
}

// TestLine_names checks that the blocks are inserted correctly for any values of the
// other members.
func TestLine_names(t *testing.T) {
	const trap = `"content":[]`
	in := message.UserInput{UUID: trap, SessionID: trap, ParentToolUseID: trap, Priority: trap, Content: []message.InputBlock{&message.Text{Text: trap}}}
	line, err := in.Line()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		UUID, Priority  string
		SessionID       string `json:"session_id"`
		ParentToolUseID string `json:"parent_tool_use_id"`
		Message         struct {
			Role    string
			Content []struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	c := got.Message.Content
	if got.UUID != trap || got.SessionID != trap || got.ParentToolUseID != trap || got.Priority != trap || got.Message.Role != "user" || len(c) != 1 || c[0].Text != trap {
		t.Errorf("the line is %s", line)
	}
}

// TestParts checks that the parts of a large prompt add up to its line and share the memory of the text, and that other prompts
// have no parts.
func TestParts(t *testing.T) {
	if !largealloc.Exact {
		t.Skip("the race detector makes copies")
	}
	text := strings.Repeat("\"é\n a", 1<<20)
	large := message.UserInput{UUID: `"text":""`, SessionID: "s", ParentToolUseID: "p", Priority: "now", NoQuery: true, Verbatim: true,
		Content: []message.InputBlock{&message.Text{Text: text}}}
	want, err := large.Line()
	if err != nil {
		t.Fatal(err)
	}
	size, got := 0, make([]byte, 0, len(want))
	stacks := largealloc.Stacks(int64(len(text)/2), func() {
		parts, ok := large.Parts()
		if !ok {
			t.Fatal("a large prompt has no parts")
		}
		for part := range parts {
			size += len(part)
			got = append(got, part...)
		}
	})
	if len(stacks) != 0 {
		t.Errorf("%d copies of the text, want none:\n%s", len(stacks), strings.Join(stacks, "\n"))
	}
	if size != len(want) || string(got) != string(want) {
		t.Errorf("the parts have %d bytes, want the %d of the line", size, len(want))
	}
	for name, in := range map[string]message.UserInput{
		"small":      {Content: []message.InputBlock{&message.Text{Text: "small"}}},
		"two blocks": {Content: []message.InputBlock{&message.Text{Text: text}, &message.Text{Text: text}}},
		"citations":  {Content: []message.InputBlock{&message.Text{Text: text, Citations: []message.Citation{{Type: "x"}}}}},
		"raw":        {Raw: json.RawMessage(`{}`), Content: []message.InputBlock{&message.Text{Text: text}}},
		"empty":      {},
	} {
		if _, ok := in.Parts(); ok {
			t.Errorf("%s: it has parts", name)
		}
	}
}
