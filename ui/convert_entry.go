package ui

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// Entry returns the events of one line of a session file, so that a session that is
// loaded looks like the one that was live. The lines are to come in the order of the
// conversation, which is not that of the file: package transcript gives it. The tool
// use is that of the subagent that the file is of, empty for the session's own.
// Records that are no part of the conversation have no events. The slice is good
// until the next call of a method.
func (c *Converter) Entry(line claude.JSON, parentToolUseID string) []Event {
	c.out = c.out[:0]
	line = checked(line)
	str := func(key string) string {
		j, _ := member(line, key)
		return text(j)
	}
	h := Header{ParentToolUseID: parentToolUseID, SessionID: str("sessionId"), UUID: str("uuid")}
	switch str("type") {
	case "assistant":
		c.assistantEntry(h, line)
	case "user":
		if m, ok := decoded("user", h, line).(*claude.UserMessage); ok {
			c.user(m)
		}
	case "system":
		c.systemEntry(h, line, str)
	case "attachment":
		c.attachment(h, line)
	}
	return c.out
}

// entryMembers are the members of an entry that a message has under another name.
var entryMembers = map[string]string{
	"message": "message", "timestamp": "timestamp", "error": "error", "isMeta": "isMeta", "origin": "origin",
	"toolUseResult": "tool_use_result", "isAbortedMidStream": "aborted", "agentId": "agent_id",
}

// decoded is an entry as the message that the CLI wrote for it.
func decoded(typ string, h Header, line claude.JSON) claude.Message {
	var b strings.Builder
	b.WriteString(`{"type":"` + typ + `","uuid":` + string(quoted(h.UUID)) + `,"session_id":` + string(quoted(h.SessionID)))
	if h.ParentToolUseID != "" {
		b.WriteString(`,"parent_tool_use_id":` + string(quoted(h.ParentToolUseID)))
	}
	for entry, message := range entryMembers {
		if j, ok := member(line, entry); ok {
			b.WriteString(`,"` + message + `":` + string(j))
		}
	}
	b.WriteByte('}')
	m, err := claude.DecodeMessage([]byte(b.String()))
	if err != nil {
		return nil
	}
	return m
}

func (c *Converter) assistantEntry(h Header, line claude.JSON) {
	m, ok := decoded("assistant", h, line).(*claude.AssistantMessage)
	if !ok {
		return
	}
	if index, ok := member(line, "apiBlockIndex"); ok && len(m.Message.Content) == 1 && m.Message.Content[0] != nil {
		// The file knows the index; what is not on this branch leaves a gap.
		at := int64(number("{\"i\":"+index+"}", "i"))
		if msg := c.thread(h.ParentToolUseID).message(m.Message.ID); m.Message.ID != "" && msg.block(at) == nil {
			content := contentOf(m.Message.Content[0])
			msg.put(&liveBlock{index: at, blockType: kept(content.Type), toolUseID: kept(content.ToolUseID), uuid: kept(h.UUID)})
		}
	}
	c.assistant(m)
}

func (c *Converter) systemEntry(h Header, line claude.JSON, str func(string) string) {
	switch subtype := str("subtype"); subtype {
	case "compact_boundary":
		metadata, _ := member(line, "compactMetadata")
		meta := snakeCase(present(metadata))
		c.emit(&CompactBoundary{Header: h, Trigger: trigger(meta), PreTokens: int64(number(meta, "pre_tokens")), Metadata: meta})
	case "local_command":
		// Live, the output of such a command is an answer that no model gave.
		if output := commandOutput(str("content")); output != "" {
			h.MessageID = h.UUID
			c.emit(&AssistantMessage{Header: h, Model: "<synthetic>", Timestamp: str("timestamp"),
				Blocks: []IndexedBlock{{Block: textContent(output)}}})
		}
	default:
		c.emit(&Unknown{Header: h, OriginalType: "system/" + subtype, Data: line})
	}
}

// commandOutput is the text between the marks around the output of a slash command.
func commandOutput(content string) string {
	for _, name := range []string{"local-command-stdout", "local-command-stderr"} {
		if _, rest, ok := strings.Cut(content, "<"+name+">"); ok {
			if i := strings.LastIndex(rest, "</"+name+">"); i >= 0 {
				rest = rest[:i]
			}
			return strings.TrimSpace(rest) // as it is live
		}
	}
	return content
}

// attachment is a prompt that was sent while the agent was at work; other attachments
// are for the model alone.
func (c *Converter) attachment(h Header, line claude.JSON) {
	a, _ := member(line, "attachment")
	kind, _ := member(a, "type")
	prompt, ok := member(a, "prompt")
	if text(kind) != "queued_command" || !ok {
		return
	}
	message := claude.JSON(`{"message":{"role":"user","content":` + prompt + `}}`)
	if m, ok := decoded("user", h, message).(*claude.UserMessage); ok {
		c.user(m)
	}
}

// snakeCase is a JSON object with its keys, at all depths, as the wire spells them:
// pre_tokens for preTokens.
func snakeCase(object claude.JSON) claude.JSON {
	var v any
	if object == "" || object.Decode(&v) != nil {
		return object
	}
	return encoded(snakeKeys(v))
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
			out[strings.ToLower(upperSnake(key))] = snakeKeys(value)
		}
		return out
	}
	return v
}
