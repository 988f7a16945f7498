package claudeagent

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/transcript"
)

// versions returns the prompts of a tree that have alternatives in the same position, in the
// order of the tree.
func versions(tree *transcript.Tree) (list []agent.HistoryVersion) {
	leaf := leaves(tree)
	add := func(parent string, siblings []*transcript.Node) {
		var prompts []*transcript.Node
		for _, n := range siblings {
			if isPrompt(n) {
				prompts = append(prompts, n)
			}
		}
		if len(prompts) < 2 {
			return
		}
		for _, n := range prompts {
			list = append(list, agent.HistoryVersion{UUID: n.Link.UUID, Parent: parent, Leaf: leaf[n].Link.UUID, Time: n.Link.Timestamp})
		}
	}
	add("", tree.Roots)
	walk(tree, func(n *transcript.Node) { add(n.Link.UUID, n.Children) })
	return list
}

// walk visits the nodes of a tree, parents first.
func walk(tree *transcript.Tree, visit func(*transcript.Node)) {
	rest := make([]*transcript.Node, 0, len(tree.Roots))
	for i := len(tree.Roots) - 1; i >= 0; i-- {
		rest = append(rest, tree.Roots[i])
	}
	for len(rest) > 0 {
		n := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		visit(n)
		for i := len(n.Children) - 1; i >= 0; i-- {
			rest = append(rest, n.Children[i])
		}
	}
}

// leaves maps each node to the newest end below it.
func leaves(tree *transcript.Tree) map[*transcript.Node]*transcript.Node {
	var order []*transcript.Node
	walk(tree, func(n *transcript.Node) { order = append(order, n) })
	leaf := make(map[*transcript.Node]*transcript.Node, len(order))
	for i := len(order) - 1; i >= 0; i-- { // children before their parents
		n := order[i]
		best := n
		for _, c := range n.Children {
			// Timestamps of one program compare as text; a later line of the file wins a tie.
			if end := leaf[c]; best == n || end.Link.Timestamp >= best.Link.Timestamp {
				best = end
			}
		}
		leaf[n] = best
	}
	return leaf
}

// isPrompt reports whether a person wrote an entry.
func isPrompt(n *transcript.Node) bool {
	var line struct {
		Type           string          `json:"type"`
		IsMeta         bool            `json:"isMeta"`
		IsCompact      bool            `json:"isCompactSummary"`
		ToolUseResult  json.RawMessage `json:"toolUseResult"`
		SourceToolUser string          `json:"sourceToolAssistantUUID"`
		Message        struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal([]byte(n.Entry.Raw()), &line) != nil || line.Type != "user" || line.IsMeta || line.IsCompact || line.SourceToolUser != "" {
		return false
	}
	var blocks []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(line.Message.Content, &blocks) != nil {
		return true // a text
	}
	for _, b := range blocks {
		if b.Type == "tool_result" {
			return false
		}
	}
	return true
}
