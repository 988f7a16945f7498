package codextest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
)

// Reply is the API's response to one request: events of a stream, or an error with a status.
type Reply struct {
	Events []Event
	// Status, Body and Header belong to a response that is not a stream.
	Status int
	Body   string
	Header map[string]string
	// Do is called before the reply is sent; nil has no effect.
	Do func()
	// Repeat uses the reply for all further requests of the script.
	Repeat bool
}

// Event is an event of the stream, a pause in it, or a broken connection.
type Event struct {
	// Data is the event; its member type names it.
	Data map[string]any
	// Wait blocks the stream until the channel is closed.
	Wait <-chan struct{}
	// Drop breaks the connection.
	Drop bool
}

var replies atomic.Int64

// Usage holds the token counts, by kind, that a reply of the scripted [API] reports.
type Usage struct{ Input, Cached, Output, Reasoning int }

// Stream returns a reply with the given events between its start and its end, and the tokens
// that it reports.
func Stream(u Usage, events ...Event) Reply {
	id := fmt.Sprintf("resp_%d", replies.Add(1))
	list := []Event{{Data: map[string]any{"type": "response.created", "response": map[string]any{"id": id}}}}
	list = append(list, events...)
	return Reply{Events: append(list, Event{Data: map[string]any{"type": "response.completed", "response": map[string]any{
		"id": id, "usage": map[string]any{
			"input_tokens": u.Input, "input_tokens_details": map[string]any{"cached_tokens": u.Cached},
			"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
			"total_tokens": u.Input + u.Output,
		},
	}}})}
}

// defaultUsage is the usage of replies without one.
var defaultUsage = Usage{Input: 100, Output: 20}

// Say returns a reply with one message of the agent, streamed with a delta for each part.
func Say(parts ...string) Reply { return Stream(defaultUsage, Message(parts...)...) }

// Calls returns a reply with tool calls, which [Call] and [Command] make, and no message.
func Calls(calls ...[]Event) Reply {
	var events []Event
	for _, c := range calls {
		events = append(events, c...)
	}
	return Stream(defaultUsage, events...)
}

// Fail returns a reply that is an HTTP error with this status and message, in the form of the
// API.
func Fail(status int, message string) Reply {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "scripted"}})
	return Reply{Status: status, Body: string(body)}
}

// Message returns the events of a message of the agent, with a delta for each part, for use
// with [Stream].
func Message(parts ...string) []Event {
	id := fmt.Sprintf("msg_%d", replies.Add(1))
	events := []Event{itemEvent("response.output_item.added", map[string]any{"type": "message", "role": "assistant", "id": id, "content": []any{}})}
	for _, p := range parts {
		events = append(events, Event{Data: map[string]any{"type": "response.output_text.delta", "item_id": id, "delta": p}})
	}
	return append(events, itemEvent("response.output_item.done", map[string]any{
		"type": "message", "role": "assistant", "id": id,
		"content": []any{map[string]any{"type": "output_text", "text": strings.Join(parts, "")}},
	}))
}

// Reason returns the events of reasoning with the given parts of its summary, for use with
// [Stream].
func Reason(summary ...string) []Event {
	id := fmt.Sprintf("rs_%d", replies.Add(1))
	events := []Event{itemEvent("response.output_item.added", map[string]any{"type": "reasoning", "id": id, "summary": []any{}})}
	var whole []any
	for i, s := range summary {
		events = append(events,
			Event{Data: map[string]any{"type": "response.reasoning_summary_part.added", "item_id": id, "summary_index": i}},
			Event{Data: map[string]any{"type": "response.reasoning_summary_text.delta", "item_id": id, "summary_index": i, "delta": s}})
		whole = append(whole, map[string]any{"type": "summary_text", "text": s})
	}
	return append(events, itemEvent("response.output_item.done", map[string]any{"type": "reasoning", "id": id, "summary": whole, "encrypted_content": "x"}))
}

func itemEvent(typ string, item map[string]any) Event {
	return Event{Data: map[string]any{"type": typ, "output_index": 0, "item": item}}
}

// Call returns the events of a function call with its arguments as any JSON value. A tool of an MCP
// server has the namespace "mcp__" and the server's name.
func Call(callID, namespace, name string, args any) []Event {
	text, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("codextest: the arguments of %s: %v", name, err))
	}
	item := map[string]any{"type": "function_call", "id": "fc_" + callID, "call_id": callID, "name": name, "arguments": string(text)}
	if namespace != "" {
		item["namespace"] = namespace
	}
	return []Event{itemEvent("response.output_item.done", item)}
}

// Command returns the events of a call that runs a command in the sandbox, for use with
// [Calls].
func Command(callID, cmd string) []Event {
	return Call(callID, "", "exec_command", map[string]any{"cmd": cmd})
}

// EscalatedCommand returns the events of a command that requests to run outside the sandbox, which
// needs an approval of the client.
func EscalatedCommand(callID, cmd, why string) []Event {
	return Call(callID, "", "exec_command", map[string]any{"cmd": cmd, "sandbox_permissions": "require_escalated", "justification": why})
}

// Patch returns the events of a patch in the form that begins with "*** Begin Patch".
func Patch(callID, patch string) []Event {
	item := func(input string) map[string]any {
		return map[string]any{"type": "custom_tool_call", "id": "ct_" + callID, "call_id": callID, "name": "apply_patch", "input": input}
	}
	return []Event{
		itemEvent("response.output_item.added", item("")),
		{Data: map[string]any{"type": "response.custom_tool_call_input.delta", "item_id": "ct_" + callID, "call_id": callID, "delta": patch}},
		itemEvent("response.output_item.done", item(patch)),
	}
}

// SearchTools returns the events of a search for tools that are not loaded at the start, such as
// those for agents.
func SearchTools(callID, query string) []Event {
	return []Event{itemEvent("response.output_item.done", map[string]any{
		"type": "tool_search_call", "id": "ts_" + callID, "call_id": callID, "execution": "client", "arguments": map[string]any{"query": query},
	})}
}
