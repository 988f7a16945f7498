package history

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

func newSessionsTree(code *int) *cobra.Command {
	all := false
	return sessionCommand{
		use: "tree ID [flags]", short: "Show the whole conversation of a session, with branches and subagents", long: sessionsTreeLong, example: sessionsTreeExample,
		args: term.Arguments(1, 1), ids: 1,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVarP(&all, "all", "a", false, "include entries that are not for people: attachments, notes for the model")
		},
		run: func(w *sessionWork, args []string) error {
			s, err := w.session(args[0])
			if err != nil {
				return err
			}
			tree, err := s.Tree(w.ctx)
			if err != nil {
				return err
			}
			if w.json {
				return w.con.Out.Encode(newWireTree(tree), "  ")
			}
			p := &treePrinter{w: w, all: all}
			p.tree(tree, "")
			for _, bad := range tree.Bad {
				w.con.Note(bad.Error())
			}
			return nil
		},
	}.command(code)
}

// wireTree is a tree in JSON.
type wireTree struct {
	AgentID    string      `json:"agentId,omitempty"`
	Leaf       string      `json:"leaf,omitempty"`
	ForkedFrom string      `json:"forkedFrom,omitempty"`
	Roots      []*wireNode `json:"roots"`
	Subagents  []*wireTree `json:"subagents,omitempty"`
	BadLines   int         `json:"badLines,omitempty"`
}

// wireNode is an entry; consecutive nodes are siblings in a list, so that a long
// conversation is not deeply nested.
type wireNode struct {
	UUID      string      `json:"uuid"`
	Parent    string      `json:"parent,omitempty"`
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp,omitempty"`
	Text      string      `json:"text,omitempty"`
	Current   bool        `json:"current"`
	Missing   bool        `json:"missing,omitempty"`
	Subagents []*wireTree `json:"subagents,omitempty"`
	// Branches are the other children of this node, besides the next one in the list.
	Branches [][]*wireNode `json:"branches,omitempty"`
}

func newWireTree(t *transcript.Tree) *wireTree {
	out := &wireTree{ForkedFrom: t.ForkedFrom, Roots: []*wireNode{}, BadLines: len(t.Bad), Subagents: wireAgents(t.Subagents)}
	if t.Leaf != nil {
		out.Leaf = t.Leaf.Link.UUID
	}
	for _, root := range t.Roots {
		out.Roots = append(out.Roots, wireChain(root)...)
	}
	return out
}

func wireAgents(agents []*transcript.AgentTree) (list []*wireTree) {
	for _, a := range agents {
		t := newWireTree(a.Tree)
		t.AgentID = a.ID
		list = append(list, t)
	}
	return list
}

func wireChain(n *transcript.Node) (chain []*wireNode) {
	for n != nil {
		node := &wireNode{
			UUID: n.Link.UUID, Parent: n.Link.ParentUUID, Type: n.Entry.Kind(), Timestamp: n.Link.Timestamp, Text: entryText(n.Entry),
			Current: n.Current, Missing: n.Missing, Subagents: wireAgents(n.Subagents),
		}
		chain = append(chain, node)
		next := mainChild(n)
		for _, c := range n.Children {
			if c != next {
				node.Branches = append(node.Branches, wireChain(c))
			}
		}
		n = next
	}
	return chain
}

// mainChild returns the child on the main conversation, else the last one.
func mainChild(n *transcript.Node) *transcript.Node {
	var next *transcript.Node
	for _, c := range n.Children {
		if next == nil || c.Current || !next.Current {
			next = c
		}
	}
	return next
}

// treePrinter draws trees.
type treePrinter struct {
	w   *sessionWork
	all bool
}

func (p *treePrinter) tree(t *transcript.Tree, indent string) {
	if t.ForkedFrom != "" {
		p.w.line("%s", indent+p.w.con.Out.Paint(term.Dim, "forked from "+term.OneLine(t.ForkedFrom)))
	}
	for _, root := range t.Roots {
		p.chain(root, indent)
	}
	p.agents(t.Subagents, indent)
}

// chain draws an entry and its successors below each other; branches are indented.
func (p *treePrinter) chain(n *transcript.Node, indent string) {
	for n != nil {
		p.node(n, indent)
		p.agents(n.Subagents, indent)
		next := mainChild(n)
		for _, c := range n.Children {
			if c != next {
				p.chain(c, indent+"│ ")
			}
		}
		n = next
	}
}

func (p *treePrinter) agents(agents []*transcript.AgentTree, indent string) {
	for _, a := range agents {
		name := strings.TrimSpace("subagent " + a.ID + " " + a.AgentType)
		p.w.line("%s", indent+"┌ "+p.w.con.Out.Paint(term.Bold, term.OneLine(name)))
		p.tree(a.Tree, indent+"│ ")
	}
}

func (p *treePrinter) node(n *transcript.Node, indent string) {
	out := p.w.con.Out
	text := term.OneLine(entryText(n.Entry))
	if text == "" {
		if !p.all {
			return
		}
		if a, ok := n.Entry.(*transcript.AttachmentEntry); ok {
			text = term.OneLine(a.AttachmentType())
		}
	}
	mark := "○"
	switch {
	case n.Missing:
		mark = out.Paint(term.Red, "?")
	case n.Current:
		mark = out.Paint(term.Green, "●")
	}
	head := indent + mark + " " + n.Entry.Kind() + " "
	if out.TTY {
		text = term.Shorten(text, max(16, out.Width-term.Width(indent)-term.Width(n.Entry.Kind())-3))
	}
	p.w.line("%s", head+text)
}
