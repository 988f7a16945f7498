package ui

import "github.com/seed7221b0f9/parley/claude"

func (c *Converter) assistant(m *claude.AssistantMessage) {
	id := c.named(m.Message.ID, m.UUID) // without an id it is a message of its own
	ev := &AssistantMessage{
		Header:     Header{ParentToolUseID: m.ParentToolUseID, MessageID: id, SessionID: m.SessionID, UUID: m.UUID},
		Model:      m.Message.Model,
		StopReason: m.Message.StopReason,
		Error:      string(m.Error),
		Aborted:    m.Aborted,
		Supersedes: m.Supersedes,
		Timestamp:  m.Timestamp,
		AgentID:    m.AgentID,
	}
	if ev.StopReason != "" {
		ev.Usage = usageOf(rawOf(m))
	}
	msg := c.thread(m.ParentToolUseID).message(id)
	for _, block := range m.Message.Content {
		if block == nil {
			continue // null
		}
		content := contentOf(block)
		b := msg.place(&content, m.UUID)
		b.whole, b.uuid = true, kept(m.UUID)
		if isTool(content.Type) && b.open { // its stop is still to come
			b.input, b.given = nil, content.Input
		}
		ev.Blocks = append(ev.Blocks, IndexedBlock{Index: b.index, Block: content})
	}
	c.emit(ev)
}

// usageOf is the usage of the API's message in a line.
func usageOf(line claude.JSON) claude.JSON {
	message, _ := member(line, "message")
	usage, _ := member(message, "usage")
	return present(usage)
}

func (c *Converter) user(m *claude.UserMessage) {
	h := Header{ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
	ev := &UserMessage{
		Header: h, IsReplay: m.IsReplay, IsSynthetic: m.IsSynthetic, IsMeta: m.IsMeta,
		Timestamp: m.Timestamp, AgentID: m.AgentID,
	}
	if m.Origin != nil {
		ev.Origin = m.Origin.Kind
	}
	content := m.Message.Content
	if content.IsText() {
		ev.IsText = true
		ev.Blocks = []Content{textContent(content.String())}
		c.emit(ev)
		return
	}
	toolUseResult := present(m.ToolUseResult)
	results := 0
	for _, block := range content.Blocks() {
		switch b := block.(type) {
		case *claude.ToolResultBlock:
			raw, _ := member(rawOf(b), "content")
			c.emit(&ToolComplete{
				Header: h, ToolUseID: b.ToolUseID, Content: present(raw), IsError: b.IsError,
				ToolUseResult: toolUseResult, Timestamp: m.Timestamp,
			})
			toolUseResult = "" // it belongs to one of them, and the CLI writes a line for each
			results++
		case nil:
		default:
			ev.Blocks = append(ev.Blocks, contentOf(b))
		}
	}
	if len(ev.Blocks) > 0 || results == 0 {
		c.emit(ev)
	}
}

func (c *Converter) result(m *claude.ResultMessage) {
	// The turn is over: what the main loop has left open will not be finished.
	// Subagents in the background go on.
	if c.threads[""] != nil {
		c.cut("")
	}
	raw := rawOf(m)
	usage, _ := member(raw, "usage")
	models, _ := member(raw, "modelUsage")
	denials, _ := member(raw, "permission_denials")
	c.emit(&ResultMessage{
		Header:           Header{SessionID: m.SessionID, UUID: m.UUID},
		Subtype:          string(m.Subtype),
		IsError:          m.IsError,
		Result:           m.Result,
		Errors:           m.Errors,
		StructuredOutput: present(m.StructuredOutput),
		NumTurns:         m.NumTurns,
		DurationMS:       m.DurationMS,
		DurationAPIMS:    m.DurationAPIMS,
		TotalCostUSD:     finite(m.TotalCostUSD),
		StopReason:       m.StopReason,
		TerminalReason:   string(m.TerminalReason),
		Usage:            present(usage),
		ModelUsage:       present(models),
		Denials:          present(denials),
		Data:             raw,
	})
}
