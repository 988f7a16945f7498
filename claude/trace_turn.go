package claude

import (
	"slices"
	"time"
)

// prompted notes a prompt that is being sent.
func (s *traceStream) prompted(p PromptTrace) {
	var head struct {
		ShouldQuery *bool `json:"shouldQuery"`
	}
	if p.Line.Decode(&head) == nil && head.ShouldQuery != nil && !*head.ShouldQuery {
		return // no turn comes of it
	}
	s.prompts = append(s.prompts, p)
}

// take takes the prompts with these ids out of those that wait.
func (s *traceStream) take(ids []string) (taken []PromptTrace) {
	s.prompts = slices.DeleteFunc(s.prompts, func(p PromptTrace) bool {
		found := p.ID != "" && slices.Contains(ids, p.ID)
		if found {
			taken = append(taken, p)
		}
		return found
	})
	return taken
}

// next are the prompts of a turn that begins. A CLI that names nobody answers in
// order; one that does and names nobody has begun the turn by itself.
func (s *traceStream) next(ids []string) []PromptTrace {
	if len(ids) > 0 {
		s.named = true
		return s.take(ids)
	}
	if len(s.prompts) == 0 || s.named && s.prompts[0].ID != "" {
		return nil
	}
	first := s.prompts[:1:1]
	s.prompts = s.prompts[1:]
	return first
}

// initialised begins a turn, unless one runs that this belongs to.
func (s *traceStream) initialised(m *InitMessage, at time.Time) {
	if s.turn != nil {
		others := slices.ContainsFunc(s.prompts, func(p PromptTrace) bool { return slices.Contains(m.UserMessageUUIDs, p.ID) })
		mine := slices.ContainsFunc(s.turn.Prompts, func(p PromptTrace) bool { return slices.Contains(m.UserMessageUUIDs, p.ID) })
		if !others || mine {
			return
		}
		s.endTurn(at, nil, ErrNoResult)
	}
	s.beginTurn(m.UserMessageUUIDs, at)
}

// open begins a turn that the CLI has not announced.
func (s *traceStream) open(call string, at time.Time) {
	if s.turn == nil && call == "" {
		s.beginTurn(nil, at)
	}
}

func (s *traceStream) beginTurn(ids []string, at time.Time) {
	t := &openTurn{TurnBeginTrace: TurnBeginTrace{At: at, SessionID: s.session, Model: s.model, Prompts: s.next(ids)}}
	if len(t.Prompts) > 0 {
		t.ID, t.Waited = t.Prompts[0].ID, at.Sub(t.Prompts[0].At)
	}
	s.turn = t
	s.voice("", at).since = at
	event(s.t.TurnBegin, t.TurnBeginTrace)
}

// result ends a turn.
func (s *traceStream) result(m *ResultMessage, at time.Time) {
	if s.turn == nil {
		s.beginTurn(m.UserMessageUUIDs, at)
	}
	s.take(append([]string{m.UserMessageUUID}, m.UserMessageUUIDs...))
	s.endTurn(at, m, nil)
}

func (s *traceStream) endTurn(at time.Time, m *ResultMessage, err error) {
	if s.turn == nil {
		return
	}
	s.endTasks(at, func(t *openTask) bool { return t.end != nil || s.calls(t.Task.ToolUseID) && !t.Task.IsBackgrounded })
	s.complete("")
	s.endTools(at, func(t ToolBeginTrace) bool { return t.ParentToolUseID == "" })
	end := TurnEndTrace{Period: Period{s.turn.At, at}, ID: s.turn.ID, Result: m, Err: err}
	if m != nil {
		end.ModelUsage = m.ModelUsageSinceLastResult
		// The total begins again with a conversation.
		if end.CostUSD = m.TotalCostUSD - s.cost; end.CostUSD < 0 {
			end.CostUSD = m.TotalCostUSD
		}
		s.cost = m.TotalCostUSD
	}
	s.turn = nil
	event(s.t.TurnEnd, end)
}

