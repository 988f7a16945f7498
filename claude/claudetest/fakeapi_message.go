package claudetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// apiMessage is a reply with its ids, model and deltas resolved.
type apiMessage struct {
	id, model  string
	stopReason string
	usage      map[string]any
	parts      []apiPart
}

// apiPart is a content block in its two forms: as deltas, and whole for an answer that is
// not streamed.
type apiPart struct {
	start  any
	deltas []any
	whole  any
}

// apiEvent is one server-sent event.
type apiEvent struct {
	name string
	data json.RawMessage
}

// The wire types, with the members in the API's order.
type (
	envelope struct {
		ID           string          `json:"id"`
		Type         string          `json:"type"`
		Role         string          `json:"role"`
		Model        string          `json:"model"`
		Content      []any           `json:"content"`
		StopReason   *string         `json:"stop_reason"`
		StopSequence *string         `json:"stop_sequence"`
		Usage        json.RawMessage `json:"usage"`
	}
	textPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingPart struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	toolPart struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	textDelta      textPart
	signatureDelta struct {
		Type      string `json:"type"`
		Signature string `json:"signature"`
	}
	thinkingDelta struct {
		Type     string `json:"type"`
		Thinking string `json:"thinking"`
	}
	inputDelta struct {
		Type        string `json:"type"`
		PartialJSON string `json:"partial_json"`
	}
)

// begin resolves a reply for a request and assigns its ids.
func (a *FakeAPI) begin(r Reply, q apiAsk) apiMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := apiMessage{id: r.ID, model: r.Model, stopReason: r.StopReason, usage: r.Usage}
	if m.id == "" {
		a.messages++
		m.id = fmt.Sprintf("msg_%04d", a.messages)
	}
	if m.model == "" {
		m.model = q.Model
	}
	if m.stopReason == "" {
		m.stopReason = "end_turn"
		if slices.ContainsFunc(r.Blocks, func(b Block) bool { return b.ToolUse != nil }) {
			m.stopReason = "tool_use"
		}
	}
	for _, b := range r.Blocks {
		m.parts = append(m.parts, a.part(b))
	}
	return m
}

// part resolves one block. The caller holds a.mu.
func (a *FakeAPI) part(b Block) apiPart {
	switch {
	case b.Raw != nil:
		return apiPart{start: b.Raw, whole: b.Raw}
	case b.ToolUse != nil:
		return b.toolPart(a.toolID(b.ToolUse))
	case b.Thinking != nil:
		return b.thinkingPart()
	default:
		return b.textPart()
	}
}

func (a *FakeAPI) toolID(call *ToolCall) string {
	if call.ID != "" {
		return call.ID
	}
	a.tools++
	return fmt.Sprintf("toolu_%04d", a.tools)
}

func (b Block) textPart() apiPart {
	var text string
	switch {
	case b.Text != nil:
		text = *b.Text
	case b.TextRepeat != nil:
		text = strings.Repeat(b.TextRepeat.S, b.TextRepeat.N)
	}
	p := apiPart{start: textPart{Type: "text"}}
	pieces := b.pieces(text)
	for _, piece := range pieces {
		p.deltas = append(p.deltas, textDelta{"text_delta", piece})
	}
	p.whole = textPart{"text", strings.Join(pieces, "")}
	return p
}

func (b Block) thinkingPart() apiPart {
	p := apiPart{start: thinkingPart{Type: "thinking"}}
	pieces := b.pieces(*b.Thinking)
	for _, piece := range pieces {
		p.deltas = append(p.deltas, thinkingDelta{"thinking_delta", piece})
	}
	if b.Signature != "" {
		p.deltas = append(p.deltas, signatureDelta{"signature_delta", b.Signature})
	}
	p.whole = thinkingPart{"thinking", strings.Join(pieces, ""), b.Signature}
	return p
}

func (b Block) toolPart(id string) apiPart {
	empty := toolPart{"tool_use", id, b.ToolUse.Name, json.RawMessage("{}")}
	p := apiPart{start: empty, whole: empty}
	pieces := b.pieces(b.ToolUse.input())
	for _, piece := range pieces {
		p.deltas = append(p.deltas, inputDelta{"input_json_delta", piece})
	}
	if input := json.RawMessage(strings.Join(pieces, "")); json.Valid(input) {
		p.whole = toolPart{"tool_use", id, b.ToolUse.Name, input}
	}
	return p
}

// input returns the text of the tool's input, in the API's compact form.
func (c *ToolCall) input() string {
	switch {
	case c.RawInput != nil:
		return *c.RawInput
	case c.Input == nil:
		return "{}"
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, c.Input); err != nil {
		return string(c.Input) // unreachable: the script was checked
	}
	return buf.String()
}

// pieces cuts the block's content into its deltas.
func (b Block) pieces(content string) []string {
	if b.Chunks != nil {
		return b.Chunks
	}
	if b.Chunk == 0 {
		return []string{content}
	}
	var pieces []string
	start, points := 0, 0
	for i := range content {
		if points == b.Chunk {
			pieces = append(pieces, content[start:i])
			start, points = i, 0
		}
		points++
	}
	if start < len(content) {
		pieces = append(pieces, content[start:])
	}
	return pieces
}

// envelope returns the message as JSON without content.
func (m apiMessage) envelope() envelope {
	return envelope{ID: m.id, Type: "message", Role: "assistant", Model: m.model, Content: []any{}}
}

// whole returns the message as an answer that is not streamed.
func (m apiMessage) whole() json.RawMessage {
	e := m.envelope()
	for _, p := range m.parts {
		e.Content = append(e.Content, p.whole)
	}
	e.StopReason, e.Usage = &m.stopReason, usageJSON(m.usage)
	return mustEncode(e)
}

// events returns the message as a stream.
func (m apiMessage) events() []apiEvent {
	type object = map[string]any
	var events []apiEvent
	add := func(name string, v any) { events = append(events, apiEvent{name, mustEncode(v)}) }

	start := m.envelope()
	start.Usage = usageJSON(m.usage, object{"output_tokens": 1})
	add("message_start", struct {
		Type    string   `json:"type"`
		Message envelope `json:"message"`
	}{"message_start", start})
	for i, p := range m.parts {
		add("content_block_start", blockStart{"content_block_start", i, p.start})
		for _, delta := range p.deltas {
			add("content_block_delta", blockDelta{"content_block_delta", i, delta})
		}
		add("content_block_stop", blockStop{"content_block_stop", i})
	}
	add("message_delta", struct {
		Type  string          `json:"type"`
		Delta object          `json:"delta"`
		Usage json.RawMessage `json:"usage"`
	}{"message_delta", object{"stop_reason": m.stopReason, "stop_sequence": nil}, usageJSON(m.usage)})
	add("message_stop", object{"type": "message_stop"})
	return events
}

type (
	blockStart struct {
		Type         string `json:"type"`
		Index        int    `json:"index"`
		ContentBlock any    `json:"content_block"`
	}
	blockDelta struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta any    `json:"delta"`
	}
	blockStop struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
)

// usageJSON returns the default usage overridden by the maps; later maps win.
func usageJSON(over ...map[string]any) json.RawMessage {
	names := []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}
	usage := map[string]any{names[0]: 10, names[1]: 0, names[2]: 0, names[3]: 5}
	for _, o := range over {
		maps.Copy(usage, o)
	}
	for _, name := range slices.Sorted(maps.Keys(usage)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	members := make([]string, len(names))
	for i, name := range names {
		members[i] = string(mustEncode(name)) + ":" + string(mustEncode(usage[name]))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}
