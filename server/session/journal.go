package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

// journal is the state of a session as its log contains it: the core and the conversation, which
// are folds of the log, and the drafts that are not written yet. It belongs to the loop.
type journal struct {
	*loop
	log       Log
	logEpoch  string    // of the loaded log
	owner     Ownership // nil if there is one server
	hub       *hub
	onWritten func() // called when the log has grown, because lists may change
	onLost    func() // called when another server has taken over the log

	core     core
	conv     event.Conversation
	decoder  event.Decoder
	encoder  *event.Encoder
	stream   stream
	trace    *turnTrace
	seq, sub uint64

	line      uint64 // the last line of the agent whose events were drafted
	written   uint64 // the last one whose events are in the log
	lineStart int    // where its records begin in batch
	stored    uint64 // the last one that the log accounts for; 0 before the first write

	batch   []pending // drafted and not yet written
	blocked error     // the reason why the batch cannot be written
	resumed bool      // the log accepts records again, but waiting inputs were not checked yet
	missed  bool      // deltas arrived while it could not
	carry   *facts    // facts for the next record
	unsaved unsaved
	shown   shown
	notes   notes
	snapSeq uint64 // of the last snapshot
	cached  snapshotCache
}

func newJournal(l *loop, epoch string) *journal {
	return &journal{
		loop: l, log: l.srv.opts.Store.Log(l.id), hub: newHub(l.id, epoch, 0), core: core{ID: l.id, State: Starting},
		shown:   shown{path: filepath.Join(l.srv.opts.Dir, l.id)},
		encoder: event.NewEncoder(random.Hex(4), 0, event.CapabilityOutputDelta), trace: newTurnTrace(l.srv.opts.Tracer, l.id), notes: notes{loop: l},
	}
}

// setEpoch sets the epoch of the log. The epoch of the session also depends on losses.
func (j *journal) setEpoch(epoch string) {
	j.logEpoch = epoch
	j.hub.setEpoch(epochWith(epoch, j.srv.losses(j.id)))
}

// pending is a drafted record.
type pending struct {
	rec record
	ev  event.Event // applied to the conversation when the record is written; nil for the first of two messages
	// queue is the whole queue that ev changes, nil for another event.
	queue *told
}

// delivered records that the agent has confirmed an input. The fact is stored with the next record:
// until then, the agent's files are the only evidence.
func (j *journal) delivered(in input) {
	if in.Status == inputDelivered {
		return
	}
	in.Status = inputDelivered
	in.Content = "" // the log has it
	f := j.carrying()
	f.Inputs = append(f.Inputs, in)
	j.core.applyInputs(&facts{Inputs: []input{in}})
}

func (j *journal) carrying() *facts {
	if j.carry == nil {
		j.carry = &facts{}
	}
	return j.carry
}

// occur drafts a transition of the state. A transition that is not in the table is a bug: it is
// logged, and the state does not change.
func (j *journal) occur(o occurrence) {
	drafts, err := j.core.occur(o)
	if err != nil {
		j.logger.Error("impossible transition", "err", err)
		return
	}
	j.draft(drafts...)
}

// draft converts events to records and applies their facts. They are shown after write has stored
// them.
func (j *journal) draft(drafts ...draft) {
	now := Timestamp(time.Now())
	for _, d := range drafts {
		stored := j.core.unknown(d.facts)
		if d.queue {
			j.core.applyInputs(orEmpty(d.facts))
			d.event = j.core.queueEvent()
		}
		if h := d.event.Head(); h.Provider == "" {
			h.Provider = j.core.Provider
		}
		if event.ResolvedID(d.event) != "" {
			j.trace.observe(d.event)
		}
		for _, id := range orEmpty(d.facts).Removed {
			j.trace.dropped(id, "removed")
		}
		for i, p := range j.encode(now, bounded(d.event)) {
			if u, ok := p.ev.(*event.QueueUpdated); ok && d.queue {
				p.queue = &told{u.Header, j.core.told}
			}
			if i == 0 {
				stored = stored.atLine(&j.core, j.line)
				p.rec.Facts = merged(j.carry, stored.beside(p.ev))
				j.carry = nil
				j.core.apply(j.seq+uint64(len(j.batch))+1, now, d.facts)
			}
			j.batch = append(j.batch, p)
		}
	}
}

// atLine adds the number of the agent's line to facts, unless an earlier record has it.
func (f *facts) atLine(c *core, line uint64) *facts {
	if line <= c.Line {
		return f
	}
	c.Line = line
	g := *orEmpty(f)
	g.Line = line
	return &g
}

// encode returns the records of an event. The last one folds it; a message that exceeds the limit
// of the log is replaced by an error.
func (j *journal) encode(now string, ev event.Event) []pending {
	head := recordHead(now)
	if rec, ok := j.large(now, head, ev); ok && rec.size(head) <= MaxMessage {
		return []pending{{rec: rec, ev: ev}}
	}
	lines, err := j.encoder.MessagesAfter(head, ev)
	if err != nil {
		j.logger.Error("an event cannot be encoded", "type", fmt.Sprintf("%T", ev), "err", err)
		return nil
	}
	all := make([]pending, len(lines))
	for i, line := range lines {
		p := pending{rec: newRecord(now, head, line)}
		if i == len(lines)-1 {
			p.ev = ev
		}
		if data := p.rec.Msg; len(data) > MaxMessage {
			j.logger.Warn("a message was omitted", "type", event.MessageType(data), "bytes", len(data))
			p.ev = tooLarge(*ev.Head(), event.MessageType(data), len(data))
			p.rec = record{Time: now}
			if p.rec.Msg, err = event.Marshal(p.ev); err != nil {
				j.logger.Error("an error cannot be encoded", "err", err)
				return nil
			}
		}
		all[i] = p
	}
	return all
}

func orEmpty(f *facts) *facts {
	if f == nil {
		return &facts{}
	}
	return f
}

// merged adds the carried facts to those of a record, which are newer and take precedence.
func merged(carried, own *facts) *facts {
	if carried == nil {
		if own != nil && own.empty() {
			return nil
		}
		return own
	}
	if own == nil {
		return carried
	}
	both := *own
	both.AgentID = cmp.Or(own.AgentID, carried.AgentID)
	if both.Dearest == nil {
		both.Dearest = carried.Dearest
	}
	if both.Kept == nil {
		both.Kept = carried.Kept
	}
	both.Inputs = append(carried.Inputs, own.Inputs...)
	if both.Owner == nil {
		both.Owner = carried.Owner
	}
	if both.Host == nil {
		both.Host, both.HostIn, both.Box = carried.Host, carried.HostIn, carried.Box
	}
	return &both
}

// commit drafts and writes a person's request. If it cannot be stored, it has no effect.
func (j *journal) commit(drafts ...draft) error {
	if err := j.write(); err != nil {
		return err
	}
	before, carried := j.core.clone(), j.carry
	j.draft(drafts...)
	if err := j.write(); err != nil {
		if j.blocked != nil {
			if j.core.State == LostHost {
				before.State = LostHost
			}
			j.core, j.carry, j.batch, j.blocked = before, carried, nil, nil
		}
		return err
	}
	return nil
}

// errLost ends an actor after another server has written to its log.
var errLost = errors.New("server: another server writes the log of this session")

func (j *journal) agentID(ctx context.Context) (id string) {
	_ = j.call(ctx, func() error { id = j.core.AgentID; return nil }) // the id stays empty if the actor has ended
	return id
}
