package session

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// ReadAround yields the events of a log after a number. A series of lost events is yielded as one
// event without data, with the number of the last of them.
func ReadAround(ctx context.Context, log Log, after uint64) iter.Seq2[eventlog.Event, error] {
	return func(yield func(eventlog.Event, error) bool) {
		for again := true; again; {
			again = false
			for ev, err := range log.Read(ctx, eventlog.Cursor{Seq: after}) {
				if damage, ok := errors.AsType[*eventlog.DamageError](err); ok && damage.To > after {
					ev, err, again = eventlog.Event{Seq: damage.To}, nil, true
				}
				after = ev.Seq
				if !yield(ev, err) {
					return
				}
			}
		}
	}
}

// readAround folds the events after a sequence number, without those that depend on lost events.
func (a *actor) readAround(ctx context.Context, after, told uint64) error {
	holes := false
	for ev, err := range ReadAround(ctx, a.log, after) {
		if err != nil {
			return err
		}
		if ev.Data == nil {
			a.seq, holes = ev.Seq, true
			continue
		}
		err := a.replay(ev, told)
		if err != nil && !holes {
			return err
		}
		if err != nil {
			a.logger.Warn("an event after a loss was omitted", "seq", ev.Seq, "err", err)
			a.seq = ev.Seq
		}
	}
	return nil
}

// losses returns the losses of a session's log.
func (s *Sessions) losses(id string) []eventlog.Damage {
	return slices.DeleteFunc(s.opts.Store.Damage(), func(d eventlog.Damage) bool { return d.Session != id })
}

// tellLoss drafts one notice for all losses of the log, once, and reports whether it did.
func (a *actor) tellLoss() (told bool) {
	for _, d := range a.srv.losses(a.id) {
		if text := d.String(); !slices.Contains(a.core.Lost, text) {
			told = true
			a.draft(draft{facts: &facts{Lost: []string{text}}, event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeError, Code: event.NoticeLost,
				Text: fmt.Sprintf("A part of this conversation is lost: the file that held its events %d to %d was damaged. Prompts that were waiting are held; look through them before you continue.", d.From, d.To)}})
		}
	}
	return told
}

// epochWith returns the epoch of a session with lost events, given the epoch of its log. A loss
// that is found while the store is open changes only the epoch of the session; the log gets a new
// epoch later.
func epochWith(epoch string, lost []eventlog.Damage) string {
	if len(lost) == 0 {
		return epoch
	}
	hash := fnv.New64a()
	for _, d := range lost {
		fmt.Fprintf(hash, "%d-%d\n", d.From, d.To)
	}
	return fmt.Sprintf("%s-%x", epoch, hash.Sum64())
}

// watchLoss reports losses of the log since the session was loaded, holds the queue and makes viewers start again.
func (a *actor) watchLoss() {
	if a.core.State != LostHost && a.tellLoss() {
		a.setEpoch(a.logEpoch)
		a.draft(a.core.hold()...)
		_ = a.write() // kept and retried by tick
	}
}

// damagedTitle is the title of a session with a log that lost its title.
const damagedTitle = "damaged session"

// unopened reports whether the log has lost the parameters of the session, so that no agent can be started.
func (a *actor) unopened() bool {
	return a.core.Opened.Provider == "" && len(a.srv.losses(a.id)) > 0
}
