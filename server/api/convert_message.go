package api

import (
	"encoding/json"
	"reflect"

	"github.com/seed7221b0f9/parley/agent/event"
)

// wholeMessage is the message of an event that is not part of a stream, nil if there is none.
func wholeMessage(ev event.Event) Message {
	switch ev := ev.(type) {
	case *event.AssistantMessage:
		return assistantMessage(ev)
	case *event.UserMessage:
		m := &UserMessage{
			ParentToolUseID: ev.ParentToolUseID, IsReplay: ev.IsReplay, IsSynthetic: ev.IsSynthetic, IsMeta: ev.IsMeta,
			IsPrompt: ev.IsPrompt, Origin: ev.Origin, UUID: ev.UUID, SessionID: ev.SessionID, AgentID: ev.AgentID,
			Timestamp: ev.Timestamp, Provider: ev.Provider,
		}
		for i := range ev.Blocks {
			m.Message.Content = append(m.Message.Content, contentBlock(&ev.Header, &ev.Blocks[i]))
		}
		return m
	case *event.ToolComplete:
		return &UserMessage{
			Message: Content{Content: []ContentBlock{
				&ToolResultBlock{ToolUseID: ev.ToolUseID, Content: clean(ev.Content), IsError: ev.IsError, Truncated: ev.Truncated},
			}},
			ParentToolUseID: ev.ParentToolUseID, ToolUseResult: clean(ev.ToolUseResult), UUID: ev.UUID,
			SessionID: ev.SessionID, Timestamp: ev.Timestamp, Provider: ev.Provider,
		}
	case *event.ResultMessage:
		m := &ResultMessage{
			Subtype: ev.Subtype, DurationMS: ev.DurationMS, DurationAPIMS: ev.DurationAPIMS, IsError: ev.IsError, NumTurns: ev.NumTurns,
			SessionID: ev.SessionID, TotalCostUSD: ev.TotalCostUSD, Usage: clean(ev.Usage), Result: ev.Result, Errors: ev.Errors,
			StructuredOutput: clean(ev.StructuredOutput), StopReason: ev.StopReason, TerminalReason: ev.TerminalReason,
			ModelUsage: clean(ev.ModelUsage), PermissionDenials: clean(ev.Denials), UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.Error:
		return &ErrorMessage{Message: ev.Message, ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, Provider: ev.Provider}
	case *event.Unknown:
		return &UnknownMessage{
			OriginalType: ev.OriginalType, Data: clean(ev.Data), ParentToolUseID: ev.ParentToolUseID,
			SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
	}
	return sessionMessage(ev)
}

func assistantMessage(ev *event.AssistantMessage) *AssistantMessage {
	m := &AssistantMessage{
		Message: Content{Model: ev.Model, StopReason: ev.StopReason, Usage: clean(ev.Usage)},
		ID:      ev.MessageID, ParentToolUseID: ev.ParentToolUseID, Error: ev.Error, Aborted: ev.Aborted, Supersedes: ev.Supersedes, Phase: ev.Phase,
		UUID: ev.UUID, SessionID: ev.SessionID, AgentID: ev.AgentID, Timestamp: ev.Timestamp, Provider: ev.Provider,
	}
	for i := range ev.Blocks {
		m.Message.Content = append(m.Message.Content, contentBlock(&ev.Header, &ev.Blocks[i].Block))
		m.Indexes = append(m.Indexes, ev.Blocks[i].Index)
	}
	return m
}

// extraOf are the members of the provider's message that m has no field for.
func extraOf(data event.JSON, m Message) Extra {
	extra := leftover(data, m)
	delete(extra, "subtype")
	if len(extra) == 0 {
		return nil
	}
	return extra
}

// leftover are the members of a JSON object that v has no field for.
func leftover(data event.JSON, v any) Extra {
	var members map[string]json.RawMessage
	if data == "" || json.Unmarshal([]byte(data), &members) != nil {
		return nil
	}
	if _, ok := v.(typed); ok {
		delete(members, "type")
	}
	for _, f := range fieldsOf(reflect.TypeOf(v).Elem()) {
		delete(members, f.name)
	}
	if len(members) == 0 {
		return nil
	}
	return Extra(members).tidied()
}
