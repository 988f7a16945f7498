package webserver

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// obj is a JSON object.
type obj = map[string]any

// scene is one turn of an actor.
type scene struct {
	*actor
	stop  <-chan struct{}
	pace  time.Duration // between two deltas
	turns int
	last  string
}

// block is a block of an answer; pieces are the texts of its deltas.
type block struct {
	whole  obj
	kind   string // the type of its deltas
	member string // the member of a delta with its text
	pieces []string
}

func text(s string) block {
	return block{obj{"type": "text", "text": s}, "text_delta", "text", words(s)}
}

func thinking(s string) block {
	return block{obj{"type": "thinking", "thinking": s, "signature": "sig"}, "thinking_delta", "thinking", words(s)}
}

func tool(id, name string, input obj) block {
	data, _ := json.Marshal(input)
	var pieces []string
	for s := string(data); s != ""; {
		n := min(12, len(s))
		for n < len(s) && s[n]&0xc0 == 0x80 {
			n++
		}
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return block{obj{"type": "tool_use", "id": id, "name": name, "input": input}, "input_json_delta", "partial_json", pieces}
}

func words(s string) []string { return strings.SplitAfter(s, " ") }

// wait pauses, unless the turn is stopped.
func (t *scene) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.stop:
		return errStopped
	case <-t.actor.stop:
		return errStopped
	}
}

// answer streams a message and emits it whole, block by block, like the CLI.
func (t *scene) answer(parent string, blocks ...block) error {
	id := t.next("msg")
	t.turns++
	stream := func(ev obj) {
		t.add(obj{"type": "stream_event", "uuid": uuid(), "session_id": t.id, "parent_tool_use_id": orNil(parent), "event": ev})
	}
	usage := obj{"input_tokens": 900, "cache_read_input_tokens": 82_000, "cache_creation_input_tokens": 400, "output_tokens": 1}
	stream(obj{"type": "message_start", "message": obj{"id": id, "type": "message", "role": "assistant", "model": t.model, "content": []any{}, "usage": usage}})
	for i, b := range blocks {
		if err := t.stream(stream, i, b); err != nil {
			return err
		}
		t.add(obj{"type": "assistant", "uuid": uuid(), "session_id": t.id, "parent_tool_use_id": orNil(parent),
			"message": obj{"id": id, "type": "message", "role": "assistant", "model": t.model, "content": []any{b.whole}, "usage": usage}})
		stream(obj{"type": "content_block_stop", "index": i})
		if s, ok := b.whole["text"].(string); ok && parent == "" {
			t.last = s
		}
	}
	stream(obj{"type": "message_delta", "delta": obj{"stop_reason": "end_turn"}, "usage": obj{"output_tokens": 60}})
	stream(obj{"type": "message_stop"})
	return nil
}

func (t *scene) stream(stream func(obj), index int, b block) error {
	start := obj{}
	for k, v := range b.whole {
		start[k] = v
	}
	switch b.kind {
	case "input_json_delta":
		start["input"] = obj{}
	default:
		start[b.member] = ""
		delete(start, "signature")
	}
	stream(obj{"type": "content_block_start", "index": index, "content_block": start})
	for _, p := range b.pieces {
		if t.pace > 0 {
			if err := t.wait(t.pace); err != nil {
				return err
			}
		}
		stream(obj{"type": "content_block_delta", "index": index, "delta": obj{"type": b.kind, b.member: p}})
	}
	return nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// result emits the result of a tool; structured is its structured form.
func (t *scene) result(parent, id string, content, structured any, failed bool) {
	t.add(obj{"type": "user", "uuid": uuid(), "session_id": t.id, "parent_tool_use_id": orNil(parent), "tool_use_result": structured,
		"message": obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed}}}})
}

// ask asks a person as the CLI does, and returns the answer.
func (t *scene) ask(request obj) (json.RawMessage, error) {
	// Agents number their requests separately, so two sessions have the same ids.
	id, ch := "req"+strings.TrimPrefix(t.next("req"), "req_"+t.id[:8]), make(chan json.RawMessage, 1)
	t.mu.Lock()
	t.answers[id] = ch
	t.mu.Unlock()
	data, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	t.emit(t.converted(func(c *claudeevent.Converter) []event.Event { return c.Ask(id, message.JSON(data)) })...)
	var a json.RawMessage
	select {
	case a = <-ch:
	case <-t.stop:
		err = errStopped
	case <-t.actor.stop:
		err = errStopped
	}
	t.mu.Lock()
	delete(t.answers, id)
	t.mu.Unlock()
	t.emit(t.converted(func(c *claudeevent.Converter) []event.Event { return c.Answer(id, message.JSON(a), "") })...)
	return a, err
}

// permit asks whether a tool may run.
func (t *scene) permit(id, name string, input obj, suggestions ...obj) (allowed bool, message string, err error) {
	a, err := t.ask(obj{"subtype": "can_use_tool", "tool_name": name, "input": input, "tool_use_id": id, "permission_suggestions": suggestions})
	return member(a, "behavior") == "allow", member(a, "message"), err
}
