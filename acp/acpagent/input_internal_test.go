package acpagent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/largealloc"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

var _ jsonrpc.Appender = (*promptRequest)(nil)

// TestPromptRequest checks that a prompt is written in the protocol's form, and read back as the content of its
// event.
func TestPromptRequest(t *testing.T) {
	short.SkipQuick(t, "encodes large prompts")
	can := acp.PromptCapabilities{Image: acp.Some(true), Audio: acp.Some(true)}
	large := strings.Repeat("<é\n\u2028", largeText)
	block := func(text string) json.RawMessage { return json.RawMessage(text) }
	for name, in := range map[string]agent.Input{
		"text": {Text: "a <b> & \"é\n"}, "large text": {Text: large},
		"blocks": {Content: []json.RawMessage{block(`{"type":"text","text":"one"}`), block(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`),
			block(`{"type":"audio","source":{"type":"base64","media_type":"audio/wav","data":"aGo="}}`), block(`{"type":"text","text":"two"}`)}},
	} {
		for _, uuid := range []string{"none", "", "u \"1\""} {
			hosted := uuid != "none"
			if !hosted {
				uuid = ""
			}
			blocks, content, err := inputBlocks(in, can)
			if err != nil {
				t.Fatal(err)
			}
			line, err := (&promptRequest{session: "s\n1", hosted: hosted, uuid: uuid, blocks: blocks}).AppendJSON([]byte("x"))
			if err != nil || line[0] != 'x' || strings.Contains(string(line), "\n") {
				t.Fatalf("%s: %.100s, %v", name, line, err)
			}
			var got acp.PromptRequest
			if err := json.Unmarshal(line[1:], &got); err != nil {
				t.Fatal(err)
			}
			want := acp.PromptRequest{SessionID: "s\n1", Prompt: blocks}
			if hosted {
				want.Meta = map[string]json.RawMessage{promptMeta: json.RawMessage(event.Quote(uuid))}
			}
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			if string(a) != string(b) {
				t.Errorf("%s: the request is %.200s, want %.200s", name, a, b)
			}
			id, again := readPrompt(string(line[1:]))
			if id != uuid || plainContent(t, again) != plainContent(t, content) {
				t.Errorf("%s: %q is read with %.1000s, want %.1000s", name, id, plainContent(t, again), plainContent(t, content))
			}
		}
	}
}

// plainContent returns the content of a prompt with sorted members.
func plainContent(t *testing.T, content []event.Content) string {
	t.Helper()
	var all []any
	for _, c := range content {
		raw := any(c.Text)
		if c.Raw != "" {
			raw = c.Raw.Value()
		}
		all = append(all, []any{c.Type, c.Text, raw})
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPromptRequest_copies checks that a large prompt is copied once on its way to the agent, and not for its event.
func TestPromptRequest_copies(t *testing.T) {
	short.SkipLong(t, "makes large prompts")
	if !largealloc.Exact {
		t.Skip("the race detector makes copies")
	}
	const size = 8 << 20
	text := strings.Repeat("a", size)
	var line []byte
	stacks := largealloc.Stacks(size/2, func() {
		blocks, _, err := inputBlocks(agent.Input{Text: text}, acp.PromptCapabilities{})
		if err == nil {
			line, err = (&promptRequest{session: "s", hosted: true, uuid: "u", blocks: blocks}).AppendJSON(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	params := string(line)
	stacks = append(stacks, largealloc.Stacks(size/2, func() { readPrompt(params) })...)
	if len(stacks) != 1 {
		t.Errorf("a prompt is copied %d times, want once:\n%s", len(stacks), strings.Join(stacks, "\n"))
	}
}
