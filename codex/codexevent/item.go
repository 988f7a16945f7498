package codexevent

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// openItem is an item that was started and has not ended.
type openItem struct {
	number     int // order of the starts
	turnID, id string
	key        string // its id in the events
	partial    *item.Partial
	blocks     map[blockKey]int64 // for reasoning: the indexes of its parts
	begun      bool               // its message has started
}

// blockKey identifies a part of the reasoning or of its summary.
type blockKey struct {
	summary bool
	index   int64
}

// place identifies a turn of a thread.
func place(t *thread, turnID string) string { return t.id + " " + turnID }

// key returns the id of an item in the events. Ids are unique only within a turn; an id that
// another turn has used gets the turn's id as well.
func (c *Converter) key(t *thread, turnID, id string) string {
	place := place(t, turnID)
	for key := id; ; key += "@" + turnID {
		owner, taken := c.ids[key]
		if !taken {
			c.ids[key] = place
		}
		if !taken || owner == place || turnID == "" {
			return key
		}
	}
}

// openItems are the open items of a thread, by turn and id.
type openItems struct {
	turns  map[string]map[string]*openItem
	number int
}

// find returns an open item of a thread, or nil.
func (t *thread) find(turnID, id string) *openItem { return t.open.turns[turnID][id] }

func (c *Converter) openItem(t *thread, turnID string, i item.Item) *openItem {
	o := &openItem{turnID: turnID, id: i.Head().ID, key: c.key(t, turnID, i.Head().ID), partial: item.NewPartial(i), blocks: map[blockKey]int64{}}
	if t.open.turns == nil {
		t.open.turns = map[string]map[string]*openItem{}
	}
	if t.open.turns[turnID] == nil {
		t.open.turns[turnID] = map[string]*openItem{}
	}
	t.open.number++
	o.number = t.open.number
	t.open.turns[turnID][o.id] = o
	if call, ok := i.(*item.MCPToolCall); ok {
		if t.mcp == nil {
			t.mcp = map[string]*openItem{}
		}
		t.mcp[call.Server] = o
	}
	return o
}

func (t *thread) close(o *openItem) {
	if turn := t.open.turns[o.turnID]; turn[o.id] == o {
		delete(turn, o.id)
		if len(turn) == 0 {
			delete(t.open.turns, o.turnID)
		}
	}
}

// inOrder returns the open items of a turn in the order of their starts.
func (t *thread) inOrder(turnID string) []*openItem {
	return slices.SortedFunc(maps.Values(t.open.turns[turnID]), func(a, b *openItem) int { return a.number - b.number })
}

// itemStarted handles the start of an item.
func (c *Converter) itemStarted(t *thread, n *item.ItemStarted) {
	if n.Item == nil {
		return
	}
	o := t.find(n.TurnID, n.Item.Head().ID)
	_, patch := n.Item.(*item.FileChange)
	if o != nil && (!patch || item.Kind(o.partial.Started()) != item.Kind(n.Item)) {
		c.cut(t, o, item.CutTurnEnded) // started twice
		o = nil
	}
	if o != nil && o.begun {
		// A patch is announced before its start; now its input is known.
		if call, ok := toolOf(n.Item); ok {
			c.confirm(t, o, call)
		}
		o.partial = item.NewPartial(n.Item)
		return
	}
	o = c.openItem(t, n.TurnID, n.Item)
	switch i := n.Item.(type) {
	case *item.UserMessage:
		c.userMessage(t, o, i)
	case *item.AgentMessage, *item.Plan:
		c.startMessage(t, o)
		c.emit(&event.TextStart{Header: c.messageHead(t, o)})
	case *item.Reasoning:
		c.startMessage(t, o)
	case *item.ContextCompaction:
		c.emit(&event.Status{Header: c.head(t), Status: "compacting"})
	case *item.SubAgentActivity:
		c.activity(t, o.key, i)
	default:
		if tool, ok := toolOf(n.Item); ok {
			c.startTool(t, o, tool)
		}
	}
}

// messageHead returns the header of an event of an item's message.
func (c *Converter) messageHead(t *thread, o *openItem) event.Header {
	h := c.head(t)
	h.MessageID = o.key
	return h
}

func (c *Converter) startMessage(t *thread, o *openItem) {
	o.begun = true
	c.emit(&event.MessageStart{Header: c.messageHead(t, o), Model: c.model})
}

// userMessage emits a prompt. The prompt of a subagent was written by an agent.
func (c *Converter) userMessage(t *thread, o *openItem, i *item.UserMessage) {
	h := c.head(t)
	h.UUID = o.key
	if i.ClientID != "" {
		h.UUID = i.ClientID
	}
	o.begun = true
	c.emit(&event.UserMessage{Header: h, Blocks: inputs(i.Content), IsPrompt: t.parent == "", IsSynthetic: t.parent != ""})
}

// inputs converts the parts of a prompt.
func inputs(list []item.Input) []event.Content {
	blocks := []event.Content{}
	for _, in := range list {
		var b event.Content
		switch in := in.(type) {
		case *item.Text:
			b = event.Content{Type: "text", Text: in.Text, Raw: event.Encoded(map[string]any{"type": "text", "text": in.Text})}
		case *item.Image:
			b.Type = "image"
		case *item.LocalImage:
			b.Type = "localImage"
		case *item.Audio:
			b.Type = "audio"
		case *item.LocalAudio:
			b.Type = "localAudio"
		case *item.Skill:
			b.Type = "skill"
		case *item.Mention:
			b.Type = "mention"
		case *item.UnknownInput:
			b.Type = in.Type
		case nil:
			continue
		}
		if b.Raw == "" {
			b.Raw = event.NewJSON(string(item.ValueOf(in)))
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// delta adds a delta to an open item.
func (c *Converter) delta(t *thread, n item.Notification) {
	o := t.find(n.Head().TurnID, item.ItemOf(n))
	if o == nil {
		if p, ok := n.(*item.FileChangePatchUpdated); ok {
			c.announced(t, p)
		}
		return // late, or the start of the item was missed: the completed item has the full text
	}
	if !fits(o.partial.Started(), n) {
		return
	}
	o.partial.Add(n)
	h := c.messageHead(t, o)
	switch n := n.(type) {
	case *item.AgentMessageDelta:
		c.emit(&event.TextDelta{Header: h, Text: n.Delta})
	case *item.PlanDelta:
		c.emit(&event.TextDelta{Header: h, Text: n.Delta})
	case *item.ReasoningSummaryPartAdded:
		c.part(t, o, blockKey{true, n.SummaryIndex})
	case *item.ReasoningSummaryDelta:
		c.emit(&event.ThinkingDelta{Header: h, Index: c.part(t, o, blockKey{true, n.SummaryIndex}), Thinking: n.Delta})
	case *item.ReasoningTextDelta:
		c.emit(&event.ThinkingDelta{Header: h, Index: c.part(t, o, blockKey{false, n.ContentIndex}), Thinking: n.Delta})
	case *item.CommandOutputDelta:
		c.emit(&event.ToolProgress{Header: c.head(t), ToolUseID: o.key, ToolName: commandTool, Output: n.Delta})
	case *item.FileChangeOutputDelta:
		c.emit(&event.ToolProgress{Header: c.head(t), ToolUseID: o.key, ToolName: patchTool, Output: n.Delta})
	case *item.MCPToolCallProgress:
		c.emit(&event.ToolProgress{Header: c.head(t), ToolUseID: o.key, Output: n.Message + "\n", Data: event.NewJSON(string(n.Raw()))})
	case *item.TerminalInteraction:
		c.emit(&event.ToolProgress{Header: c.head(t), ToolUseID: o.key, ToolName: commandTool, Data: event.NewJSON(string(n.Raw()))})
	case *item.FileChangePatchUpdated:
		if call, ok := toolOf(o.partial.Item()); ok {
			c.confirm(t, o, call)
		}
	}
}

// fits reports whether a delta matches the item's type.
func fits(i item.Item, n item.Notification) (ok bool) {
	switch n.(type) {
	case *item.AgentMessageDelta:
		_, ok = i.(*item.AgentMessage)
	case *item.PlanDelta:
		_, ok = i.(*item.Plan)
	case *item.ReasoningSummaryPartAdded, *item.ReasoningSummaryDelta, *item.ReasoningTextDelta:
		_, ok = i.(*item.Reasoning)
	case *item.CommandOutputDelta, *item.TerminalInteraction:
		_, ok = i.(*item.CommandExecution)
	case *item.FileChangeOutputDelta, *item.FileChangePatchUpdated:
		_, ok = i.(*item.FileChange)
	case *item.MCPToolCallProgress:
		_, ok = i.(*item.MCPToolCall)
	}
	return ok
}

// announced starts a patch that the model is still writing. An update of an item that has ended is late and has no effect.
func (c *Converter) announced(t *thread, n *item.FileChangePatchUpdated) {
	if c.ids[n.ItemID] == place(t, n.TurnID) {
		return
	}
	i := &item.FileChange{ItemHead: item.ItemHead{ID: n.ItemID}, Changes: n.Changes, Status: item.StatusInProgress}
	o := c.openItem(t, n.TurnID, i)
	tool, _ := toolOf(i)
	c.startTool(t, o, tool)
}

// part returns the index of a part of the reasoning, and starts the part if needed.
func (c *Converter) part(t *thread, o *openItem, key blockKey) int64 {
	if at, ok := o.blocks[key]; ok {
		return at
	}
	at := int64(len(o.blocks))
	o.blocks[key] = at
	c.emit(&event.ThinkingStart{Header: c.messageHead(t, o), Index: at, Summary: key.summary})
	return at
}

// completed handles the end of an item.
func (c *Converter) completed(t *thread, n *item.ItemCompleted) {
	if n.Item == nil {
		return
	}
	o := t.find(n.TurnID, n.Item.Head().ID)
	if o == nil { // its start was missed, or it was cut and ends after all
		o = &openItem{turnID: n.TurnID, id: n.Item.Head().ID, key: c.key(t, n.TurnID, n.Item.Head().ID), partial: item.NewPartial(n.Item), blocks: map[blockKey]int64{}}
	}
	t.close(o)
	if item.Kind(o.partial.Started()) != item.Kind(n.Item) {
		c.cut(t, o, item.CutTurnEnded) // it is another item with the same id
		o.begun, o.blocks = false, map[blockKey]int64{}
	}
	switch i := n.Item.(type) {
	case *item.UserMessage:
		if !o.begun {
			c.userMessage(t, o, i)
		}
	case *item.AgentMessage:
		c.endText(t, o, false, nil)
		c.whole(t, o, i.Phase, event.IndexedBlock{Block: textBlock(i.Text)})
		if t.parent == "" {
			c.answer = i.Text
		}
	case *item.Plan:
		c.endText(t, o, false, nil)
		c.whole(t, o, "plan", event.IndexedBlock{Block: textBlock(i.Text)})
		c.emit(&event.Plan{Header: c.head(t), Text: i.Text, Entries: []event.PlanEntry{}})
	case *item.Reasoning:
		c.endReasoning(t, o, i)
	default:
		c.completedOther(t, o, n.Item)
	}
}

func textBlock(text string) event.Content {
	return event.Content{Type: "text", Text: text, Raw: event.Encoded(map[string]any{"type": "text", "text": text})}
}

// endText ends a streamed text.
func (c *Converter) endText(t *thread, o *openItem, incomplete bool, abandoned *int64) {
	if !o.begun {
		return
	}
	h := c.messageHead(t, o)
	c.emit(&event.BlockStop{Header: h, Incomplete: incomplete})
	c.emit(&event.MessageComplete{Header: h, Incomplete: incomplete, AbandonedFrom: abandoned})
}

// whole emits the final message.
func (c *Converter) whole(t *thread, o *openItem, phase string, blocks ...event.IndexedBlock) {
	h := c.messageHead(t, o)
	h.UUID = o.key
	c.emit(&event.AssistantMessage{Header: h, Model: c.model, Phase: phase, Blocks: blocks})
}

// endReasoning ends reasoning and emits the parts that were not streamed.
func (c *Converter) endReasoning(t *thread, o *openItem, i *item.Reasoning) {
	var blocks []event.IndexedBlock
	add := func(summary bool, parts []string) {
		for n, text := range parts {
			key := blockKey{summary, int64(n)}
			at, ok := o.blocks[key]
			if !ok {
				at = int64(len(o.blocks))
				if o.begun {
					at = c.part(t, o, key)
				}
				o.blocks[key] = at
			}
			blocks = append(blocks, event.IndexedBlock{Index: at, Block: event.Content{
				Type: "thinking", Text: text, Summary: summary, Raw: thinkingRaw(text, summary),
			}})
		}
	}
	add(true, i.Summary)
	add(false, i.Content)
	slices.SortFunc(blocks, func(a, b event.IndexedBlock) int { return int(a.Index - b.Index) })
	c.stopReasoning(t, o, false, nil)
	if len(blocks) > 0 {
		c.whole(t, o, "", blocks...)
	}
}

func thinkingRaw(text string, summary bool) event.JSON {
	block := map[string]any{"type": "thinking", "thinking": text}
	if summary {
		block["summary"] = true
	}
	return event.Encoded(block)
}

func (c *Converter) stopReasoning(t *thread, o *openItem, incomplete bool, abandoned *int64) {
	if !o.begun {
		return
	}
	h := c.messageHead(t, o)
	for at := range int64(len(o.blocks)) {
		c.emit(&event.BlockStop{Header: h, Index: at, Incomplete: incomplete})
	}
	c.emit(&event.MessageComplete{Header: h, Incomplete: incomplete, AbandonedFrom: abandoned})
}

// completedOther ends an item other than a message or reasoning.
func (c *Converter) completedOther(t *thread, o *openItem, i item.Item) {
	switch i := i.(type) {
	case *item.ContextCompaction:
		trigger := "auto"
		if c.compact {
			trigger, c.compact = "manual", false
		}
		h := c.head(t)
		h.UUID = o.key
		c.emit(&event.CompactBoundary{Header: h, Trigger: trigger})
		c.emit(&event.Status{Header: c.head(t)})
	case *item.EnteredReviewMode:
		c.emit(&event.Status{Header: c.head(t), Status: "reviewing"})
		c.emit(&event.Notice{Header: c.head(t), Severity: event.NoticeInfo, Code: "review_started", Text: i.Review})
	case *item.ExitedReviewMode:
		c.emit(&event.Status{Header: c.head(t)})
		c.emit(&event.Notice{Header: c.head(t), Severity: event.NoticeInfo, Code: "review_finished", Text: i.Review})
	case *item.HookPrompt:
		var text []string
		for _, f := range i.Fragments {
			text = append(text, f.Text)
		}
		h := c.head(t)
		h.UUID = o.key
		c.emit(&event.UserMessage{Header: h, IsSynthetic: true, Origin: "hook", Blocks: []event.Content{textBlock(strings.Join(text, "\n"))}})
	case *item.SubAgentActivity:
		c.activity(t, o.key, i)
	case *item.UnknownItem:
		c.emit(&event.Unknown{Header: c.head(t), OriginalType: "item/" + i.Type, Data: event.NewJSON(string(i.Raw()))})
	default:
		c.endTool(t, o, i)
	}
}

// cutTurn closes the open items of a turn that match.
func (c *Converter) cutTurn(t *thread, turnID, reason string, match func(item.Item) bool) {
	for _, o := range t.inOrder(turnID) {
		if match(o.partial.Started()) {
			c.cut(t, o, reason)
		}
	}
}

// cut closes an item that will not be completed.
func (c *Converter) cut(t *thread, o *openItem, reason string) {
	t.close(o)
	var abandoned *int64
	if reason == item.CutRetry {
		abandoned = new(int64) // a new message replaces it
	}
	switch i := o.partial.Started().(type) {
	case *item.AgentMessage, *item.Plan:
		c.endText(t, o, true, abandoned)
	case *item.Reasoning:
		c.stopReasoning(t, o, true, abandoned)
	case *item.ContextCompaction:
		c.emit(&event.Status{Header: c.head(t)})
	default:
		if _, ok := toolOf(i); ok && o.begun {
			c.cutTool(t, o, reason)
		}
	}
}
