package acpevent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// toolCall begins a tool call. A second message with its id adds to the call unless it has ended:
// agents reuse ids.
func (c *Converter) toolCall(v *acp.ToolCall) {
	if k := c.calls[string(v.ToolCallID)]; k != nil && k.ended {
		delete(c.calls, k.id)
	}
	c.toolUpdate(update(v))
}

// call returns the record of a call and creates it if necessary.
func (c *Converter) call(id string) *call {
	k := c.calls[id]
	if k == nil {
		if c.calls == nil {
			c.calls = map[string]*call{}
		}
		k = &call{id: id}
		c.calls[id] = k
	}
	return k
}

// startTool emits a call as a block of the open message, or of a new one.
func (c *Converter) startTool(k *call) {
	c.startMessage("")
	c.endBlock()
	k.message, k.index = c.message, int64(len(c.blocks))
	block := k.block()
	k.shown = block.Raw
	c.blocks = append(c.blocks, event.IndexedBlock{Index: k.index, Block: block})
	if c.Partial {
		c.emit(&event.ToolStart{Header: c.header(), Index: k.index, ToolUseID: k.id, Name: block.Name, BlockType: "tool_use", Title: block.Title, Kind: k.kind, Block: block.Raw})
		c.emit(&event.ToolInputComplete{Header: c.header(), Index: k.index, ToolUseID: k.id, Input: block.Input})
		c.emit(&event.BlockStop{Header: c.header(), Index: k.index})
	}
	c.endMessage()
}

// show emits a call, and emits it and its open requests again when more details are known.
func (c *Converter) show(k *call) {
	if k.message == "" {
		c.startTool(k)
	} else if block := k.block(); block.Raw != k.shown {
		k.shown = block.Raw
		c.emit(&event.AssistantMessage{Header: event.Header{MessageID: k.message}, Blocks: []event.IndexedBlock{{Index: k.index, Block: block}}})
	}
	for _, a := range k.asks {
		ev := k.permission(a)
		if shown := event.Encoded([]any{ev.ToolName, ev.DisplayName, ev.Input, ev.Content, ev.Locations}); shown != a.shown {
			a.shown = shown
			c.emit(ev)
		}
	}
}

// toolUpdate updates a call. An update of an unknown call begins the call.
func (c *Converter) toolUpdate(v *acp.ToolCallUpdate) {
	c.asking = nil
	k := c.call(string(v.ToolCallID))
	if k.ended {
		return
	}
	k.merge(v, false)
	if k.message == "" && k.first == "" {
		if k.isFinal() { // an earlier process has shown the call
			c.status(k, v)
		}
		return // a request may follow, or it belongs to a call of an earlier turn
	}
	c.show(k)
	c.status(k, v)
}

// status handles the status of a call and its output.
func (c *Converter) status(k *call, v *acp.ToolCallUpdate) {
	blocks := contentBlocks(v.Content.Or(nil))
	before := k.output
	k.output += printed(v.Meta)
	if text := blocksText(blocks); text != "" && k.running {
		k.output = text // always the complete output
	}
	switch v.Status.Or("") {
	case acp.ToolCallStatusCompleted, acp.ToolCallStatusFailed:
		c.finish(k, v, blocks)
		return
	case acp.ToolCallStatusInProgress:
	default:
		if k.output == before {
			return
		}
	}
	ev := &event.ToolProgress{ToolUseID: k.id}
	if more, ok := strings.CutPrefix(k.output, before); ok {
		ev.Output = more
	}
	c.emit(ev)
}

// finish ends a call. Its result is a text, or blocks if the agent has sent other content than
// text.
func (c *Converter) finish(k *call, v *acp.ToolCallUpdate, blocks []json.RawMessage) {
	k.ended = true
	ev := &event.ToolComplete{ToolUseID: k.id, IsError: k.status == acp.ToolCallStatusFailed}
	rest := slices.DeleteFunc(blocks, func(b json.RawMessage) bool { return event.ContentOf(event.JSON(b)).Type == "text" })
	switch {
	case len(rest) > 0 && k.output != "":
		ev.Content = encoded(append([]json.RawMessage{json.RawMessage(event.TextContent(k.output).Raw)}, rest...))
	case len(rest) > 0:
		ev.Content = encoded(rest)
	case k.output != "":
		ev.Content = event.Quote(k.output)
	case blank(v.RawOutput) != "":
		ev.Content = event.NewJSON(string(v.RawOutput))
	}
	if len(v.RawOutput) > 0 {
		ev.ToolUseResult = event.NewJSON(string(v.RawOutput))
	}
	c.emit(ev)
}

// Ask returns the events of a request for permission: all details that the agent has reported about
// the call, including those in the request. A request for an unknown call begins the call.
func (c *Converter) Ask(requestID string, r *acp.RequestPermissionRequest) []event.Event {
	c.begin()
	k := c.call(string(r.ToolCall.ToolCallID))
	k.merge(&r.ToolCall, true)
	k.asks = append(k.asks, &asked{id: requestID, request: r})
	c.show(k)
	return c.out
}

// choices converts the options of a request. The first word of an unknown kind determines its
// meaning.
func choices(options []acp.PermissionOption) (list []event.Choice) {
	for _, o := range options {
		choice := event.Choice{ID: string(o.OptionID), Label: o.Name, Behavior: event.ResolvedDeny, Scope: event.ScopeOnce}
		if strings.HasPrefix(string(o.Kind), "allow") {
			choice.Behavior = event.ResolvedAllow
		}
		if o.Kind == acp.PermissionOptionKindAllowAlways || o.Kind == acp.PermissionOptionKindRejectAlways {
			choice.Scope = event.ScopeAlways
		}
		list = append(list, choice)
	}
	return list
}

// Resolve returns the event for the answer to the permission request with this id, which closes it.
func (c *Converter) Resolve(requestID, toolUseID, behavior, scope, message string) []event.Event {
	c.begin()
	for _, k := range c.calls {
		before := len(k.asks)
		k.asks = slices.DeleteFunc(k.asks, func(a *asked) bool { return a.id == requestID })
		k.refused = k.refused || len(k.asks) < before && behavior == event.ResolvedDeny
	}
	c.emit(event.Resolve(event.Header{}, false, requestID, toolUseID, event.Resolution{Behavior: behavior, Scope: scope, Message: message}))
	return c.out
}

// Elicit returns the event for a form or a link that the agent sends to the user.
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

// Answered returns the event for the answer to the form or link with this id, which closes it.
func (c *Converter) Answered(requestID, action string, content event.JSON) []event.Event {
	c.begin()
	c.emit(event.Resolve(event.Header{}, true, requestID, "", event.Resolution{Behavior: action, Answers: content}))
	return c.out
}

// settle adds a result to each open call, with the reason why the agent did not send one. A later
// result of the agent replaces it.
func (c *Converter) settle(why string) {
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		k := c.calls[id]
		if k.ended || k.settled || k.message == "" {
			continue
		}
		k.settled = true
		text := why
		if k.refused {
			text = "The call was refused."
		}
		c.emit(&event.ToolComplete{ToolUseID: k.id, IsError: true, Content: event.Quote(strings.TrimPrefix(k.output+"\n\n"+text, "\n\n"))})
	}
}

// End returns the events of the end of a turn. Open calls get an end.
func (c *Converter) End(reason string, usage event.JSON, failed string) []event.Event {
	c.begin()
	c.endMessage()
	switch {
	case failed != "":
		c.settle("The turn failed before the call had a result.")
	case reason == string(acp.StopReasonCancelled):
		c.settle("The call was cancelled.")
	default:
		c.settle("The agent reported no result of this call.")
	}
	ev := &event.ResultMessage{Subtype: "success", StopReason: reason, Usage: usage, NumTurns: 1}
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
	c.settle("The agent ended before the call had a result.")
	return c.out
}
