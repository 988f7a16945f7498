package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// ReadAround yields the events of a log after a number. Those that the store has lost are one event without data, with the
// number of the last of them.
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

// readAround folds the events after a number. What cannot be understood without those that are lost is left out.
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
			a.logger.Warn("an event behind a loss is left out", "seq", ev.Seq, "err", err)
			a.seq = ev.Seq
		}
	}
	if holes && a.core.Opened.Provider == "" {
		return Conflict("the first events of this session are lost: its log was damaged")
	}
	return nil
}

// tellLoss drafts a notice for everything that the log has lost, once.
func (a *actor) tellLoss() {
	for _, d := range a.srv.opts.Store.Damage() {
		if text := d.String(); d.Session == a.id && !slices.Contains(a.core.Lost, text) {
			a.draft(draft{facts: &facts{Lost: []string{text}}, event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeError, Code: event.NoticeLost,
				Text: fmt.Sprintf("A part of this conversation is lost: the file that held its events %d to %d was damaged. Prompts that were waiting are held; look through them before you continue.", d.From, d.To)}})
		}
	}
}
