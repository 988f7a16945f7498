package ui

import (
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

func (c *Conversation) assistant(ev *AssistantMessage) {
	c.retract(ev.ParentToolUseID, ev.Supersedes)
	m := c.answer(&ev.Header, Complete)
	if !slices.ContainsFunc(m.Blocks, func(b *Block) bool { return b.Whole }) {
		// Whole lines give the order, also where a message was streamed before.
		c.thread(ev.ParentToolUseID).toEnd(m)
	}
	for i := range ev.Blocks {
		b := m.block(ev.Blocks[i].Index, ev.Blocks[i].Block.Type)
		c.fill(b, &ev.Blocks[i].Block)
		b.State, b.Whole, b.UUID = Complete, true, kept(ev.UUID)
	}
	if m.State == Incomplete && !slices.ContainsFunc(m.Blocks, func(b *Block) bool { return b.State != Complete }) {
		m.State = Complete
	}
	c.describe(m, ev)
	if len(m.Blocks) == 0 && m.State != Streaming {
		c.remove(ev.ParentToolUseID, m)
	}
}

// describe sets what a line says of the whole message.
func (c *Conversation) describe(m *Message, ev *AssistantMessage) {
	set := func(dst *string, s string) {
		if s != "" {
			*dst = kept(s)
		}
	}
	set(&m.Model, ev.Model)
	set(&m.Error, ev.Error)
	set(&m.AgentID, ev.AgentID)
	m.end(ev.StopReason, ev.Usage)
	if m.Timestamp == "" {
		set(&m.Timestamp, ev.Timestamp)
	}
	m.Aborted = m.Aborted || ev.Aborted
}

// fill makes a block what a whole block says, and forgets what deltas gave.
func (c *Conversation) fill(b *Block, content *Content) {
	tool := b.Tool
	*b = Block{Index: b.Index, Type: kept(content.Type)}
	switch {
	case content.Type == "text" || content.Type == "thinking":
		b.Text, b.Signature = NewText(content.Text), kept(content.Signature)
		for _, citation := range content.Citations {
			b.Citations = append(b.Citations, keptJSON(citation))
		}
	case isTool(content.Type):
		b.Tool = tool
		t := c.tool(b, content.ToolUseID, content.Name)
		t.Input, t.InputText = keptJSON(content.Input), Text{}
	default:
		b.Data = keptJSON(content.Raw)
		c.serverResult(content)
	}
}

// serverResult completes a tool of the API's side, whose result is a block of the
// same message.
func (c *Conversation) serverResult(content *Content) {
	t := c.index.tools[content.ToolUseID]
	if content.ToolUseID == "" || t == nil {
		return
	}
	result, _ := member(content.Raw, "content")
	t.Result, t.Status = keptJSON(present(result)), ToolSuccess
	errorType, _ := member(result, "error_code")
	isError, _ := member(content.Raw, "is_error")
	if errorType != "" || isError == "true" {
		t.Status = ToolFailed
	}
}

// retract takes back the lines of the given uuids.
func (c *Conversation) retract(parent string, uuids []string) {
	if len(uuids) == 0 {
		return
	}
	t := c.thread(parent)
	for i := len(t.Items) - 1; i >= 0; i-- {
		m := t.Items[i].Message
		if m == nil || m.Role != "assistant" {
			continue
		}
		before := len(m.Blocks)
		c.drop(m, func(b *Block) bool { return b.UUID != "" && slices.Contains(uuids, b.UUID) })
		if before > 0 && len(m.Blocks) == 0 {
			c.remove(parent, m)
		}
	}
}

func (c *Conversation) user(ev *UserMessage) {
	m := c.index.users[ev.UUID]
	if ev.UUID == "" || m == nil {
		m = &Message{Role: "user", UUID: kept(ev.UUID), State: Complete}
		c.thread(ev.ParentToolUseID).add(&Item{Kind: ItemMessage, Message: m})
		if m.UUID != "" {
			c.index.users[m.UUID] = m
		}
	}
	m.Blocks = make([]*Block, len(ev.Blocks))
	for i := range ev.Blocks {
		b := &Block{Index: int64(i)}
		c.fill(b, &ev.Blocks[i])
		b.State, b.Whole = Complete, true
		m.Blocks[i] = b
	}
	m.IsPrompt = m.IsPrompt || ev.IsPrompt
	m.IsReplay = m.IsReplay || ev.IsReplay
	m.IsSynthetic, m.IsMeta = ev.IsSynthetic, ev.IsMeta
	m.Origin, m.AgentID = kept(ev.Origin), kept(ev.AgentID)
	if ev.Timestamp != "" {
		m.Timestamp = kept(ev.Timestamp)
	}
}

func (c *Conversation) toolComplete(ev *ToolComplete) {
	if t := c.index.tools[ev.ToolUseID]; t != nil {
		t.finish(&ToolResult{UUID: kept(ev.UUID), Content: keptJSON(ev.Content), IsError: ev.IsError, ToolUseResult: keptJSON(ev.ToolUseResult)})
		return
	}
	t := c.thread(ev.ParentToolUseID)
	id := kept(ev.ToolUseID)
	t.add(&Item{Kind: ItemToolResult, ToolResult: &ToolResult{
		ToolUseID: id, UUID: kept(ev.UUID), Content: keptJSON(ev.Content), IsError: ev.IsError, ToolUseResult: keptJSON(ev.ToolUseResult),
	}})
	c.index.orphans[id] = t
}

func (t *ToolCall) finish(r *ToolResult) {
	t.Result, t.ToolUseResult, t.ResultUUID = r.Content, r.ToolUseResult, r.UUID
	t.Status = ToolSuccess
	if r.IsError {
		t.Status = ToolFailed
	}
}

// adopt gives a tool the result that came before its call.
func (c *Conversation) adopt(tool *ToolCall) {
	t := c.index.orphans[tool.ID]
	if t == nil {
		return
	}
	delete(c.index.orphans, tool.ID)
	for i := len(t.Items) - 1; i >= 0; i-- {
		if r := t.Items[i].ToolResult; r != nil && r.ToolUseID == tool.ID {
			tool.finish(r)
			t.Items = slices.Delete(t.Items, i, i+1)
			return
		}
	}
}

func (c *Conversation) toolProgress(ev *ToolProgress) {
	t := c.index.tools[ev.ToolUseID]
	if t == nil {
		return
	}
	if t.Progress == nil {
		t.Progress = &Progress{}
	}
	t.Progress.ElapsedSeconds = ev.ElapsedSeconds
	if ev.TaskID != "" {
		t.Progress.TaskID = kept(ev.TaskID)
	}
	t.Progress.Output.Append(ev.Output)
}

func (c *Conversation) unknown(ev *Unknown) {
	if ev.OriginalType == "system/model_refusal_fallback" {
		c.retract(ev.ParentToolUseID, retracted(ev))
	}
	c.thread(ev.ParentToolUseID).add(&Item{Kind: ItemUnknown, Unknown: &UnknownItem{OriginalType: kept(ev.OriginalType), Data: keptJSON(ev.Data)}})
}

// retracted are the lines that a refusal takes back.
func retracted(ev *Unknown) []string {
	list, _ := member(ev.Data, "retracted_message_uuids")
	var uuids []string
	for _, j := range elements(list) {
		if s, ok := jsonwire.NewDecoder(string(j)).String(); ok {
			uuids = append(uuids, s)
		}
	}
	return uuids
}
