package aisdk

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/parts"
)

// Header and HeaderValue mark a response as a UI message stream.
const (
	Header      = "X-Vercel-Ai-Ui-Message-Stream"
	HeaderValue = "v1"
)

// Done is the data of the event that ends a stream. It is not JSON.
const Done = "[DONE]"

// Encoder encodes one response. It has no state.
type Encoder struct{}

type object = map[string]any

// Begin returns the part that starts a stream. An empty message id continues the client's message.
func (e Encoder) Begin(messageID string) []json.RawMessage {
	start := object{"type": "start"}
	if messageID != "" {
		start["messageId"] = messageID
	}
	return encoded(start)
}

// Ask returns the parts that end a stream with a request to a person. The client sends id with its
// answer.
func (e Encoder) Ask(p parts.Part, id string) []json.RawMessage {
	request := object{"type": "tool-approval-request", "approvalId": id, "toolCallId": p.Call}
	more := object{"type": "data-question", "id": id, "data": event.Prompt{Question: p.Question}}
	if p.Permission != nil {
		if p.Permission.Description != "" {
			request["reason"] = p.Permission.Description
		}
		more = object{"type": "data-permission", "id": id, "data": event.Prompt{Permission: p.Permission}}
	}
	return encoded(request, more, object{"type": "finish", "finishReason": "tool-calls"})
}

// Part returns the parts of the stream for a part that is not a request.
func (e Encoder) Part(p parts.Part) []json.RawMessage {
	switch p.Kind {
	case parts.TextStart:
		return encoded(tagged(p, object{"type": "text-start", "id": p.ID}))
	case parts.TextDelta:
		return encoded(object{"type": "text-delta", "id": p.ID, "delta": p.Text})
	case parts.TextEnd:
		return encoded(object{"type": "text-end", "id": p.ID})
	case parts.ThinkingStart:
		return encoded(tagged(p, object{"type": "reasoning-start", "id": p.ID}))
	case parts.ThinkingDelta:
		return encoded(object{"type": "reasoning-delta", "id": p.ID, "delta": p.Text})
	case parts.ThinkingEnd:
		return encoded(object{"type": "reasoning-end", "id": p.ID})
	case parts.ToolStart:
		return encoded(tagged(p, tool(p, object{"type": "tool-input-start"})))
	case parts.ToolInput:
		if p.Input == "" {
			return encoded(tool(p, object{"type": "tool-input-error", "input": nil, "errorText": "the call was cut off"}))
		}
		return encoded(tool(p, object{"type": "tool-input-available", "input": p.Input}))
	case parts.ToolResult:
		if p.IsError {
			return encoded(object{"type": "tool-output-error", "toolCallId": p.ID, "errorText": p.Text, "dynamic": true, "providerExecuted": true})
		}
		return encoded(object{"type": "tool-output-available", "toolCallId": p.ID, "output": p.Content, "dynamic": true, "providerExecuted": true})
	case parts.Error:
		return encoded(object{"type": "data-error", "data": object{"message": p.Text}})
	case parts.Finish:
		return finish(p.End)
	}
	return nil
}

// reasons are the finish reasons of the AI SDK.
var reasons = map[parts.Reason]string{parts.Stopped: "stop", parts.Length: "length", parts.Refused: "content-filter", parts.Failed: "error"}

func finish(end *parts.End) []json.RawMessage {
	var all []object
	if r := end.Result; r != nil {
		metadata := object{}
		if !r.Usage.IsNull() {
			metadata["usage"] = r.Usage
		}
		if r.TotalCostUSD != nil {
			metadata["totalCostUSD"] = *r.TotalCostUSD
		}
		all = append(all, object{"type": "message-metadata", "messageMetadata": metadata})
	}
	if end.Reason == parts.Cancelled {
		return encoded(append(all, object{"type": "abort"})...)
	}
	if end.Reason == parts.Failed {
		all = append(all, object{"type": "error", "errorText": end.Message})
	}
	return encoded(append(all, object{"type": "finish", "finishReason": reasons[end.Reason]})...)
}

// tool adds the common members of the parts of a call. The client declares no tools, and does not run them.
func tool(p parts.Part, o object) object {
	o["toolCallId"], o["toolName"], o["dynamic"], o["providerExecuted"] = p.ID, p.Name, true, true
	if p.Title != "" {
		o["title"] = p.Title
	}
	return o
}

// tagged adds to a chunk the id of the subagent that its part belongs to.
func tagged(p parts.Part, o object) object {
	if p.Parent != "" {
		o["providerMetadata"] = object{"parley": object{"subagent": p.Parent}}
	}
	return o
}

func encoded(all ...object) []json.RawMessage {
	out := make([]json.RawMessage, len(all))
	for i, o := range all {
		out[i] = json.RawMessage(event.Encoded(o))
	}
	return out
}
