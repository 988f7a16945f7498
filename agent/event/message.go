package event

// userMessage returns the message of a prompt or a note.
func userMessage(ev *UserMessage) *wireUser {
	m := &wireUser{
		ParentToolUseID: ev.ParentToolUseID, IsReplay: ev.IsReplay, IsSynthetic: ev.IsSynthetic, IsMeta: ev.IsMeta,
		IsPrompt: ev.IsPrompt, Origin: ev.Origin, By: ev.By, UUID: ev.UUID, SessionID: ev.SessionID, AgentID: ev.AgentID,
		Timestamp: ev.Timestamp, Provider: ev.Provider, object: object{ev.Extra},
	}
	for i := range ev.Blocks {
		m.Message.Content = append(m.Message.Content, contentBlock(&ev.Header, &ev.Blocks[i]))
	}
	return m
}

// toolMessage returns the result of a tool as a message in the user's role.
func toolMessage(ev *ToolComplete) *wireUser {
	return &wireUser{
		Message: wireContent{Content: []wireBlock{
			&wireToolResult{ToolUseID: ev.ToolUseID, Content: ev.Content, IsError: ev.IsError, Truncated: ev.Truncated},
		}},
		ParentToolUseID: ev.ParentToolUseID, ToolUseResult: ev.ToolUseResult, UUID: ev.UUID,
		SessionID: ev.SessionID, Timestamp: ev.Timestamp, Provider: ev.Provider, object: object{ev.Extra},
	}
}

func assistantMessage(ev *AssistantMessage) *wireAssistant {
	m := &wireAssistant{
		Message: wireContent{Model: ev.Model, StopReason: ev.StopReason, Usage: ev.Usage},
		ID:      ev.MessageID, ParentToolUseID: ev.ParentToolUseID, Error: ev.Error, Aborted: ev.Aborted, Supersedes: ev.Supersedes, Phase: ev.Phase,
		UUID: ev.UUID, SessionID: ev.SessionID, AgentID: ev.AgentID, Timestamp: ev.Timestamp, Provider: ev.Provider, object: object{ev.Extra},
	}
	for i := range ev.Blocks {
		m.Message.Content = append(m.Message.Content, contentBlock(&ev.Header, &ev.Blocks[i].Block))
		m.Indexes = append(m.Indexes, ev.Blocks[i].Index)
	}
	return m
}

// userEvents returns the tool results of a user message, and an event for its other blocks.
func userEvents(m *wireUser) []Event {
	h := Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID, Extra: m.Extra}
	ev := &UserMessage{
		Header: h, IsReplay: m.IsReplay, IsSynthetic: m.IsSynthetic, IsMeta: m.IsMeta, IsPrompt: m.IsPrompt,
		Origin: m.Origin, By: m.By, Timestamp: m.Timestamp, AgentID: m.AgentID,
	}
	toolUseResult := m.ToolUseResult
	var all []Event
	for _, b := range m.Message.Content {
		if r, ok := b.(*wireToolResult); ok {
			all = append(all, &ToolComplete{
				Header: h, ToolUseID: r.ToolUseID, Content: r.Content, IsError: r.IsError, Truncated: r.Truncated,
				ToolUseResult: toolUseResult, Timestamp: m.Timestamp,
			})
			toolUseResult = ""
			continue
		}
		ev.Blocks = append(ev.Blocks, contentOf(b))
	}
	if len(ev.Blocks) > 0 || len(all) == 0 {
		all = append(all, ev)
	}
	return all
}

func assistantEvent(m *wireAssistant) *AssistantMessage {
	ev := &AssistantMessage{
		Header: Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, MessageID: m.ID, SessionID: m.SessionID, UUID: m.UUID, Extra: m.Extra},
		Model:  m.Message.Model, StopReason: m.Message.StopReason, Usage: m.Message.Usage, Error: m.Error, Aborted: m.Aborted,
		Supersedes: m.Supersedes, Phase: m.Phase, Timestamp: m.Timestamp, AgentID: m.AgentID,
	}
	for i, b := range m.Message.Content {
		index := int64(i)
		if i < len(m.Indexes) {
			index = m.Indexes[i]
		}
		ev.Blocks = append(ev.Blocks, IndexedBlock{Index: index, Block: contentOf(b)})
	}
	return ev
}
