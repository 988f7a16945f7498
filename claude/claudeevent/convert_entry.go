package claudeevent

import (
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// Entry returns the events of one line of a session file, so that a loaded session looks
// like the live one. Lines must be in the order of the conversation, which differs from
// the order of the file: package transcript returns it. The tool use is that of the
// subagent that wrote the file, or empty for the session's main file. Records outside the
// conversation have no events. The slice is valid until the next method call.
func (c *Converter) Entry(entry message.JSON, parentToolUseID string) []event.Event {
	c.out = c.out[:0]
	line := event.NewJSON(string(entry))
	str := func(key string) string {
		j, _ := line.Member(key)
		return j.Text()
	}
	h := event.Header{ParentToolUseID: parentToolUseID, SessionID: str("sessionId"), UUID: str("uuid")}
	switch str("type") {
	case "assistant":
		c.assistantEntry(h, line)
	case "user":
		if m, ok := decoded("user", h, line).(*message.User); ok {
			c.promptEntry(h, line, m)
			c.user(m)
		}
	case "system":
		c.systemEntry(h, line, str)
	case "attachment":
		c.attachment(h, line)
	}
	return c.out
}

// entryMembers maps members of an entry to the names that messages use.
var entryMembers = map[string]string{
	"message": "message", "timestamp": "timestamp", "error": "error", "isMeta": "isMeta", "origin": "origin",
	"toolUseResult": "tool_use_result", "isAbortedMidStream": "aborted", "agentId": "agent_id",
}

// decoded converts an entry to the message that the CLI wrote for it.
func decoded(typ string, h event.Header, line event.JSON) message.Message {
	var b strings.Builder
	b.WriteString(`{"type":"` + typ + `","uuid":` + string(event.Quote(h.UUID)) + `,"session_id":` + string(event.Quote(h.SessionID)))
	if h.ParentToolUseID != "" {
		b.WriteString(`,"parent_tool_use_id":` + string(event.Quote(h.ParentToolUseID)))
	}
	for entry, message := range entryMembers {
		if j, ok := line.Member(entry); ok {
			b.WriteString(`,"` + message + `":` + string(j))
		}
	}
	b.WriteByte('}')
	m, err := message.Decode([]byte(b.String()))
	if err != nil {
		return nil
	}
	return m
}

func (c *Converter) assistantEntry(h event.Header, line event.JSON) {
	m, ok := decoded("assistant", h, line).(*message.Assistant)
	if !ok {
		return
	}
	if index, ok := line.Member("apiBlockIndex"); ok && len(m.Message.Content) == 1 && m.Message.Content[0] != nil {
		// The file has the index; an entry outside this branch leaves a gap.
		at := count("{\"i\":"+index+"}", "i")
		if msg := c.thread(h.ParentToolUseID).message(m.Message.ID); m.Message.ID != "" && msg.block(at) == nil {
			content := contentOf(m.Message.Content[0])
			msg.put(&liveBlock{index: at, blockType: kept(content.Type), toolUseID: kept(content.ToolUseID)})
		}
	}
	c.assistant(m)
}

func (c *Converter) systemEntry(h event.Header, line event.JSON, str func(string) string) {
	switch subtype := str("subtype"); subtype {
	case "compact_boundary":
		metadata, _ := line.Member("compactMetadata")
		c.emit(compactBoundary(h, snakeCase(event.Present(string(metadata)))))
	case "informational":
		c.emit(notice(h, str("level"), str("content"), str("tag"), str("toolUseID"), line))
	case "local_command":
		// In a live session the output of such a command is an answer without a model.
		if output := commandOutput(str("content")); output != "" {
			h.MessageID = h.UUID
			c.emit(&event.AssistantMessage{Header: h, Model: "<synthetic>", Timestamp: str("timestamp"),
				Blocks: []event.IndexedBlock{{Block: event.TextContent(output)}}})
		}
	default:
		c.emit(&event.Unknown{Header: h, OriginalType: "system/" + subtype, Data: line})
	}
}

// commandOutput returns the text between the tags around the output of a slash command.
func commandOutput(content string) string {
	for _, name := range []string{"local-command-stdout", "local-command-stderr"} {
		if _, rest, ok := strings.Cut(content, "<"+name+">"); ok {
			if i := strings.LastIndex(rest, "</"+name+">"); i >= 0 {
				rest = rest[:i]
			}
			return strings.TrimSpace(rest) // as in a live session
		}
	}
	return content
}

// attachment converts a prompt that was sent while the agent was working; it ignores
// other attachments, which only the model reads.
func (c *Converter) attachment(h event.Header, line event.JSON) {
	a, _ := line.Member("attachment")
	kind, _ := a.Member("type")
	prompt, ok := a.Member("prompt")
	if kind.Text() != "queued_command" || !ok {
		return
	}
	msg := event.JSON(`{"message":{"role":"user","content":` + prompt + `}}`)
	if m, ok := decoded("user", h, msg).(*message.User); ok {
		c.user(m)
	}
}

// snakeCase returns a JSON object with all keys in the wire's spelling, at all depths:
// pre_tokens for preTokens.
func snakeCase(object event.JSON) event.JSON {
	var v any
	if object == "" || object.Decode(&v) != nil {
		return object
	}
	return event.Encoded(snakeKeys(v))
}

func snakeKeys(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = snakeKeys(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[strings.ToLower(event.UpperSnake(key))] = snakeKeys(value)
		}
		return out
	}
	return v
}
