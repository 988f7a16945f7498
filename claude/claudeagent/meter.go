package claudeagent

import (
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// meter reports the usage of each answer of the API, once. A streamed answer is reported at
// its end, when its output tokens are known; an answer of a subagent, which is not streamed,
// with its first line, which has too few output tokens. The CLI's totals at the end of a
// turn correct that.
type meter struct {
	report func(agent.Used)      // nil reports nothing
	open   map[string]agent.Used // streaming answers, by the tool use of their subagent
	done   map[string]bool       // ids of answers reported in this turn
}

// add processes a message of the CLI.
func (m *meter) add(msg message.Message) {
	if m.report == nil {
		return
	}
	switch msg := msg.(type) {
	case *message.StreamEvent:
		m.stream(msg)
	case *message.Assistant:
		api := msg.Message
		if api.Usage == nil || api.ID == "" || msg.Error != "" || m.open[msg.ParentToolUseID].MessageID == api.ID {
			return
		}
		u := agent.Used{MessageID: api.ID, ParentToolUseID: msg.ParentToolUseID, Model: api.Model}
		count(&u, api.Usage)
		m.tell(u)
	case *message.Result:
		clear(m.done) // ids do not recur in another turn
	}
}

// past handles a message that was reported before.
func (m *meter) past(msg message.Message) {
	report := m.report
	if report == nil {
		return
	}
	m.report = func(agent.Used) {}
	m.add(msg)
	m.report = report
}

func (m *meter) stream(ev *message.StreamEvent) {
	switch e := ev.Event.(type) {
	case *message.MessageStart:
		if m.open == nil {
			m.open = map[string]agent.Used{}
		}
		u := agent.Used{MessageID: e.Message.ID, ParentToolUseID: ev.ParentToolUseID, Model: e.Message.Model}
		count(&u, e.Message.Usage)
		m.open[ev.ParentToolUseID] = u
	case *message.MessageDelta:
		u, ok := m.open[ev.ParentToolUseID]
		if !ok || e.Usage == nil {
			return
		}
		count(&u, e.Usage)
		m.tell(u)
	case *message.MessageStop:
		delete(m.open, ev.ParentToolUseID)
	}
}

// tell reports an answer once.
func (m *meter) tell(u agent.Used) {
	if m.done == nil {
		m.done = map[string]bool{}
	}
	if !m.done[u.MessageID] {
		m.done[u.MessageID] = true
		m.report(u)
	}
}

// count updates u with the API's numbers. Later numbers of one answer are never lower.
func count(u *agent.Used, usage *message.Usage) {
	if usage == nil {
		return
	}
	u.Input, u.Output = max(u.Input, usage.InputTokens), max(u.Output, usage.OutputTokens)
	u.CacheRead = max(u.CacheRead, usage.CacheReadInputTokens)
	long := int64(0)
	if usage.CacheCreation != nil {
		long = usage.CacheCreation.Ephemeral1hInputTokens
	}
	u.CacheWrite1h = max(u.CacheWrite1h, long)
	u.CacheWrite5m = max(u.CacheWrite5m, usage.CacheCreationInputTokens-u.CacheWrite1h)
	if usage.ServerToolUse != nil {
		u.WebSearches = max(u.WebSearches, usage.ServerToolUse.WebSearchRequests)
	}
}
