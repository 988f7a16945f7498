package transcript

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/claude"
)

// Tree is everything that was ever said in a session, and what hangs on what.
type Tree struct {
	// Roots are the entries that have no parent, or whose parent is not in the
	// file, in the order of the file: the start, each compaction, a part that lost
	// its beginning.
	Roots []*Node
	// Leaf is where the conversation ends, nil if nothing was said.
	Leaf *Node
	// ForkedFrom is the session that this one was forked from, "" if none was.
	ForkedFrom string
	// Subagents are the trees of subagents that no entry here is known to have
	// started. The others are at the node that did.
	Subagents []*AgentTree
	// Bad are the lines that are no entries.
	Bad []*LineError

	byID map[string]*Node
}

// Node is an entry of a tree. The branches of a session are the nodes with more
// than one child.
type Node struct {
	Entry    Entry
	Link     *Link
	Parent   *Node // nil for a root
	Children []*Node
	// Current is true on the way from a root to the leaf: the conversation, and
	// beside it the tools that ran at the same time.
	Current bool
	// Missing is true if the entry names a parent that is not there, or if its
	// parents lead back to it: it is a root because it has to be somewhere.
	Missing bool
	// Subagents are the agents that a tool use of this entry started.
	Subagents []*AgentTree
}

// AgentTree is the tree of a subagent.
type AgentTree struct {
	*Subagent
	*Tree
}

// Node is the entry with a uuid, nil if there is none.
func (t *Tree) Node(uuid string) *Node { return t.byID[uuid] }

// Tree reads the session and its subagents whole, nested as they were started. A
// uuid that occurs twice is the later entry.
func (s *Session) Tree(ctx context.Context) (*Tree, error) {
	t, err := readTree(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	agents, err := s.Subagents()
	if err != nil {
		return nil, err
	}
	trees := map[string]*AgentTree{}
	for _, a := range agents {
		at, err := readTree(ctx, a.Path)
		if err != nil {
			return nil, err
		}
		trees[a.ID] = &AgentTree{Subagent: a, Tree: at}
	}
	for _, a := range agents {
		t.attach(trees[a.ID], trees[a.ParentAgentID])
	}
	return t, nil
}

// attach puts the tree of a subagent where it was started: in the session, or in
// the subagent parent.
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

// toolUse is the entry that calls a tool under an id.
func (t *Tree) toolUse(id string) *Node {
	if id == "" {
		return nil
	}
	for _, n := range t.byID {
		a, ok := n.Entry.(*AssistantEntry)
		if !ok {
			continue
		}
		for _, b := range a.Message.Content.Blocks() {
			if use, ok := b.(*claude.ToolUseBlock); ok && use.ID == id {
				return n
			}
		}
	}
	return nil
}

func readTree(ctx context.Context, path string) (*Tree, error) {
	var entries []Entry
	t := &Tree{byID: map[string]*Node{}}
	for e, err := range fileEntries(ctx, path) {
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
	t.build(newGraph(entries))
	return t, nil
}

// build makes nodes of a graph. The parents are those of the file, not what
// compactions made of them.
func (t *Tree) build(g *graph) {
	for _, n := range g.nodes {
		t.byID[n.link.UUID] = &Node{Entry: n.entry, Link: n.link}
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

// cutCycles makes a root of one entry of every cycle: the one that comes first in
// the file on the way around.
func (t *Tree) cutCycles(g *graph) {
	const onWay, done = 1, 2
	state := make(map[*Node]int, len(t.byID))
	for _, gn := range g.nodes {
		var way []*Node
		n := t.byID[gn.link.UUID]
		for ; n != nil && state[n] == 0; n = n.Parent {
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
