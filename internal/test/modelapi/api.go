package modelapi

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// api encodes one answer for one of the APIs.
type api interface {
	begin(w io.Writer, model string)
	text(w io.Writer, piece string)
	call(w io.Writer, tool string, args map[string]any)
	end(w io.Writer, called bool)
	// whole is the answer to a request that is not streamed: for a title, or for the choice of a
	// model.
	whole(model string) any
}

type object = map[string]any

// Agents store the calls of a session by their ids.
var ids atomic.Int64

func newID(prefix string) string { return fmt.Sprintf("%s_%d", prefix, ids.Add(1)) }

// send writes an event, with a name or without.
func send(w io.Writer, name string, data object) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", text)
}

func encoded(args object) string {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err) // as above
	}
	return string(text)
}

// messages is Anthropic's API.
type messages struct {
	blocks int
	open   bool
}

func (m *messages) send(w io.Writer, data object) { send(w, data["type"].(string), data) }

func (m *messages) begin(w io.Writer, model string) {
	m.send(w, object{"type": "message_start", "message": object{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 10, "output_tokens": 1},
	}})
}

func (m *messages) start(w io.Writer, block object) {
	m.send(w, object{"type": "content_block_start", "index": m.blocks, "content_block": block})
	m.open = true
}

func (m *messages) delta(w io.Writer, delta object) {
	m.send(w, object{"type": "content_block_delta", "index": m.blocks, "delta": delta})
}

func (m *messages) stop(w io.Writer) {
	if m.open {
		m.send(w, object{"type": "content_block_stop", "index": m.blocks})
		m.blocks++
		m.open = false
	}
}

func (m *messages) text(w io.Writer, piece string) {
	if !m.open {
		m.start(w, object{"type": "text", "text": ""})
	}
	m.delta(w, object{"type": "text_delta", "text": piece})
}

func (m *messages) call(w io.Writer, tool string, args map[string]any) {
	m.stop(w)
	m.start(w, object{"type": "tool_use", "id": newID("toolu"), "name": tool, "input": object{}})
	m.delta(w, object{"type": "input_json_delta", "partial_json": encoded(args)})
}

func (m *messages) end(w io.Writer, called bool) {
	m.stop(w)
	reason := "end_turn"
	if called {
		reason = "tool_use"
	}
	m.send(w, object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 5}})
	m.send(w, object{"type": "message_stop"})
}

func (m *messages) whole(model string) any {
	return object{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": model, "content": []any{object{"type": "text", "text": "A title"}},
		"stop_reason": "end_turn", "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 5},
	}
}

// responses is OpenAI's API of Codex.
type responses struct {
	id, item string
	all      strings.Builder
}

func (a *responses) send(w io.Writer, data object) { send(w, data["type"].(string), data) }

func (a *responses) begin(w io.Writer, _ string) {
	a.id = newID("resp")
	a.send(w, object{"type": "response.created", "response": object{"id": a.id}})
}

func (a *responses) text(w io.Writer, piece string) {
	if a.item == "" {
		a.item = newID("msg")
		a.send(w, object{"type": "response.output_item.added", "output_index": 0, "item": object{"type": "message", "role": "assistant", "id": a.item, "content": []any{}}})
	}
	a.all.WriteString(piece)
	a.send(w, object{"type": "response.output_text.delta", "item_id": a.item, "delta": piece})
}

func (a *responses) call(w io.Writer, tool string, args map[string]any) {
	id := newID("call")
	a.send(w, object{"type": "response.output_item.done", "output_index": 0, "item": object{
		"type": "function_call", "id": "fc_" + id, "call_id": id, "name": tool, "arguments": encoded(args),
	}})
}

func (a *responses) end(w io.Writer, _ bool) {
	if a.item != "" {
		a.send(w, object{"type": "response.output_item.done", "output_index": 0, "item": object{
			"type": "message", "role": "assistant", "id": a.item, "content": []any{object{"type": "output_text", "text": a.all.String()}},
		}})
	}
	a.send(w, object{"type": "response.completed", "response": object{"id": a.id, "usage": object{
		"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15,
	}}})
}

func (a *responses) whole(string) any { return object{"id": newID("resp"), "output": []any{}} }

// chat is OpenAI's API of chat completions, which other providers have as well.
type chat struct{ id, model string }

func (c *chat) send(w io.Writer, delta object, finish any) {
	send(w, "", object{
		"id": c.id, "object": "chat.completion.chunk", "created": 1, "model": c.model,
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		"usage":   object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	})
}

func (c *chat) begin(_ io.Writer, model string) { c.id, c.model = newID("chat"), model }

func (c *chat) text(w io.Writer, piece string) {
	c.send(w, object{"role": "assistant", "content": piece}, nil)
}

func (c *chat) call(w io.Writer, tool string, args map[string]any) {
	c.send(w, object{"role": "assistant", "tool_calls": []any{object{
		"index": 0, "id": newID("call"), "type": "function", "function": object{"name": tool, "arguments": encoded(args)},
	}}}, nil)
}

func (c *chat) end(w io.Writer, called bool) {
	reason := "stop"
	if called {
		reason = "tool_calls"
	}
	c.send(w, object{}, reason)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (c *chat) whole(model string) any {
	return object{
		"id": newID("chat"), "object": "chat.completion", "created": 1, "model": model,
		"choices": []any{object{"index": 0, "message": object{"role": "assistant", "content": "A title"}, "finish_reason": "stop"}},
		"usage":   object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	}
}

// gemini is Google's API.
type gemini struct{}

func (gemini) answer(part object, finish any) object {
	candidate := object{"content": object{"role": "model", "parts": []any{part}}, "index": 0}
	if finish != nil {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []any{candidate}, "usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}
}

func (g *gemini) begin(io.Writer, string) {}

func (g *gemini) text(w io.Writer, piece string) { send(w, "", g.answer(object{"text": piece}, nil)) }

func (g *gemini) call(w io.Writer, tool string, args map[string]any) {
	send(w, "", g.answer(object{"functionCall": object{"name": tool, "args": args}}, nil))
}

func (g *gemini) end(w io.Writer, _ bool) { send(w, "", g.answer(object{"text": ""}, "STOP")) }

// whole answers the requests that are not streamed: which model to use, and who speaks next.
func (g *gemini) whole(string) any {
	return g.answer(object{"text": `{"reasoning":"x","next_speaker":"user","model_choice":"flash","complexity_reasoning":"x","complexity_score":10}`}, "STOP")
}
