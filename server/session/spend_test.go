package session

import (
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/budget"
)

// counted has no limits and keeps the tokens that it was given.
type counted struct {
	free
	tokens []int64
}

func (c *counted) Used(acc budget.Account, u agent.Used) budget.Row {
	c.tokens = append(c.tokens, u.Total())
	return budget.Row{Account: acc}
}

// TestSpending_once checks that every token is counted once: what an agent tells of each answer
// instead of the events of its turns, and of those what was not in an earlier one. An answer that
// the agent told before the event counts first, though the loop has not taken it yet.
func TestSpending_once(t *testing.T) {
	type step func(p *spending)
	told := func(n int64) step {
		return func(p *spending) { p.tally.add(agent.Used{Tokens: agent.Tokens{Input: n}}) }
	}
	taken := func(p *spending) { p.countUsed() }
	usage := func(turn string, input, output, read, write int64) step {
		return func(p *spending) {
			p.countUsed() // as the loop does before each event
			p.observe(&event.Usage{TurnID: turn, InputTokens: &input, OutputTokens: &output, CacheReadInputTokens: &read, CacheCreationInputTokens: &write})
		}
	}
	ofSubagent := func(p *spending) {
		p.observe(&event.Usage{Header: event.Header{ParentToolUseID: "task"}, TurnID: "t1", InputTokens: new(int64(1000))})
	}
	ofSession := func(p *spending) {
		p.observe(&event.Usage{TurnID: "t1", CostUSD: new(1.0), InputTokens: new(int64(1000))})
	}
	result := func(p *spending) { p.observe(&event.ResultMessage{}) }
	for name, c := range map[string]struct {
		steps []step
		want  []int64
	}{
		"told before the event":        {[]step{told(16), usage("t1", 10, 5, 0, 0)}, []int64{16}},
		"told and taken":               {[]step{told(16), taken, usage("t1", 10, 5, 0, 0)}, []int64{16}},
		"each answer on its own":       {[]step{told(15), told(7), taken}, []int64{15, 7}},
		"told before the result":       {[]step{told(15), result}, []int64{15}},
		"only events":                  {[]step{usage("t1", 1, 2, 3, 4)}, []int64{10}},
		"more of the turn":             {[]step{usage("t1", 1, 2, 3, 4), usage("t1", 2, 4, 6, 8)}, []int64{10, 10}},
		"the same again":               {[]step{usage("t1", 1, 2, 3, 4), usage("t1", 1, 2, 3, 4)}, []int64{10}},
		"the next turn":                {[]step{usage("t1", 1, 2, 3, 4), usage("t2", 1, 2, 3, 4)}, []int64{10, 10}},
		"a subagent, part of a turn":   {[]step{usage("t1", 1, 2, 3, 4), ofSubagent}, []int64{10}},
		"the total of a whole session": {[]step{ofSession}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			accounts := &counted{}
			s.opts.Accounts = accounts
			a := s.newActor(Prefix+"spend", "e")
			defer a.cancel()
			for _, step := range append(c.steps, taken) { // the loop takes what is left
				step(a.spending)
			}
			if !slices.Equal(accounts.tokens, c.want) {
				t.Errorf("counted %v, want %v", accounts.tokens, c.want)
			}
		})
	}
}
