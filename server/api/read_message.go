package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
)

// text is a JSON string decoded, "" for anything else.
func text(data json.RawMessage) string {
	var s string
	_ = json.Unmarshal(data, &s)
	return s
}

// list are the elements of a JSON array, none for anything else.
func list(data json.RawMessage) []event.JSON {
	var all []event.JSON
	_ = json.Unmarshal(data, &all)
	return all
}

// userEvents are the results of tools, and what else a user's message holds.
func userEvents(m *UserMessage) []event.Event {
	h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
	ev := &event.UserMessage{
		Header: h, IsReplay: m.IsReplay, IsSynthetic: m.IsSynthetic, IsMeta: m.IsMeta, IsPrompt: m.IsPrompt,
		Origin: m.Origin, Timestamp: m.Timestamp, AgentID: m.AgentID,
	}
	toolUseResult := m.ToolUseResult
	var events []event.Event
	for _, b := range m.Message.Content {
		if r, ok := b.(*ToolResultBlock); ok {
			events = append(events, &event.ToolComplete{
				Header: h, ToolUseID: r.ToolUseID, Content: r.Content, IsError: r.IsError, Truncated: r.Truncated, ToolUseResult: toolUseResult, Timestamp: m.Timestamp,
			})
			toolUseResult = ""
			continue
		}
		ev.Blocks = append(ev.Blocks, contentOf(b))
	}
	if len(ev.Blocks) > 0 || len(events) == 0 {
		events = append(events, ev)
	}
	return events
}

// eventOf is the event of a message that is not part of a stream.
func eventOf(m Message) event.Event {
	switch m := m.(type) {
	case *AssistantMessage:
		return assistantEvent(m)
	case *ResultMessage:
		return &event.ResultMessage{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}, Subtype: m.Subtype, IsError: m.IsError, Result: m.Result, Errors: m.Errors,
			StructuredOutput: m.StructuredOutput, NumTurns: m.NumTurns, DurationMS: m.DurationMS, DurationAPIMS: m.DurationAPIMS,
			TotalCostUSD: m.TotalCostUSD, StopReason: m.StopReason, TerminalReason: m.TerminalReason, Usage: m.Usage,
			ModelUsage: m.ModelUsage, Denials: m.PermissionDenials, Data: raw(m, m.Extra),
		}
	case *ErrorMessage:
		return &event.Error{Header: event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID}, Message: m.Message}
	case *UnknownMessage:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Unknown{Header: h, OriginalType: m.OriginalType, Data: m.Data}
	case *ToolProgress:
		return &event.ToolProgress{
			Header: event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID}, ToolUseID: m.ToolUseID, ToolName: m.ToolName,
			ElapsedSeconds: m.ElapsedTimeSeconds, TaskID: m.TaskID, Heartbeat: m.Heartbeat, Output: m.OutputDelta, Data: raw(m, m.Extra),
		}
	}
	return sessionEvent(m)
}

func assistantEvent(m *AssistantMessage) *event.AssistantMessage {
	ev := &event.AssistantMessage{
		Header: event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, MessageID: m.ID, SessionID: m.SessionID, UUID: m.UUID},
		Model:  m.Message.Model, StopReason: m.Message.StopReason, Usage: m.Message.Usage, Error: m.Error, Aborted: m.Aborted,
		Supersedes: m.Supersedes, Phase: m.Phase, Timestamp: m.Timestamp, AgentID: m.AgentID,
	}
	for i, b := range m.Message.Content {
		index := int64(i)
		if i < len(m.Indexes) {
			index = m.Indexes[i]
		}
		ev.Blocks = append(ev.Blocks, event.IndexedBlock{Index: index, Block: contentOf(b)})
	}
	return ev
}
