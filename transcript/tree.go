package transcript

import (
	"context"
	"errors"
)

// Tree holds all entries that were ever part of a session, and their structure.
type Tree struct {
	// Roots are the entries without a parent in the file, in the order of the file: the start, each
	// compaction, a part that lost its beginning.
	Roots []*Node
	// Leaf is the end of the conversation, nil if the session has no messages.
	Leaf *Node
	// ForkedFrom is the session that this one was forked from, or "".
	ForkedFrom string
	// Subagents are the trees of subagents without a known starting entry. The others are at the
	// node that started them.
	Subagents []*AgentTree
	// Bad are the lines that are not entries.
	Bad []*LineError

	byID  map[string]*Node
	calls map[string]*Node // by tool use id, the first entry that has it
}

// Node is an entry of a tree. A session branches at nodes with more than one child.
type Node struct {
	Entry    Entry
	Link     *Link
	Parent   *Node // nil for a root
	Children []*Node
	// Current is true on the path from a root to the leaf: the conversation, and the results of
	// tools that ran in parallel.
	Current bool
	// Missing is true if the entry names a missing parent, or is part of a cycle of parents; it is
	// then made a root.
	Missing bool
	// Subagents are the agents that a tool use of this entry started.
	Subagents []*AgentTree
}

// AgentTree is the tree of entries of one subagent.
type AgentTree struct {
	*Subagent
	*Tree
}

// Node returns the node of the entry with this uuid, or nil if the tree has no such entry.
func (t *Tree) Node(uuid string) *Node { return t.byID[uuid] }

// Tree reads the session and its subagents completely, nested as they were started. For a uuid that
// occurs twice it uses the later entry.
func (s *Session) Tree(ctx context.Context) (*Tree, error) {
	w := newWork(ctx)
	t, err := readTree(w, s.Path)
	if err != nil {
		return nil, err
	}
	agents, err := s.subagents(w)
	if err != nil {
		return nil, err
	}
	var trees []*AgentTree
	byID := map[string]*AgentTree{}
	for _, a := range agents {
		at, err := readTree(w, a.Path)
		if err != nil {
			return nil, err
		}
		tree := &AgentTree{Subagent: a, Tree: at}
		trees = append(trees, tree)
		if byID[a.ID] == nil {
			byID[a.ID] = tree
		}
	}
	lost := circularAgents(trees, byID)
	for _, a := range trees {
		if lost[a] {
			t.attach(a, nil)
		} else {
			t.attach(a, byID[a.ParentAgentID])
		}
	}
	return t, nil
}

// circularAgents returns one agent per cycle of parent agents, to be attached to the session: such
// agents are not reachable from it.
func circularAgents(trees []*AgentTree, byID map[string]*AgentTree) map[*AgentTree]bool {
	lost := map[*AgentTree]bool{}
	const onWay, done = 1, 2
	state := map[*AgentTree]int{}
	for _, start := range trees {
		var way []*AgentTree
		a := start
		for ; a != nil && state[a] == 0; a = byID[a.ParentAgentID] {
			state[a] = onWay
			way = append(way, a)
		}
		if a != nil && state[a] == onWay {
			lost[a] = true // one of the cycle: the others are below it
		}
		for _, m := range way {
			state[m] = done
		}
	}
	return lost
}

// attach adds the tree of a subagent at the entry that started it: in the session, or in the
// subagent parent.
func (t *Tree) attach(a, parent *AgentTree) {
	in := t
	if parent != nil && parent != a {
		in = parent.Tree
	}
	if n := in.toolUse(a.ToolUseID); n != nil {
		n.Subagents = append(n.Subagents, a)
		return
	}
	in.Subagents = append(in.Subagents, a)
}

// toolUse returns the entry with a tool call of this id.
func (t *Tree) toolUse(id string) *Node {
	if id == "" {
		return nil
	}
	return t.calls[id]
}

func readTree(w *work, path string) (*Tree, error) {
	var entries []Entry
	t := &Tree{byID: map[string]*Node{}, calls: map[string]*Node{}}
	for e, err := range fileEntries(w.ctx, path) {
		if w.over() {
			return nil, w.err
		}
		var bad *LineError
		switch {
		case errors.As(err, &bad):
			t.Bad = append(t.Bad, bad)
		case err != nil:
			return nil, err
		default:
			entries = append(entries, e)
		}
	}
	t.build(newGraph(w, entries))
	if w.ended() {
		return nil, w.err
	}
	return t, nil
}

// build makes nodes of a graph. The parents are those in the file, not those changed by
// compactions.
func (t *Tree) build(g *graph) {
	for _, n := range g.nodes {
		if g.work.over() {
			return
		}
		t.byID[n.link.UUID] = &Node{Entry: n.entry, Link: n.link}
		for _, id := range n.toolUses() {
			if t.calls[id] == nil {
				t.calls[id] = t.byID[n.link.UUID]
			}
		}
		if n.link.ForkedFrom != nil && t.ForkedFrom == "" {
			t.ForkedFrom = n.link.ForkedFrom.SessionID
		}
	}
	for _, n := range t.byID {
		n.Parent = t.byID[n.Link.ParentUUID]
		n.Missing = n.Parent == nil && n.Link.ParentUUID != ""
	}
	t.cutCycles(g)
	for _, gn := range g.nodes {
		if g.work.over() {
			return
		}
		n := t.byID[gn.link.UUID]
		if n.Parent == nil {
			t.Roots = append(t.Roots, n)
			continue
		}
		n.Parent.Children = append(n.Parent.Children, n)
	}
	leaf := g.leaf()
	if leaf == nil {
		return
	}
	t.Leaf = t.byID[leaf.link.UUID]
	for _, n := range g.withParallel(g.chain(leaf)) {
		t.byID[n.link.UUID].Current = true
	}
}

// cutCycles makes one entry of every cycle a root: the first in the file.
func (t *Tree) cutCycles(g *graph) {
	const onWay, done = 1, 2
	state := make(map[*Node]int, len(t.byID))
	for _, gn := range g.nodes {
		if g.work.over() {
			return
		}
		var way []*Node
		n := t.byID[gn.link.UUID]
		for ; n != nil && state[n] == 0 && !g.work.over(); n = n.Parent {
			state[n] = onWay
			way = append(way, n)
		}
		if n != nil && state[n] == onWay {
			n.Parent, n.Missing = nil, true
		}
		for _, n := range way {
			state[n] = done
		}
	}
}
