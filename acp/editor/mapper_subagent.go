package editor

import (
	"slices"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Update is an update of a session, or of a subagent's session below it.
type Update struct {
	// Subagent is the session of the subagent to which the update belongs, or "" for the mapper's
	// session.
	Subagent string
	acp.SessionUpdate
}

// child is a subagent. A client with subagent sessions gets a session instead of the call that
// began the subagent.
type child struct {
	call      *toolCall
	task      string // its task, with which it can be stopped; "" if it is unknown
	id        string // the id of its session
	parent    string // the session that began it; "" means the mapper's
	announced bool
	over      bool
}

// isSubagentTool reports whether a tool begins a subagent.
func isSubagentTool(name string) bool { return name == "Agent" || name == "Task" }

// launches records a call that begins a subagent. It reports whether the subagent's session is
// shown instead of the call.
func (m *Mapper) launches(t *toolCall) bool {
	if !m.Features.Subagents || !isSubagentTool(t.name) {
		return false
	}
	m.children[t.id] = &child{call: t}
	return true
}

// session returns the session of events with this parent call. The first event of a subagent begins
// its session.
func (m *Mapper) session(parent string) string {
	if parent == "" || !m.Features.Subagents {
		return ""
	}
	c := m.children[parent]
	if c == nil {
		t := m.tools[parent]
		if t == nil {
			return "" // the start of the call was missed
		}
		c = &child{call: t}
		m.children[parent] = c
	}
	m.announce(c, "")
	return c.id
}

// announce begins the session of a subagent with its first message. Further calls have no effect.
func (m *Mapper) announce(c *child, id string) {
	if c.announced {
		return
	}
	for _, known := range []string{id, c.task, c.call.id} {
		if c.id == "" {
			c.id = known
		}
	}
	c.announced = true
	c.parent = m.session(c.call.parent)
	in := input(c.call.input)
	u := &acp.SubagentUpdate{SessionID: acp.SessionID(c.id), State: acp.Some(acp.StateUpdate{State: acp.StateUpdateIsRunning})}
	if c.task != "" {
		u.Capabilities = acp.Some(acp.SubagentSessionCapabilities{Cancel: acp.Some(acp.SessionCancelCapabilities{})})
	}
	u.Title, u.Description = acp.NonZero(in.str("subagent_type")), acp.NonZero(in.str("description"))
	if !u.Title.IsSet() {
		u.Title = acp.Some(c.call.shown.title)
	}
	m.emitTo(c.parent, acp.SessionUpdateIsSubagentUpdate, u)
	if text := in.str("prompt"); text != "" {
		m.passed(c.call.id, text, c.parent, c.id)
	}
}

// passed shows a message between two sessions in both of them.
func (m *Mapper) passed(id, text, from, to string) {
	name := func(session string) acp.SessionID {
		if session == "" {
			session = m.Session
		}
		return acp.SessionID(session)
	}
	message := acp.SessionMessage{
		MessageID: acp.MessageID(id), SenderSessionID: acp.Some(name(from)), RecipientSessionID: acp.Some(name(to)),
		Content: acp.Some([]acp.ContentBlock{acp.TextBlock(text)}),
	}
	sent, received := message, message
	sent.RecipientMessageID, received.SenderMessageID = acp.Some(message.MessageID), acp.Some(message.MessageID)
	m.emitTo(from, acp.SessionUpdateIsSessionMessage, &sent)
	m.emitTo(to, acp.SessionUpdateIsSessionMessage, &received)
}

// taskOf records the task of a subagent and begins its session.
func (m *Mapper) taskOf(ev *event.TaskStarted) {
	if c := m.children[ev.ToolUseID]; c != nil && !c.announced {
		c.task = ev.TaskID
		m.announce(c, "")
	}
}

// report ends the session of the subagent that a call began, and shows its report in the parent's session. It ignores
// calls that have no session.
func (m *Mapper) report(t *toolCall, text, id, reason string) {
	c := m.children[t.id]
	if c == nil {
		return
	}
	if t.hidden {
		m.announce(c, id)
	}
	if c.announced && !c.over && text != "" {
		m.passed(t.id+":reply", text, c.id, c.parent)
	}
	m.endChild(c, reason)
}

// endChild ends the session of a subagent and the sessions below it, once.
func (m *Mapper) endChild(c *child, reason string) {
	if !c.announced || c.over {
		return
	}
	c.over = true
	for _, id := range m.open(c.id) {
		m.endChild(m.children[id], acp.IdleStateUpdateIsCancelled)
	}
	m.childState(c, acp.StateUpdate{State: acp.StateUpdateIsIdle, Value: &acp.IdleStateUpdate{StopReason: reason}})
}

func (m *Mapper) childState(c *child, state acp.StateUpdate) {
	m.emitTo(c.parent, acp.SessionUpdateIsSubagentUpdate, &acp.SubagentUpdate{SessionID: acp.SessionID(c.id), State: acp.Some(state)})
}

// asking updates whether the subagent that made a call waits for a person.
func (m *Mapper) asking(t *toolCall, state string) {
	if c := m.children[t.parent]; c != nil && c.announced && !c.over {
		m.childState(c, acp.StateUpdate{State: state})
	}
}

// open returns the calls that began the running subagents of a session.
func (m *Mapper) open(session string) []string {
	var list []string
	for id, c := range m.children {
		if c.announced && !c.over && c.parent == session {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// endChildren ends the sessions of all subagents, because the agent has ended.
func (m *Mapper) endChildren() []Update {
	m.out = m.out[:0]
	for _, id := range m.open("") {
		m.endChild(m.children[id], acp.IdleStateUpdateIsCancelled)
	}
	return m.out
}

// stopOfTask returns the stop reason for the status of a task.
func stopOfTask(status string) string {
	switch status {
	case "completed":
		return acp.IdleStateUpdateIsEndTurn
	case "failed":
		return acp.IdleStateUpdateIsError
	}
	return acp.IdleStateUpdateIsCancelled
}

// taskFor returns the running task of the subagent with a session, or "".
func (m *Mapper) taskFor(session string) string {
	for _, c := range m.children {
		if c.announced && !c.over && c.id == session {
			return c.task
		}
	}
	return ""
}

// ownerOf returns the subagent session that a call belongs to, or "" for the mapper's session.
func (m *Mapper) ownerOf(toolUseID string) string {
	t := m.tools[toolUseID]
	if t == nil || m.children[t.parent] == nil {
		return ""
	}
	return m.children[t.parent].id
}

// aside shows a text of a subagent to a client without subagent sessions, as a separate message
// tagged with the call that began the subagent. It waits until the main thread's streamed message
// ends, because clients may confuse concurrent messages.
func (m *Mapper) aside(h *event.Header, kind, messageID, text string) {
	if text == "" {
		return
	}
	c := &acp.ContentChunk{Content: acp.TextBlock(text), MessageID: acp.NonZero(acp.MessageID(messageID))}
	c.Meta = claudeMeta(map[string]string{"parentToolUseId": h.ParentToolUseID})
	u := Update{SessionUpdate: acp.SessionUpdate{SessionUpdate: kind, Value: c}}
	if m.streaming && len(m.asides) < maxAsides {
		m.asides = append(m.asides, u)
		return
	}
	m.out = append(m.out, u)
}

// maxAsides limits the messages of subagents that wait for the end of a message.
const maxAsides = 256

// flow records whether the main thread is streaming a message, and shows the waiting texts when the message ends.
func (m *Mapper) flow(ev event.Event) {
	if ev.Head().ParentToolUseID != "" {
		return
	}
	switch ev.(type) {
	case *event.TextStart, *event.TextDelta, *event.ThinkingStart, *event.ThinkingDelta:
		m.streaming = true
	case *event.MessageStart, *event.MessageComplete, *event.AssistantMessage, *event.ToolStart, *event.ResultMessage, *event.TurnStart:
		m.streaming = false
		m.out = append(m.out, m.asides...)
		m.asides = nil
	}
}
