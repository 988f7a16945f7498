package session

import "github.com/seed7221b0f9/parley/agent/event"

// seen holds the events of a session that are in the log. With it the server finds the events that
// another process has added.
type seen struct {
	lines  map[string]bool   // uuids of messages and results
	blocks map[blockKey]bool // complete blocks
	began  bool              // an event of a turn was new: all later ones are new too
}

type blockKey struct {
	messageKey
	index int64
}

func newSeen(c *event.Conversation) *seen {
	s := &seen{lines: map[string]bool{}, blocks: map[blockKey]bool{}}
	for _, turn := range c.Turns {
		if turn.Start != nil {
			s.lines[turn.Start.PromptID] = true
		}
	}
	for _, th := range c.Threads {
		for _, it := range th.Items {
			if it.ToolResult != nil {
				s.lines[it.ToolResult.UUID] = true
			}
			if it.Message == nil {
				continue
			}
			s.lines[it.Message.UUID] = true
			for _, b := range it.Message.Blocks {
				s.lines[b.UUID] = true
				if b.Whole {
					s.blocks[blockKey{messageKey{th.ParentToolUseID, it.Message.ID}, b.Index}] = true
				}
				if b.Tool != nil {
					s.lines[b.Tool.ResultUUID] = true
				}
			}
		}
	}
	delete(s.lines, "")
	return s
}

// fresh reports whether an event is missing from the log, and records it. Events outside of turns
// cannot be identified: they count as new after the first new event of a turn.
func (s *seen) fresh(ev event.Event) bool {
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.SessionState:
		return false
	case *event.TurnStart:
		return s.note(ev.PromptID, "") || s.began && ev.PromptID == ""
	case *event.UserMessage:
		if (ev.IsMeta || ev.IsSynthetic) && !s.began {
			return false // the agent does not show it while the server runs it
		}
		return s.note(h.UUID, "message")
	case *event.ToolComplete:
		return s.note(h.UUID, "result")
	case *event.AssistantMessage:
		fresh := false
		for _, b := range ev.Blocks {
			key := blockKey{keyOf(h), b.Index}
			fresh = fresh || !s.blocks[key]
			s.blocks[key] = true
		}
		fresh = fresh && s.note(h.UUID, "message")
		return fresh
	}
	return s.began
}

// note records a line and reports whether it is new. The events of a line are distinguished,
// because a turn and its prompt share it.
func (s *seen) note(uuid, what string) bool {
	if s.lines[uuid] || uuid == "" || s.lines[what+" "+uuid] {
		return false
	}
	s.lines[what+" "+uuid] = true
	s.began = true
	return true
}
