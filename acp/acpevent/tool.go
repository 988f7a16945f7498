package acpevent

import (
	"cmp"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// toolCall begins a call of a tool.
func (c *Converter) toolCall(v *acp.ToolCall) {
	id := string(v.ToolCallID)
	if !c.known[id] {
		c.startTool(id, v.Name.Or(""), v.Title, string(v.Kind.Or("")), string(v.RawInput))
	}
	c.status(id, v.Status, v.Content, string(v.RawOutput))
}

// startTool shows a call as a block of the message that is open, or of a new one.
func (c *Converter) startTool(id, name, title, kind, input string) {
	c.known[id] = true
	c.startMessage("")
	c.endBlock()
	name = cmp.Or(name, title)
	input = cmp.Or(input, "{}")
	index := int64(len(c.blocks))
	raw := encoded(map[string]any{"type": "tool_use", "id": id, "name": name, "title": title, "kind": kind, "input": event.JSON(input).Value()})
	block := event.Content{Type: "tool_use", ToolUseID: id, Name: name, Title: title, Kind: kind, Input: event.NewJSON(input), Raw: raw}
	c.blocks = append(c.blocks, event.IndexedBlock{Index: index, Block: block})
	if c.Partial {
		c.emit(&event.ToolStart{Header: c.header(), Index: index, ToolUseID: id, Name: name, BlockType: "tool_use", Title: title, Kind: kind, Block: raw})
		c.emit(&event.ToolInputComplete{Header: c.header(), Index: index, ToolUseID: id, Input: block.Input})
		c.emit(&event.BlockStop{Header: c.header(), Index: index})
	}
	c.endMessage()
}

// toolUpdate goes on with a call.
func (c *Converter) toolUpdate(v *acp.ToolCallUpdate) {
	id := string(v.ToolCallID)
	if !c.known[id] {
		if !v.Title.IsSet() {
			return // the rest of a call that has ended
		}
		c.startTool(id, v.Name.Or(""), v.Title.Or(""), string(v.Kind.Or("")), string(v.RawInput))
	}
	c.status(id, v.Status, v.Content.Or(nil), string(v.RawOutput))
}

// status follows the state of a call.
func (c *Converter) status(id string, status acp.Optional[acp.ToolCallStatus], content []acp.ToolCallContent, output string) {
	switch status.Or("") {
	case acp.ToolCallStatusInProgress:
		c.emit(&event.ToolProgress{ToolUseID: id})
	case acp.ToolCallStatusCompleted, acp.ToolCallStatusFailed:
		delete(c.known, id)
		ev := &event.ToolComplete{ToolUseID: id, IsError: status.Or("") == acp.ToolCallStatusFailed}
		if text := contentText(content); text != "" {
			ev.Content = event.JSON(event.Quote(text))
		} else if output != "" && output != "null" {
			ev.Content = event.NewJSON(output)
		}
		if output != "" {
			ev.ToolUseResult = event.NewJSON(output)
		}
		c.emit(ev)
	}
}

// contentText is the text of what a call shows.
func contentText(list []acp.ToolCallContent) string {
	var texts []string
	for _, one := range list {
		if block, ok := one.Value.(*acp.Content); ok {
			if t, ok := block.Content.Value.(*acp.TextContent); ok {
				texts = append(texts, t.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// Ask returns the event of a request for permission. A call that was not announced is.
func (c *Converter) Ask(requestID string, r *acp.RequestPermissionRequest) []event.Event {
	c.begin()
	if c.known == nil {
		c.known = map[string]bool{}
	}
	call := r.ToolCall
	id := string(call.ToolCallID)
	if !c.known[id] {
		c.startTool(id, call.Name.Or(""), call.Title.Or("Tool"), string(call.Kind.Or("")), string(call.RawInput))
	}
	ev := &event.PermissionRequest{
		Kind: event.PermissionTool, RequestID: requestID, ToolUseID: id, ToolName: call.Name.Or(call.Title.Or("Tool")), DisplayName: call.Title.Or(""),
		Input: event.NewJSON(string(call.RawInput)), Data: encoded(r),
	}
	if call.Kind.Or("") == acp.ToolKindSwitchMode {
		ev.Kind = event.PermissionPlan
	}
	for _, o := range r.Options {
		choice := event.Choice{ID: string(o.OptionID), Label: o.Name, Behavior: event.ResolvedDeny, Scope: event.ScopeOnce}
		if o.Kind == acp.PermissionOptionKindAllowOnce || o.Kind == acp.PermissionOptionKindAllowAlways {
			choice.Behavior = event.ResolvedAllow
		}
		if o.Kind == acp.PermissionOptionKindAllowAlways || o.Kind == acp.PermissionOptionKindRejectAlways {
			choice.Scope = event.ScopeAlways
		}
		ev.Choices = append(ev.Choices, choice)
	}
	c.emit(ev)
	return c.out
}

// Resolve returns the event for the answer to a request for permission, which ends the request
// with this id.
func (c *Converter) Resolve(requestID, toolUseID, behavior, scope, message string) []event.Event {
	c.begin()
	c.emit(event.Resolve(event.Header{}, false, requestID, toolUseID, event.Resolution{Behavior: behavior, Scope: scope, Message: message}))
	return c.out
}

// Elicit returns the event for a form or a link with which the agent asks the user something.
func (c *Converter) Elicit(requestID string, r *acp.CreateElicitationRequest) []event.Event {
	c.begin()
	ev := &event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: requestID, Message: r.Message, Mode: r.Mode, Data: encoded(r)}
	switch v := r.Value.(type) {
	case *acp.ElicitationFormMode:
		ev.Schema, ev.ToolUseID = encoded(v.RequestedSchema), string(v.ToolCallID.Or(""))
	case *acp.ElicitationURLMode:
		ev.URL, ev.ToolUseID = v.URL, string(v.ToolCallID.Or(""))
	}
	c.emit(ev)
	return c.out
}

// Answered returns the event for the answer to a form or a link, which ends the request with
// this id.
func (c *Converter) Answered(requestID, action string, content event.JSON) []event.Event {
	c.begin()
	c.emit(event.Resolve(event.Header{}, true, requestID, "", event.Resolution{Behavior: action, Answers: content}))
	return c.out
}

// End returns the events of the end of a turn. Calls that are open are not: their results
// may follow.
func (c *Converter) End(reason string, usage event.JSON, failed string) []event.Event {
	c.begin()
	c.endMessage()
	ev := &event.ResultMessage{Subtype: "success", StopReason: reason, Usage: usage, NumTurns: int64(c.turns)}
	switch {
	case failed != "":
		ev.Subtype, ev.IsError, ev.Errors, ev.Result = "error_during_execution", true, []string{failed}, failed
	case reason == string(acp.StopReasonMaxTurnRequests):
		ev.Subtype = "error_max_turns"
	case reason == string(acp.StopReasonCancelled):
		ev.TerminalReason = "aborted_streaming"
	}
	c.turn = ""
	c.emit(ev)
	return c.out
}

// Stop returns the events that end the open message and its blocks when the agent has ended.
func (c *Converter) Stop() []event.Event {
	c.begin()
	c.endMessage()
	return c.out
}
