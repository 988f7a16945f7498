package agui

import (
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/parts"
)

// ProtocolVersion is the version of AG-UI of an [Encoder].
const ProtocolVersion = "1.0"

// Encoder encodes one run. It is not safe for concurrent use.
type Encoder struct {
	thread, run string
	open        []object // events that end the open messages and calls, in order
}

type object = map[string]any

// NewEncoder returns an encoder for a run of a thread, both named by the client.
func NewEncoder(thread, run string) *Encoder { return &Encoder{thread: thread, run: run} }

// Begin returns the events that start a run.
func (e *Encoder) Begin(string) []json.RawMessage {
	return e.events(object{"type": "RUN_STARTED", "threadId": e.thread, "runId": e.run, "protocolVersion": ProtocolVersion})
}

// Ask returns the events that end a run with a request to a person. The client sends id with its
// answer.
func (e *Encoder) Ask(p parts.Part, id string) []json.RawMessage {
	i := object{"id": id, "toolCallId": p.Call}
	if q := p.Question; q != nil {
		i["reason"], i["message"], i["metadata"] = "input_required", questionText(q), object{"question": event.Prompt{Question: q}}
		i["responseSchema"] = object{"type": "object", "required": []string{"answers"}, "properties": object{"answers": object{"type": "object"}}}
	} else {
		i["reason"], i["message"], i["metadata"] = "tool_call", p.Permission.Description, object{"permission": event.Prompt{Permission: p.Permission}}
		i["responseSchema"] = object{"type": "object", "required": []string{"approved"}, "properties": object{
			"approved": object{"type": "boolean"}, "reason": object{"type": "string"}}}
	}
	return e.finished(object{"outcome": object{"type": "interrupt", "interrupts": []object{i}}})
}

func questionText(q *event.QuestionRequest) string {
	text := q.Message
	for _, one := range q.Questions {
		if text != "" {
			text += "\n"
		}
		text += one.Question
	}
	return text
}

// Part returns the events of a part that is not a request.
func (e *Encoder) Part(p parts.Part) []json.RawMessage {
	switch p.Kind {
	case parts.TextStart:
		return e.start(p, object{"type": "TEXT_MESSAGE_END", "messageId": p.ID}, object{"type": "TEXT_MESSAGE_START", "messageId": p.ID, "role": "assistant"})
	case parts.TextDelta:
		return e.events(tagged(p, object{"type": "TEXT_MESSAGE_CONTENT", "messageId": p.ID, "delta": p.Text}))
	case parts.ThinkingStart:
		return e.start(p, object{"type": "REASONING_MESSAGE_END", "messageId": p.ID},
			object{"type": "REASONING_START", "messageId": p.ID}, object{"type": "REASONING_MESSAGE_START", "messageId": p.ID, "role": "reasoning"})
	case parts.ThinkingDelta:
		return e.events(tagged(p, object{"type": "REASONING_MESSAGE_CONTENT", "messageId": p.ID, "delta": p.Text}))
	case parts.TextEnd, parts.ThinkingEnd:
		return e.end("messageId", p.ID)
	case parts.ToolStart:
		return e.start(p, object{"type": "TOOL_CALL_END", "toolCallId": p.ID}, object{"type": "TOOL_CALL_START", "toolCallId": p.ID, "toolCallName": p.Name})
	case parts.ToolInput:
		var all []json.RawMessage
		if p.Input != "" {
			all = e.events(tagged(p, object{"type": "TOOL_CALL_ARGS", "toolCallId": p.ID, "delta": string(p.Input)}))
		}
		return append(all, e.end("toolCallId", p.ID)...)
	case parts.ToolResult:
		result := object{"type": "TOOL_CALL_RESULT", "messageId": "result:" + p.ID, "toolCallId": p.ID, "content": p.Text, "role": "tool"}
		if p.IsError {
			result["metadata"] = object{"isError": true}
		}
		return e.events(tagged(p, result))
	case parts.Error:
		return e.events(object{"type": "CUSTOM", "name": "parley.error", "value": object{"message": p.Text}})
	case parts.Finish:
		return e.finish(p.End)
	}
	return nil
}

// finish ends the run with the turn.
func (e *Encoder) finish(end *parts.End) []json.RawMessage {
	switch end.Reason {
	case parts.Failed:
		return append(e.closed(), e.events(object{"type": "RUN_ERROR", "message": end.Message, "code": "turn_failed"})...)
	case parts.Cancelled:
		return e.finished(object{"outcome": object{"type": "cancelled"}})
	}
	last := object{"outcome": object{"type": "success"}}
	if end.Result != nil {
		last["result"] = object{"text": end.Result.Result, "stopReason": string(end.Reason)}
		if u := usage(end.Result); u != nil {
			last["usage"] = []object{u}
		}
	}
	return e.finished(last)
}

// usage returns the usage of a turn. Input includes cached tokens.
func usage(r *event.ResultMessage) object {
	if r.Usage.IsNull() {
		return nil
	}
	read, written := r.Usage.Number("cache_read_input_tokens"), r.Usage.Number("cache_creation_input_tokens")
	in, out := r.Usage.Number("input_tokens")+read+written, r.Usage.Number("output_tokens")
	return object{"inputTokens": in, "outputTokens": out, "totalTokens": in + out, "cachedInputTokens": read, "cacheWriteInputTokens": written}
}

// finished returns the last event of a run, after the ends of open messages and calls.
func (e *Encoder) finished(last object) []json.RawMessage {
	last["type"], last["threadId"], last["runId"] = "RUN_FINISHED", e.thread, e.run
	return append(e.closed(), e.events(last)...)
}

// start returns the events that start a message or a call, and stores its end.
func (e *Encoder) start(p parts.Part, end object, begin ...object) []json.RawMessage {
	e.open = append(e.open, tagged(p, end))
	for _, o := range begin {
		tagged(p, o)
	}
	return e.events(begin...)
}

// end ends one message or call.
func (e *Encoder) end(member, id string) []json.RawMessage {
	i := slices.IndexFunc(e.open, func(o object) bool { return o[member] == id })
	if i < 0 {
		return nil
	}
	o := e.open[i]
	e.open = slices.Delete(e.open, i, i+1)
	if o["type"] != "REASONING_MESSAGE_END" {
		return e.events(o)
	}
	span := object{"type": "REASONING_END", "messageId": id}
	if parent, ok := o["subagentRunId"]; ok {
		span["subagentRunId"] = parent
	}
	return e.events(o, span)
}

// closed ends all open messages and calls.
func (e *Encoder) closed() []json.RawMessage {
	var all []json.RawMessage
	for len(e.open) > 0 {
		member := "messageId"
		if _, ok := e.open[0][member]; !ok {
			member = "toolCallId"
		}
		all = append(all, e.end(member, e.open[0][member].(string))...)
	}
	return all
}

// tagged adds the subagent of a part to an event.
func tagged(p parts.Part, o object) object {
	if p.Parent != "" {
		o["subagentRunId"] = p.Parent
	}
	return o
}

func (e *Encoder) events(all ...object) []json.RawMessage {
	encoded := make([]json.RawMessage, len(all))
	for i, o := range all {
		encoded[i] = json.RawMessage(event.Encoded(o))
	}
	return encoded
}
