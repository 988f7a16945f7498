package claude

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// keptPast is how many ids of turns that are over are remembered.
const keptPast = 4096

// pastIDs knows what belongs to turns that are over though it may still come:
// what a subagent in the background says, how its task ends, what is left of a
// turn that was interrupted. It belongs to no later turn.
type pastIDs struct {
	ids   map[string]bool // of tasks, of the calls that began them, of prompts
	order []string
	now   []string // begun since the last result
}

// turns notes turns that have ended badly.
func (p *pastIDs) turns(turns []*Turn) {
	for _, t := range turns {
		p.add(t.ID)
	}
}

// turnEnded makes what was begun in a turn a thing of the past.
func (p *pastIDs) turnEnded() {
	for _, id := range p.now {
		p.add(id)
	}
	p.now = nil
}

func (p *pastIDs) add(id string) {
	if id == "" || p.ids[id] {
		return
	}
	if p.ids == nil {
		p.ids = map[string]bool{}
	}
	if len(p.order) == keptPast {
		delete(p.ids, p.order[0])
		p.order = p.order[1:]
	}
	p.ids[id] = true
	p.order = append(p.order, id)
}

// has reports whether a message belongs to a turn that is over.
func (p *pastIDs) has(e entry) bool {
	switch m := e.msg.(type) {
	case *message.TaskStarted:
		return p.started(m)
	case *message.TaskProgress:
		return p.ids[m.TaskID]
	case *message.TaskUpdated:
		return p.ids[m.TaskID]
	case *message.TaskNotification:
		return p.ids[m.TaskID]
	case *message.ToolProgress:
		return p.ids[m.ParentToolUseID] || p.ids[m.TaskID]
	case *message.Assistant:
		return p.ids[m.ParentToolUseID] || p.named(e.text)
	case *message.User:
		return p.ids[m.ParentToolUseID]
	case nil:
		return len(p.ids) > 0 && p.line(e.text)
	}
	return false
}

// started takes a task into account. One that was begun inside of a past one is
// past itself; one that is taken up by another call is not any more.
func (p *pastIDs) started(m *message.TaskStarted) bool {
	if p.ids[m.ParentTaskID] || p.ids[m.ToolUseID] {
		p.add(m.TaskID)
		p.add(m.ToolUseID)
		return true
	}
	delete(p.ids, m.TaskID)
	p.now = append(p.now, strings.Clone(m.TaskID), strings.Clone(m.ToolUseID))
	return false
}

// line is has for a line that is not decoded.
func (p *pastIDs) line(text string) bool {
	d := jsonwire.NewDecoder(text)
	switch d.Peek("type") {
	case "assistant":
		return p.ids[d.Peek("parent_tool_use_id")] || p.named(text)
	case "user":
		return p.ids[d.Peek("parent_tool_use_id")]
	}
	return false
}

// named reports whether an answer names a prompt of the past.
func (p *pastIDs) named(text string) bool {
	if len(p.ids) == 0 || !strings.Contains(text, `"user_message_uuid"`) {
		return false
	}
	return p.ids[jsonwire.NewDecoder(text).Peek("user_message_uuid")]
}
