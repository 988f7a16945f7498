package transcript

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// node is an entry of the tree with the data that a walk needs.
type node struct {
	entry  Entry
	link   *Link
	kind   string
	parent string // of the entry, possibly changed by a compaction
	index  int    // of the last entry with this uuid, in the file
	seq    int    // of the first entry with this uuid, among the nodes
}

// graph is the tree of a session as the official SDK sees it.
type graph struct {
	work   *work
	nodes  []*node // in the order of the first occurrence of their uuids
	byID   map[string]*node
	unsure bool // the end was chosen although a later one led to a missing entry
}

// newGraph collects the entries of the tree. A later entry replaces an earlier one with the same
// uuid.
func newGraph(w *work, entries []Entry) *graph {
	g := &graph{work: w, byID: make(map[string]*node, len(entries))}
	for i, e := range entries {
		if w.over() {
			return g
		}
		l := LinkOf(e)
		if l == nil || l.UUID == "" {
			continue
		}
		n := g.byID[l.UUID]
		if n == nil {
			n = &node{seq: len(g.nodes)}
			g.nodes = append(g.nodes, n)
			g.byID[l.UUID] = n
		}
		n.entry, n.link, n.kind, n.parent, n.index = e, l, e.Kind(), l.ParentUUID, i
	}
	g.relink()
	return g
}

// relink moves the preserved messages of compactions after their summaries.
func (g *graph) relink() {
	if !slices.ContainsFunc(g.nodes, func(n *node) bool { return len(boundaryUUIDs(n.entry)) > 0 }) {
		return
	}
	f := newFamilies(g)
	for _, n := range g.nodes {
		if g.work.over() {
			return
		}
		s, ok := n.entry.(*SystemEntry)
		if !ok || s.Subtype != "compact_boundary" || s.CompactMetadata == nil {
			continue
		}
		if p := s.CompactMetadata.PreservedMessages; p != nil {
			g.relinkMessages(f, p)
		} else if p := s.CompactMetadata.PreservedSegment; p != nil {
			head := g.byID[p.HeadUUID]
			if head != nil {
				f.setParent(head, p.AnchorUUID)
			}
			f.moveChildren(p.AnchorUUID, head, p.TailUUID)
		}
	}
	f.finish(g)
}

// boundaryUUIDs returns the uuids that the boundary of a compaction lists as preserved.
func boundaryUUIDs(e Entry) []string {
	if b := boundaryOf(e); b != nil {
		return b.preserved()
	}
	return nil
}

func (g *graph) relinkMessages(f *families, p *PreservedMessages) {
	if len(p.UUIDs) == 0 || slices.ContainsFunc(p.UUIDs, func(id string) bool { return g.byID[id] == nil }) {
		return
	}
	parent := p.AnchorUUID
	for _, id := range p.UUIDs {
		if g.work.over() {
			return
		}
		f.setParent(g.byID[id], parent)
		parent = id
	}
	f.moveChildren(p.AnchorUUID, g.byID[p.UUIDs[0]], parent)
}

func (g *graph) parentOf(n *node) *node {
	if n.parent == "" {
		return nil
	}
	return g.byID[n.parent]
}

func (n *node) isTalk() bool { return n.kind == "user" || n.kind == "assistant" }

// mainThread reports whether the end of the main conversation may be at n.
func (n *node) mainThread() bool {
	if n.link.IsSidechain || n.link.TeamName != "" || n.kind == "progress" {
		return false
	}
	a, ok := n.entry.(*AttachmentEntry)
	return !ok || a.AttachmentType() != "fork_briefing"
}

// leaf returns the last message of the conversation.
func (g *graph) leaf() *node {
	leaf, _ := g.ends()
	return leaf
}

// ends returns the last message of the conversation and the entry that leads to it: of the entries
// without a follower, the latest in the file that leads up to a message. A file without a main
// conversation has no such entry.
func (g *graph) ends() (leaf, terminal *node) {
	parents := map[string]bool{}
	for _, n := range g.nodes {
		if g.work.over() {
			return nil, nil
		}
		if n.parent != "" && n.mainThread() {
			parents[n.parent] = true
		}
	}
	var ends []*node
	for _, n := range g.nodes {
		if g.work.over() {
			return nil, nil
		}
		if n.mainThread() && !parents[n.link.UUID] {
			ends = append(ends, n)
		}
	}
	slices.SortFunc(ends, func(a, b *node) int { return b.index - a.index })
	seen := map[*node]bool{} // leads to no message
	for _, end := range ends {
		for n := end; n != nil && !seen[n]; n = g.parentOf(n) {
			if g.work.over() {
				return nil, nil
			}
			if n.isTalk() {
				return n, end
			}
			seen[n] = true
			g.unsure = g.unsure || n.parent != "" && g.byID[n.parent] == nil
		}
	}
	return g.anyLeaf(), nil
}

// anyLeaf returns the leaf of a file that has no main conversation.
func (g *graph) anyLeaf() *node {
	parents := map[string]bool{}
	for _, n := range g.nodes {
		parents[n.parent] = true
	}
	var best, bestMain *node
	talks := map[*node]*node{}
	for _, end := range g.nodes {
		if g.work.over() {
			return nil
		}
		if parents[end.link.UUID] {
			continue
		}
		n := g.upToTalk(end, talks)
		if n == nil {
			continue
		}
		best = later(best, n)
		if !n.link.IsSidechain && n.link.TeamName == "" && !n.link.IsMeta {
			bestMain = later(bestMain, n)
		}
	}
	if bestMain != nil {
		return bestMain
	}
	return best
}

// upToTalk returns the first message on the path up from n, or nil. Results are cached in talks,
// because paths share their upper part.
func (g *graph) upToTalk(n *node, talks map[*node]*node) *node {
	var way []*node
	var found *node
	for ; n != nil; n = g.parentOf(n) {
		if known, ok := talks[n]; ok || g.work.over() {
			found = known
			break
		}
		if n.isTalk() {
			found = n
			break
		}
		talks[n] = nil // a cycle has no root
		way = append(way, n)
	}
	for _, m := range way {
		talks[m] = found
	}
	return found
}

func later(a, b *node) *node {
	if a == nil || b.index > a.index {
		return b
	}
	return a
}

// chain returns the path from the root to n. It stops at a cycle.
func (g *graph) chain(n *node) []*node {
	var chain []*node
	seen := map[*node]bool{}
	for ; n != nil && !seen[n] && !g.work.over(); n = g.parentOf(n) {
		seen[n] = true
		chain = append(chain, n)
	}
	slices.Reverse(chain)
	return chain
}

// messageID returns the API's id of an answer, "" for other lines.
func (n *node) messageID() string {
	if a, ok := n.entry.(*AssistantEntry); ok {
		return a.Message.ID
	}
	return ""
}

// toolUses returns the ids of the tool calls of an answer.
func (n *node) toolUses() (ids []string) {
	a, ok := n.entry.(*AssistantEntry)
	if !ok || !strings.Contains(a.text, `"tool_use"`) {
		return nil
	}
	for _, b := range a.Message.Content.Blocks() {
		if t, ok := b.(*message.ToolUse); ok && t.ID != "" {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// toolResults returns the tool use ids of the results in a line.
func (n *node) toolResults() (ids []string) {
	u, ok := n.entry.(*UserEntry)
	if !ok || !strings.Contains(u.text, `"tool_result"`) {
		return nil
	}
	for _, b := range u.Message.Content.Blocks() {
		if t, ok := b.(*message.ToolResult); ok {
			ids = append(ids, t.ToolUseID)
		}
	}
	return ids
}
