package eventlog

import (
	"strings"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// heads collects the headers of logs and snapshots during the check of all blocks, so that Open need not read them from the server as
// well.
type heads struct {
	logs   map[string]*headChain
	kept   census // the messages of logs
	states map[string]*headState
}

// headChain is a chain of record headers.
type headChain struct {
	chain
	parts partCounter
}

// headState holds the complete snapshots of a session, oldest first.
type headState struct {
	whole []stateHead
	parts partCounter
	start uint64 // the sequence of the first part
}

// stateHead is the header of a snapshot with the sequences of its first and last parts.
type stateHead struct {
	header
	start, end uint64
}

func newHeads() *heads {
	return &heads{logs: map[string]*headChain{}, states: map[string]*headState{}}
}

// partCounter counts the consecutive parts of one record to detect when the record is complete.
type partCounter struct {
	head header
	next uint64
}

// add adds the next part of a subject and reports whether it completes a record.
func (p *partCounter) add(h *header) bool {
	switch {
	case h.part == 0:
		p.head = *h
	case h.part != p.next || !sameRecord(h, &p.head):
		*p = partCounter{}
		return false
	}
	p.next = h.part + 1
	return h.complete()
}

// add adds a record of a block, in the order of the stream. Removed records do not count.
func (a *heads) add(stream, session string, h *header, r *blockfile.Record, purged map[string]uint64) {
	if r.Kind == blockfile.Tombstone {
		if stream == logStream {
			a.kept.add(r)
		}
		return
	}
	if stream == snapshotStream {
		s := a.states[session]
		if s == nil {
			s = &headState{}
			a.states[session] = s
		}
		if h.part == 0 {
			s.start = r.Seq
		}
		if s.parts.add(h) {
			s.whole = append(s.whole, stateHead{*h, s.start, r.Seq})
		}
		return
	}
	if h.first < purged[purgeKey(session, h.epoch)] {
		return
	}
	a.kept.add(r)
	c := a.logs[session]
	if c == nil {
		c = &headChain{}
		a.logs[strings.Clone(session)] = c
	}
	if c.parts.add(h) {
		c.record(session, h)
	}
}

// holds reports whether the chains have exactly the live messages of the log stream: the server and the blocks agree on
// the deletions.
func (a *heads) holds(live int) bool { return a.kept.total() == live && a.kept.live() == live }

// found returns the chains.
func (a *heads) found() map[string]*chain {
	found := make(map[string]*chain, len(a.logs))
	for session, c := range a.logs {
		found[session] = &c.chain
	}
	return found
}

// drop removes the deleted snapshots.
func (a *heads) drop(deleted map[uint64]bool) {
	for _, s := range a.states {
		var whole []stateHead
		for _, head := range s.whole {
			if !deleted[head.start] && !deleted[head.end] {
				whole = append(whole, head)
			}
		}
		s.whole = whole
	}
}

// snapshot returns the event of the newest snapshot of a log with that epoch, or 0.
func (a *heads) snapshot(session string, epoch [8]byte) (seq uint64) {
	if s := a.states[session]; s != nil {
		for _, head := range s.whole {
			if head.epoch == epoch {
				seq = head.first
			}
		}
	}
	return seq
}
