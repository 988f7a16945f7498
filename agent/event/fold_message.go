package event

import "cmp"

func (c *Conversation) assistant(ev *AssistantMessage) {
	c.Retry = nil
	c.retract(ev.ParentToolUseID, ev.Supersedes)
	m := c.answer(&ev.Header, Complete)
	if m.whole == 0 {
		// Complete lines determine the order, also if a message was streamed before.
		c.toEnd(m)
	}
	for i := range ev.Blocks {
		c.confirm(m, ev, &ev.Blocks[i])
	}
	if m.message.State == Incomplete && m.live+m.broken == 0 {
		m.message.State = Complete
	}
	m.message.describe(ev)
	if m.n == 0 && m.message.State != Streaming {
		c.remove(m)
	}
}

// confirm sets a block to the content of a line.
func (c *Conversation) confirm(m *messageIndex, ev *AssistantMessage, whole *IndexedBlock) {
	b := c.ensure(m, whole.Index, whole.Block.Type)
	m.count(b, -1)
	c.fill(b, &whole.Block)
	b.State, b.Whole, b.UUID = Complete, true, kept(ev.UUID)
	m.count(b, 1)
	c.index.line(m, b)
	if ev.ParentToolUseID == "" && b.Type == "text" {
		c.Answer = &AnswerRef{MessageID: m.message.ID, Index: b.Index}
	}
}

// describe sets the fields of the whole message from a line.
func (m *Message) describe(ev *AssistantMessage) {
	if ev.Model != "" {
		m.Model = kept(ev.Model)
	}
	m.end(ev.StopReason, ev.Usage)
	line := *ev
	line.Blocks, line.Supersedes, line.Model, line.StopReason, line.Usage = nil, nil, "", "", ""
	if m.Line != nil && m.Line.Timestamp != "" {
		line.Timestamp = "" // the first counts
	}
	m.Line = over(m.Line, &line)
}

// fill sets a block to a complete block, and drops the content of its deltas.
func (c *Conversation) fill(b *Block, content *Content) {
	tool := b.Tool
	*b = Block{Index: b.Index, Type: kept(content.Type)}
	switch {
	case content.Type == "text" || content.Type == "thinking":
		b.Text, b.Signature, b.Summary = NewText(content.Text), NewText(content.Signature), content.Summary
		for _, citation := range content.Citations {
			b.Citations = append(b.Citations, keptJSON(citation))
		}
	case IsTool(content.Type):
		b.Tool = tool
		t := c.tool(b, content.ToolUseID, content.Name)
		t.Input, t.InputText = keptJSON(content.Input), Text{}
		if content.Title != "" {
			t.Title = kept(content.Title)
		}
		if content.Kind != "" {
			t.Kind = kept(content.Kind)
		}
		if content.Content != "" {
			t.Content = keptJSON(content.Content)
		}
		if content.Locations != "" {
			t.Locations = keptJSON(content.Locations)
		}
	default:
		b.Data = keptJSON(content.Raw)
		c.serverResult(content)
	}
}

// serverResult completes a server-side tool, which has its result in a block of the same message.
func (c *Conversation) serverResult(content *Content) {
	t := c.index.tools[content.ToolUseID]
	if content.ToolUseID == "" || t == nil || !isServerResult(content.Type) {
		return
	}
	result, _ := content.Raw.Member("content")
	t.Result, t.Status = keptJSON(Present(string(result))), ToolSuccess
	errorType, _ := result.Member("error_code")
	isError, _ := content.Raw.Member("is_error")
	if errorType != "" || isError == "true" {
		t.Status = ToolFailed
	}
}

// retract removes the lines with the given uuids.
func (c *Conversation) retract(parent string, uuids []string) {
	for _, uuid := range uuids {
		key := lineKey{parent, uuid}
		for _, ref := range c.index.lines[key] {
			c.index.steps++
			if ref.block.UUID != uuid || !ref.message.has(ref.block) {
				continue
			}
			c.drop(ref.message, ref.block)
			if ref.message.n == 0 {
				c.remove(ref.message)
			}
		}
		delete(c.index.lines, key)
	}
}

func (c *Conversation) user(ev *UserMessage) {
	var m *Message
	if known := c.index.users[ev.UUID]; known != nil && ev.UUID != "" && (ev.IsPrompt || ev.IsReplay || known.message.Restart == c.Restarts) {
		m = known.message
	} else {
		m = &Message{Role: "user", UUID: kept(ev.UUID), State: Complete, Restart: c.Restarts}
		ref := c.add(ev.ParentToolUseID, &Item{Kind: ItemMessage, Message: m})
		if m.UUID != "" {
			put(&c.index.users, m.UUID, &userIndex{m, ref})
		}
	}
	m.Blocks = make([]*Block, len(ev.Blocks))
	for i := range ev.Blocks {
		b := &Block{Index: int64(i)}
		c.fill(b, &ev.Blocks[i])
		b.State, b.Whole = Complete, true
		m.Blocks[i] = b
	}
	user := *ev
	user.Blocks = nil
	if old := m.User; old != nil {
		user.IsPrompt, user.IsReplay = user.IsPrompt || old.IsPrompt, user.IsReplay || old.IsReplay
		user.Timestamp = cmp.Or(user.Timestamp, old.Timestamp)
		user.By = cmp.Or(user.By, old.By)
	}
	m.User = keep(&user)
}

func (c *Conversation) toolComplete(ev *ToolComplete) {
	r := &ToolResult{
		ToolUseID: kept(ev.ToolUseID), UUID: kept(ev.UUID), Content: keptJSON(ev.Content), IsError: ev.IsError,
		ToolUseResult: keptJSON(ev.ToolUseResult), Truncated: ev.Truncated,
	}
	if t := c.index.tools[ev.ToolUseID]; t != nil {
		t.finish(r)
		return
	}
	ref := c.add(ev.ParentToolUseID, &Item{Kind: ItemToolResult, ToolResult: r})
	put(&c.index.orphans, r.ToolUseID, append(c.index.orphans[r.ToolUseID], ref))
}

func (t *ToolCall) finish(r *ToolResult) {
	t.Result, t.ToolUseResult, t.ResultUUID, t.Truncated = r.Content, r.ToolUseResult, r.UUID, r.Truncated
	t.Status = ToolSuccess
	if r.IsError {
		t.Status = ToolFailed
	}
}

// adopt moves the last result that preceded its call to the tool.
func (c *Conversation) adopt(tool *ToolCall) {
	for refs := c.index.orphans[tool.ID]; len(refs) > 0; {
		c.index.steps++
		ref := refs[len(refs)-1]
		refs = refs[:len(refs)-1]
		c.index.orphans[tool.ID] = refs
		if _, ok := c.position(ref); ok {
			tool.finish(ref.item.ToolResult)
			c.leave(ref)
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
