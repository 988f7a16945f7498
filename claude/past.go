package claude

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// keptPast limits the remembered ids of past turns.
const keptPast = 4096

// pastIDs holds the ids of turns that are over but may still have messages: those of a
// subagent in the background, the end of its task, the rest of an interrupted turn. Such
// messages belong to no later turn.
type pastIDs struct {
	ids   map[string]bool // ids of tasks, of the calls that started them, of prompts
	order []string
	now   []string // started since the last result
}

// turns adds turns that ended with an error.
func (p *pastIDs) turns(turns []*Turn) {
	for _, t := range turns {
		p.add(t.ID)
	}
}

// turnEnded marks the ids of a turn as past.
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
	switch m := e.msg().(type) {
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

// started processes the start of a task. A task started inside a past one is past too;
// one that another call continues is no longer past.
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

// line is like has for an undecoded line.
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

// named reports whether an answer names a past prompt.
func (p *pastIDs) named(text string) bool {
	if len(p.ids) == 0 || !strings.Contains(text, `"user_message_uuid"`) {
		return false
	}
	return p.ids[jsonwire.NewDecoder(text).Peek("user_message_uuid")]
}
