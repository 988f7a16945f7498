package event

import "iter"

// Events yields events that show the main thread of the conversation again: complete messages with
// the results of their tools, and the text so far of a streaming answer, so that later deltas
// continue it. The plan is last. Subagents are omitted.
func (c *Conversation) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		thread := c.Thread("")
		if thread == nil {
			return
		}
		for _, item := range thread.Items {
			for _, ev := range item.events(c.Provider) {
				if !yield(ev) {
					return
				}
			}
		}
		if thread.Plan != nil {
			yield(thread.Plan)
		}
	}
}

// events returns the events of one item: its message and the results of its tools.
func (item *Item) events(provider string) []Event {
	m := item.Message
	if m == nil {
		return nil
	}
	head := Header{Provider: provider, MessageID: m.ID, UUID: m.UUID}
	switch {
	case m.Role == "user":
		ev := &UserMessage{}
		if m.User != nil {
			*ev = *m.User
		}
		ev.Header = head
		for _, b := range m.Blocks {
			ev.Blocks = append(ev.Blocks, b.content())
		}
		return []Event{ev}
	case m.State == Streaming:
		return append(m.streamed(head), m.results(provider)...)
	}
	ev := &AssistantMessage{}
	if m.Line != nil {
		*ev = *m.Line
	}
	ev.Header, ev.Model, ev.StopReason = head, m.Model, m.StopReason
	for _, b := range m.Blocks {
		ev.Blocks = append(ev.Blocks, IndexedBlock{Index: b.Index, Block: b.content()})
	}
	return append([]Event{ev}, m.results(provider)...)
}

// streamed returns the start events of an answer, with the text received so far.
func (m *Message) streamed(head Header) []Event {
	list := []Event{&MessageStart{Header: head, Model: m.Model}}
	for _, b := range m.Blocks {
		switch {
		case b.Tool != nil:
			t := b.Tool
			list = append(list, &ToolStart{Header: head, Index: b.Index, ToolUseID: t.ID, Name: t.Name, BlockType: b.Type, Title: t.Title, Kind: t.Kind, Block: b.content().Raw})
			if t.Input != "" {
				list = append(list, &ToolInputComplete{Header: head, Index: b.Index, ToolUseID: t.ID, Input: t.Input})
			} else if !t.InputText.IsZero() {
				list = append(list, &ToolInputDelta{Header: head, Index: b.Index, ToolUseID: t.ID, PartialJSON: t.InputText.String()})
			}
		case b.Type == "text":
			list = append(list, &TextStart{Header: head, Index: b.Index, Text: b.Text.String()})
		case b.Type == "thinking":
			list = append(list, &ThinkingStart{Header: head, Index: b.Index, Thinking: b.Text.String(), Summary: b.Summary})
		}
	}
	return list
}

// results returns the results of the tools of a message.
func (m *Message) results(provider string) (list []Event) {
	for _, b := range m.Blocks {
		if t := b.Tool; t != nil && t.Status != ToolInProgress {
			list = append(list, &ToolComplete{
				Header: Header{Provider: provider}, ToolUseID: t.ID, Content: t.Result, IsError: t.Status != ToolSuccess, ToolUseResult: t.ToolUseResult,
			})
		}
	}
	return list
}

// content returns the block with its content.
func (b *Block) content() Content {
	switch {
	case b.Tool != nil:
		return Content{Type: b.Type, ToolUseID: b.Tool.ID, Name: b.Tool.Name, Title: b.Tool.Title, Kind: b.Tool.Kind, Input: b.Tool.Input, Content: b.Tool.Content, Locations: b.Tool.Locations}
	case b.Data != "":
		return ContentOf(b.Data)
	}
	return Content{Type: b.Type, Text: b.Text.String()}
}
