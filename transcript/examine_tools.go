package transcript

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// toolUses finds tool calls without a result. A call on the conversation needs a result on the
// conversation; any other call needs a result anywhere in the file.
func (x *examination) toolUses() {
	onChain, anywhere := map[string]bool{}, map[string]bool{}
	last := 0 // the last message of the file
	for _, n := range x.graph.nodes {
		if x.work.over() {
			return
		}
		for _, id := range n.toolResults() {
			anywhere[id] = true
			onChain[id] = onChain[id] || x.onChain[n]
		}
		if n.isTalk() {
			last = max(last, n.index)
		}
	}
	for _, n := range x.graph.nodes {
		if x.work.over() {
			return
		}
		if x.agent && n.index == last {
			continue // the agent was stopped here; the conversation does not continue from it
		}
		for _, id := range n.toolUses() {
			if x.onChain[n] && !onChain[id] || !anywhere[id] {
				x.report(OrphanToolUse, x.severityOf(n), n.entry.Position(), n.link.UUID, "tool use %s has no result", id).toolUse = id
			}
		}
	}
}

// toolResults finds tool results without an earlier call.
func (x *examination) toolResults() {
	called := map[string]bool{}
	for _, n := range x.chain {
		if x.work.over() {
			return
		}
		for _, id := range n.toolUses() {
			called[id] = true
		}
		for _, id := range n.toolResults() {
			if !called[id] {
				x.report(OrphanToolResult, BreaksResume, n.entry.Position(), n.link.UUID, "it is the result of tool use %s, which is not before it", id).toolUse = id
			}
		}
	}
	anywhere := map[string]bool{}
	for _, n := range x.graph.nodes {
		if x.work.over() {
			return
		}
		for _, id := range n.toolUses() {
			anywhere[id] = true
		}
	}
	for _, n := range x.graph.nodes {
		if x.work.over() {
			return
		}
		for _, id := range n.toolResults() {
			if !x.onChain[n] && !anywhere[id] {
				x.report(OrphanToolResult, Harmless, n.entry.Position(), n.link.UUID, "it is the result of tool use %s, which is not there", id).toolUse = id
			}
		}
	}
}

// thinking finds thinking blocks that have a signature but no text, which the API rejects. They are
// valid where the CLI requested signatures only.
func (x *examination) thinking() {
	for _, n := range x.graph.nodes {
		if x.work.over() {
			return
		}
		if emptiedThinking(n) {
			x.report(EmptiedThinking, x.severityOf(n), n.entry.Position(), n.link.UUID, "thinking without text has a signature")
		}
	}
}

func emptiedThinking(n *node) bool {
	a, ok := n.entry.(*AssistantEntry)
	if !ok || !strings.Contains(a.text, `"thinking"`) || lastString(a.text, "thinkingDisplay") == "omitted" {
		return false
	}
	for _, b := range a.Message.Content.Blocks() {
		if isEmptied(b) {
			return true
		}
	}
	return false
}

func isEmptied(b message.ContentBlock) bool {
	t, ok := b.(*message.Thinking)
	return ok && t.Thinking == "" && t.Signature != ""
}
