package transcript

// families holds the children of entries while compactions move them: all children of an entry move
// under another in one step, so that the cost of all compactions of a file is linear in its length.
type families struct {
	of map[string]*family // by the uuid of the parent
	in map[*node]*family
}

// family is a set of children. Merged sets share the set at the top.
type family struct {
	parent string
	top    *family // nil for the top set
	size   int
}

func newFamilies(g *graph) *families {
	f := &families{of: map[string]*family{}, in: make(map[*node]*family, len(g.nodes))}
	for _, n := range g.nodes {
		if g.work.over() {
			break
		}
		f.setParent(n, n.parent)
	}
	return f
}

// at returns the top set.
func (f *family) at() *family {
	for f.top != nil {
		if f.top.top != nil {
			f.top = f.top.top // path compression
		}
		f = f.top
	}
	return f
}

func (f *families) family(parent string) *family {
	if f.of[parent] == nil {
		f.of[parent] = &family{parent: parent}
	}
	return f.of[parent]
}

func (f *families) setParent(n *node, parent string) {
	to := f.family(parent)
	to.size++
	f.in[n] = to
}

// moveChildren moves the children of one entry, except one, under another.
func (f *families) moveChildren(from string, but *node, to string) {
	moved := f.of[from]
	if moved == nil || from == to {
		return
	}
	stays := but != nil && f.in[but].at() == moved
	delete(f.of, from)
	if other := f.of[to]; other == nil {
		moved.parent = to
		f.of[to] = moved
	} else {
		if moved.size > other.size {
			moved, other = other, moved
		}
		moved.top = other
		other.size += moved.size
		other.parent = to
		f.of[to] = other
	}
	if stays {
		f.setParent(but, from)
	}
}

// finish sets the parents of the nodes.
func (f *families) finish(g *graph) {
	for _, n := range g.nodes {
		if g.work.over() {
			return
		}
		n.parent = f.in[n].at().parent
	}
}
