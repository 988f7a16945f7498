package claude

import (
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// prompted records a prompt that is being sent.
func (s *traceStream) prompted(p PromptTrace) {
	if !p.NoQuery {
		s.prompts = append(s.prompts, p)
	}
}

// take removes the prompts with these ids from the waiting ones.
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

// next returns the prompts of a turn that begins. A CLI that never names prompts answers in
// order; for other CLIs a turn without names is one that the CLI began by itself.
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

// initialised begins a turn, unless the message belongs to the running one.
func (s *traceStream) initialised(m *message.Init, at time.Time) {
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
	main := s.talk("", at)
	main.since, main.last = at, ""
	event(s.t.TurnBegin, t.TurnBeginTrace)
}

// result ends a turn.
func (s *traceStream) result(m *message.Result, at time.Time) {
	if s.turn == nil {
		s.beginTurn(m.UserMessageUUIDs, at)
	}
	s.turn.Prompts = append(s.turn.Prompts, s.take(append([]string{m.UserMessageUUID}, m.UserMessageUUIDs...))...)
	s.endTurn(at, m, nil)
}

func (s *traceStream) endTurn(at time.Time, m *message.Result, err error) {
	if s.turn == nil {
		return
	}
	s.endTasks(at, func(t *openTask) bool { return t.end != nil || s.calls(t.Task.ToolUseID) && !t.Task.IsBackgrounded })
	s.complete("")
	s.endTools(at, func(t ToolBeginTrace) bool { return t.ParentToolUseID == "" })
	end := TurnEndTrace{Period: Period{s.turn.At, at}, ID: s.turn.ID, Prompts: s.turn.Prompts, Result: m, Err: err}
	if m != nil {
		end.ModelUsage, end.CostUSD = s.spent(m)
	}
	s.turn = nil
	event(s.t.TurnEnd, end)
}

// spent returns the usage and the cost of a turn. Results have totals of the process; newer
// CLIs also report the difference.
func (s *traceStream) spent(m *message.Result) (map[string]message.ModelUsage, float64) {
	cost := m.TotalCostUSD - s.cost
	if cost < 0 {
		cost = m.TotalCostUSD // the total was reset
	}
	used := m.ModelUsageSinceLastResult
	if used == nil {
		used = map[string]message.ModelUsage{}
		for model, total := range m.ModelUsage {
			used[model] = usageSince(total, s.usage[model])
		}
	}
	s.cost, s.usage = m.TotalCostUSD, m.ModelUsage
	return used, cost
}

// usageSince returns the difference from an earlier total.
func usageSince(u, before message.ModelUsage) message.ModelUsage {
	if before.InputTokens > u.InputTokens || before.OutputTokens > u.OutputTokens {
		return u // the total was reset
	}
	u.InputTokens -= before.InputTokens
	u.OutputTokens -= before.OutputTokens
	u.ThinkingTokens -= before.ThinkingTokens
	u.CacheReadInputTokens -= before.CacheReadInputTokens
	u.CacheCreationInputTokens -= before.CacheCreationInputTokens
	u.CacheCreationEphemeral5mInputTokens -= before.CacheCreationEphemeral5mInputTokens
	u.CacheCreationEphemeral1hInputTokens -= before.CacheCreationEphemeral1hInputTokens
	u.WebSearchRequests -= before.WebSearchRequests
	u.CostUSD -= before.CostUSD
	return u
}
