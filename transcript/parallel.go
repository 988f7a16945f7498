package transcript

import (
	"slices"
	"strings"
)

// parallel adds parallel branches to a chain: the CLI runs the tools of one answer at the same
// time, each result follows its line of the answer, and the conversation continues from only one of
// them.
type parallel struct {
	g       *graph
	inChain map[*node]bool
	answers map[string][]*node  // the lines of each answer, by message id
	callers map[string]*node    // by tool use id; nil if two answers claim it
	results map[string][]*node  // by the uuid of the line that called the tool
	known   map[called]bool     // results already collected
	ids     map[called][]string // tool use ids of a result that an answer called
	done    map[string]bool     // tool use ids with a result in the chain
}

// called is a result and the caller of its tool: the uuid of a line, or the id of an answer.
type called struct {
	by     string
	result *node
}

// withParallel returns the chain with every line of its answers and the results of all their tool
// calls.
func (g *graph) withParallel(chain []*node) []*node {
	last := map[string]*node{} // the last line of each answer on the chain
	for _, n := range chain {
		if id := n.messageID(); id != "" {
			last[id] = n
		}
	}
	if len(last) == 0 {
		return chain
	}
	p := &parallel{
		g: g, inChain: map[*node]bool{}, answers: map[string][]*node{},
		callers: map[string]*node{}, results: map[string][]*node{}, known: map[called]bool{}, ids: map[called][]string{}, done: map[string]bool{},
	}
	for _, n := range chain {
		if g.work.over() {
			return chain
		}
		p.inChain[n] = true
		for _, id := range n.toolResults() {
			p.done[id] = true
		}
	}
	p.collect()

	missing := map[*node][]*node{} // after which line of the chain
	seen := map[string]bool{}
	for _, n := range chain {
		id := n.messageID()
		if id == "" || seen[id] {
			continue
		}
		seen[id] = true
		if g.work.over() {
			return chain
		}
		missing[last[id]] = p.missingOf(p.answers[id])
	}
	var out []*node
	for _, n := range chain {
		out = append(out, n)
		out = append(out, missing[n]...)
	}
	return out
}

// collect collects the answers and the tool results.
func (p *parallel) collect() {
	var results []*node
	for _, n := range p.g.nodes {
		if p.g.work.over() {
			return
		}
		if id := n.messageID(); id != "" {
			p.answers[id] = append(p.answers[id], n)
			for _, use := range n.toolUses() {
				first, ok := p.callers[use]
				if ok && (first == nil || first.messageID() != id) {
					p.callers[use] = nil
					continue
				}
				p.callers[use] = n
			}
		} else if n.parent != "" && len(n.toolResults()) > 0 {
			results = append(results, n)
		}
	}
	for _, n := range results {
		if p.g.work.over() {
			return
		}
		p.addResult(n.parent, n)
		if u := n.entry.(*UserEntry); u.SourceToolAssistantUUID != n.parent {
			p.addOwn(p.g.byID[u.SourceToolAssistantUUID], n)
		}
		for _, id := range n.toolResults() {
			caller := p.callers[id]
			if caller == nil {
				continue
			}
			answer := called{caller.messageID(), n}
			p.ids[answer] = append(p.ids[answer], id)
			p.addOwn(caller, n)
		}
	}
}

// addOwn adds a result to the line that called its tool, if both belong to one agent.
func (p *parallel) addOwn(caller, result *node) {
	if caller != nil && caller.link.IsSidechain == result.link.IsSidechain && caller.link.AgentID == result.link.AgentID {
		p.addResult(caller.link.UUID, result)
	}
}

func (p *parallel) addResult(uuid string, n *node) {
	if key := (called{uuid, n}); !p.known[key] {
		p.known[key] = true
		p.results[uuid] = append(p.results[uuid], n)
	}
}

// missingOf returns the lines of an answer that are not in the chain, then the missing results of
// its tools.
func (p *parallel) missingOf(answer []*node) []*node {
	own := map[string]bool{}
	var lines []*node
	for _, n := range answer {
		own[n.link.UUID] = true
		if !p.inChain[n] {
			lines = append(lines, n)
		}
	}
	var below, elsewhere []*node // results under a line of the answer, and others
	seen := map[*node]bool{}
	for _, n := range answer {
		for _, r := range p.results[n.link.UUID] {
			if p.g.work.over() {
				return nil
			}
			switch {
			case p.inChain[r] || seen[r]:
			case own[r.parent]:
				below = append(below, r)
			default:
				elsewhere = append(elsewhere, r)
			}
			seen[r] = true
		}
	}
	results := append(below, p.unanswered(answer[0].messageID(), below, elsewhere)...)
	slices.SortStableFunc(lines, byTimestamp)
	slices.SortStableFunc(results, byTimestamp)
	missing := append(lines, results...)
	for _, n := range missing {
		p.inChain[n] = true
	}
	return missing
}

// unanswered filters the results from elsewhere for those that answer a call of this answer without
// a result.
func (p *parallel) unanswered(answer string, below, elsewhere []*node) (kept []*node) {
	if len(elsewhere) == 0 {
		return nil
	}
	done := map[string]bool{}
	for _, n := range below {
		for _, id := range n.toolResults() {
			done[id] = true
		}
	}
	slices.SortFunc(elsewhere, func(a, b *node) int { return a.seq - b.seq })
	for _, n := range elsewhere {
		if p.g.work.over() {
			return nil
		}
		mine := p.ids[called{answer, n}]
		if !slices.ContainsFunc(mine, func(id string) bool { return !p.done[id] && !done[id] }) {
			continue
		}
		for _, id := range n.toolResults() {
			done[id] = true
		}
		kept = append(kept, n)
	}
	return kept
}

func byTimestamp(a, b *node) int { return strings.Compare(a.link.Timestamp, b.link.Timestamp) }
