package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

// journal is a session as its log has it: the core and the conversation, which are folds of the
// log, and what was drafted for the log and is not yet written. It belongs to the loop.
type journal struct {
	*loop
	log       Log
	hub       *hub
	onWritten func() // called when the log has grown, which is when lists may change
	onLost    func() // called when the log belongs to another server

	core     core
	conv     event.Conversation
	decoder  event.Decoder
	encoder  *event.Encoder
	stream   stream
	trace    *turnTrace
	seq, sub uint64

	batch   []pending // drafted and not yet written
	blocked error     // why the batch cannot be written
	resumed bool      // the log takes records again, and inputs that wait for that have not been looked at
	missed  bool      // deltas came while it could not
	carry   *facts    // to go with the next record
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

// pending is a record that was drafted.
type pending struct {
	rec record
	ev  event.Event // to be folded when the record is written; nil for the first of two messages
	// queue is the whole queue of which ev is a change, nil for another event.
	queue *told
}

// delivered notes that the agent has shown to have an input. The fact goes to the log with
// the next record: until then, the agent's files have to tell.
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

// occur drafts a change of state. What the table does not have is a fault of the server:
// it is logged, and the state stays.
func (j *journal) occur(o occurrence) {
	drafts, err := j.core.occur(o)
	if err != nil {
		j.logger.Error("impossible transition", "err", err)
		return
	}
	j.draft(drafts...)
}

// draft converts events to records and applies their facts. They are not shown before
// write has stored them.
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
		for i, p := range j.encode(bounded(d.event)) {
			p.rec.Time = now
			if u, ok := p.ev.(*event.QueueUpdated); ok && d.queue {
				p.queue = &told{u.Header, j.core.told}
			}
			if i == 0 {
				p.rec.Facts = merged(j.carry, stored.beside(p.ev))
				j.carry = nil
				j.core.apply(j.seq+uint64(len(j.batch))+1, now, d.facts)
			}
			j.batch = append(j.batch, p)
		}
	}
}

// encode returns the records of an event. The last one folds it; a message that is larger than
// the log takes is replaced by an error.
func (j *journal) encode(ev event.Event) []pending {
	messages, err := j.encoder.Messages(ev)
	if err != nil {
		j.logger.Error("an event cannot be encoded", "type", fmt.Sprintf("%T", ev), "err", err)
		return nil
	}
	all := make([]pending, len(messages))
	for i, data := range messages {
		p := pending{rec: record{Msg: data}}
		if i == len(messages)-1 {
			p.ev = ev
		}
		if len(data) > MaxMessage {
			j.logger.Warn("a message was left out", "type", event.MessageType(data), "bytes", len(data))
			p.ev = tooLarge(*ev.Head(), event.MessageType(data), len(data))
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

// merged adds carried facts to those of a record, which come later.
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
	set(&both.AgentID, carried.AgentID)
	both.Inputs = append(carried.Inputs, own.Inputs...)
	return &both
}

// commit drafts and writes what a person asked for. If it cannot be stored it did not
// happen.
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

// errLost ends an actor whose log another server has written to.
var errLost = errors.New("server: another server writes the log of this session")

func (j *journal) agentID(ctx context.Context) (id string) {
	_ = j.call(ctx, func() error { id = j.core.AgentID; return nil }) // without it there is no id
	return id
}
