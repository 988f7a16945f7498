package transcript

import (
	"slices"
	"strings"
)

// delivered counts the queued prompts that were delivered in the middle of a turn: the CLI records
// it when it removes them from the queue. A prompt can be in a file several times; the last copies
// are the delivered ones.
type delivered struct {
	byDelivery map[string]int  // by delivery id
	bySource   map[string]int  // by the uuid of the prompt
	entries    map[string]bool // uuids of the copies that a delivery id refers to
}

func deliveries(w *work, entries []Entry) *delivered {
	d := &delivered{byDelivery: map[string]int{}, bySource: map[string]int{}, entries: map[string]bool{}}
	copies := map[string][]string{} // uuids by delivery id
	known := map[[2]string]bool{}   // pairs already in copies
	texts := map[string]string{}    // attachments by source
	mixed := map[string]bool{}      // sources with different attachments
	for _, e := range entries {
		if w.over() {
			return d
		}
		if op, ok := e.(*QueueOperationEntry); ok {
			d.count(op)
			continue
		}
		q := queuedOf(e)
		if q == nil {
			continue
		}
		a := e.(*AttachmentEntry)
		switch {
		case a.UUID == "":
		case q.DeliveryID != "":
			if key := [2]string{q.DeliveryID, a.UUID}; !known[key] {
				known[key] = true
				copies[q.DeliveryID] = append(copies[q.DeliveryID], a.UUID)
			}
		case q.SourceUUID != "":
			if text, ok := texts[q.SourceUUID]; ok && text != string(a.Attachment) {
				mixed[q.SourceUUID] = true
			} else {
				texts[q.SourceUUID] = string(a.Attachment)
			}
		}
	}
	for source := range mixed {
		delete(d.bySource, source)
	}
	for id, uuids := range copies {
		for _, uuid := range uuids[max(0, len(uuids)-d.byDelivery[id]):] {
			d.entries[uuid] = true
		}
	}
	return d
}

func (d *delivered) count(op *QueueOperationEntry) {
	switch {
	case op.Operation != "remove" || op.Reason != "absorbed_mid_turn":
	case op.DeliveryID != "":
		d.byDelivery[op.DeliveryID]++
	case op.CommandUUID != "":
		d.bySource[op.CommandUUID]++
	}
}

// inThread reports, by index, which of the recorded queued prompts were delivered.
func (d *delivered) inThread(nodes []*node) map[int]bool {
	known := map[int]bool{}
	if d == nil {
		return known
	}
	sources := map[string][]int{}
	for i, n := range nodes {
		q := queuedOf(n.entry)
		switch {
		case q == nil:
		case q.DeliveryID != "":
			if d.byDelivery[q.DeliveryID] > 0 {
				known[i] = d.entries[n.link.UUID]
			}
		case d.bySource[q.SourceUUID] > 0:
			sources[q.SourceUUID] = append(sources[q.SourceUUID], i)
		}
	}
	for source, at := range sources {
		for k, i := range at {
			known[i] = k >= len(at)-d.bySource[source]
		}
	}
	return known
}

// trailing returns the queued prompts after the last message: they have no answer, and the
// conversation continues with them. Prompts that lead to another branch belong to that branch.
func (g *graph) trailing(chain []*node, leaf *node) []*node {
	children := map[string][]*node{}
	in := map[*node]bool{}
	for _, n := range chain {
		in[n] = true
	}
	elsewhere := map[*node]bool{}
	queued := false
	for _, n := range g.nodes {
		if g.work.over() {
			return nil
		}
		if n.isTalk() {
			if !in[n] && !n.link.IsSidechain && n.link.TeamName == "" {
				for p := g.byID[n.link.ParentUUID]; p != nil && !in[p] && !elsewhere[p]; p = g.byID[p.link.ParentUUID] {
					elsewhere[p] = true
				}
			}
			continue
		}
		queued = queued || queuedOf(n.entry) != nil
		children[n.link.ParentUUID] = append(children[n.link.ParentUUID], n)
		if n.parent != n.link.ParentUUID {
			children[n.parent] = append(children[n.parent], n)
		}
	}
	if !queued {
		return nil
	}
	return g.queuedBelow(leaf, children, in, elsewhere)
}

// queuedBelow returns the queued prompts below a node, each before its descendants, oldest first.
// It skips the nodes of the set in, and adds the visited ones.
func (g *graph) queuedBelow(leaf *node, children map[string][]*node, in, elsewhere map[*node]bool) (found []*node) {
	for todo := []*node{leaf}; len(todo) > 0 && !g.work.over(); {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n != leaf {
			if in[n] {
				continue
			}
			in[n] = true
			if queuedOf(n.entry) != nil && !elsewhere[n] {
				found = append(found, n)
			}
		}
		below := children[n.link.UUID]
		slices.SortStableFunc(below, func(a, b *node) int { return strings.Compare(a.link.Timestamp, b.link.Timestamp) })
		for _, c := range slices.Backward(below) {
			if !in[c] {
				todo = append(todo, c)
			}
		}
	}
	return found
}
