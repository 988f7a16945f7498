package claudeevent

import (
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

func (c *Converter) assistant(m *message.Assistant) {
	id := c.named(m.Message.ID, m.UUID) // a message without an id is distinct from all others
	ev := &event.AssistantMessage{
		Header:     event.Header{ParentToolUseID: m.ParentToolUseID, MessageID: id, SessionID: m.SessionID, UUID: m.UUID},
		Model:      m.Message.Model,
		StopReason: m.Message.StopReason,
		Error:      string(m.Error),
		Aborted:    m.Aborted,
		Supersedes: m.Supersedes,
		Timestamp:  m.Timestamp,
		AgentID:    m.AgentID,
	}
	usage := usageOf(rawOf(m))
	if ev.StopReason != "" {
		ev.Usage = usage
	}
	if m.ParentToolUseID == "" && usage != "" && string(m.Error) == "" {
		// The input tokens are known when an answer begins, the output tokens at its end.
		if n := tokensOf(usage).context(); n > 0 {
			c.turn.context = &n
		}
	}
	msg := c.thread(m.ParentToolUseID).message(id)
	keys := lineKeys{uuid: m.UUID}
	for _, block := range m.Message.Content {
		if block == nil {
			continue // null
		}
		content := contentOf(block)
		b := msg.place(&content, keys.next(&content))
		if event.IsTool(content.Type) && b.open { // its stop event follows
			b.input, b.given = nil, event.JSON(kept(string(content.Input)))
		}
		c.called(m.ParentToolUseID, &content)
		ev.Blocks = append(ev.Blocks, event.IndexedBlock{Index: b.index, Block: content})
	}
	c.emit(ev)
}

// usageOf returns the usage of the API's message in a line.
func usageOf(line event.JSON) event.JSON {
	message, _ := line.Member("message")
	usage, _ := message.Member("usage")
	return event.Present(string(usage))
}

func (c *Converter) user(m *message.User) {
	h := event.Header{ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
	ev := &event.UserMessage{
		Header: h, IsReplay: m.IsReplay, IsSynthetic: m.IsSynthetic, IsMeta: m.IsMeta,
		Timestamp: m.Timestamp, AgentID: m.AgentID,
	}
	if m.Origin != nil {
		ev.Origin = m.Origin.Kind
	}
	content := m.Message.Content
	if content.IsText() {
		ev.IsText = true
		ev.Blocks = []event.Content{event.TextContent(content.String())}
		c.emit(ev)
		return
	}
	toolUseResult := event.Present(string(m.ToolUseResult))
	var results []*event.ToolComplete
	for _, block := range content.Blocks() {
		switch b := block.(type) {
		case *message.ToolResult:
			raw, _ := rawOf(b).Member("content")
			r := &event.ToolComplete{
				Header: h, ToolUseID: b.ToolUseID, Content: event.Present(string(raw)), IsError: b.IsError,
				ToolUseResult: toolUseResult, Timestamp: m.Timestamp,
			}
			toolUseResult = "" // it belongs to one of them, and the CLI writes a line for each
			results = append(results, r)
			c.emit(r)
		case nil:
		default:
			ev.Blocks = append(ev.Blocks, contentOf(b))
		}
	}
	if len(ev.Blocks) > 0 || len(results) == 0 {
		c.emit(ev)
	}
	for _, r := range results {
		c.returned(r)
	}
}

func (c *Converter) result(m *message.Result) {
	// The main loop has ended: cut off its open messages. Subagents in the background
	// continue.
	if c.threads[""] != nil {
		c.cut("")
	}
	c.beginTurn("", m.SessionID, m.UUID) // a turn without an answer
	raw := rawOf(m)
	usage, _ := raw.Member("usage")
	models, _ := raw.Member("modelUsage")
	denials, _ := raw.Member("permission_denials")
	ev := &event.ResultMessage{
		Header:           event.Header{SessionID: m.SessionID, UUID: m.UUID},
		Subtype:          string(m.Subtype),
		IsError:          m.IsError,
		Result:           m.Result,
		Errors:           m.Errors,
		StructuredOutput: event.Present(string(m.StructuredOutput)),
		NumTurns:         m.NumTurns,
		DurationMS:       m.DurationMS,
		DurationAPIMS:    m.DurationAPIMS,
		TotalCostUSD:     cost(raw),
		StopReason:       m.StopReason,
		TerminalReason:   string(m.TerminalReason),
		Usage:            event.Present(string(usage)),
		ModelUsage:       event.Present(string(models)),
		Denials:          event.Present(string(denials)),
		Data:             raw,
	}
	c.session.windows(ev.ModelUsage)
	if ev.Usage != "" {
		u := c.usage(event.Header{SessionID: m.SessionID}, "", tokensOf(ev.Usage))
		u.CostUSD, u.Data = ev.TotalCostUSD, ev.Usage
		c.emit(u)
	}
	c.emit(ev)
	c.turn.open = false
	c.turn.joined(append(m.UserMessageUUIDs, m.UserMessageUUID)...)
}

// cost returns the cost of the session so far, or nil if the line does not report it.
func cost(line event.JSON) *float64 {
	j, ok := line.Member("total_cost_usd")
	if !ok || j == "null" {
		return nil
	}
	f := line.Number("total_cost_usd")
	return &f
}
