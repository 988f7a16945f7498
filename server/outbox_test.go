package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// outboxLog is an in-memory log with calls that can fail. It lacks methods that an outbox does not need.
type outboxLog struct {
	session.Log
	events [][]byte // event i is number i+1; nil for one that was trimmed
	snap   *eventlog.Snapshot
	fault  func(call string) error // may be nil
}

func (l *outboxLog) fails(call string) error {
	if l.fault == nil {
		return nil
	}
	return l.fault(call)
}

func (l *outboxLog) Append(_ context.Context, expected uint64, events ...[]byte) (uint64, error) {
	if err := l.fails("append"); err != nil {
		return 0, err
	}
	if last := uint64(len(l.events)); expected != last {
		return 0, &eventlog.ConflictError{Expected: expected, Last: last}
	}
	l.events = append(l.events, events...)
	return uint64(len(l.events)), nil
}

func (l *outboxLog) Read(_ context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	return func(yield func(eventlog.Event, error) bool) {
		if err := l.fails("read"); err != nil {
			yield(eventlog.Event{}, err)
			return
		}
		for i := after.Seq; i < uint64(len(l.events)); i++ {
			if l.events[i] == nil {
				yield(eventlog.Event{}, eventlog.ErrTrimmed)
				return
			}
			if !yield(eventlog.Event{Seq: i + 1, Data: l.events[i]}, nil) {
				return
			}
		}
	}
}

func (l *outboxLog) Last(context.Context) (eventlog.Cursor, error) {
	return eventlog.Cursor{Seq: uint64(len(l.events))}, nil
}

func (l *outboxLog) Snapshot(context.Context) (eventlog.Snapshot, error) {
	if l.snap == nil {
		return eventlog.Snapshot{}, eventlog.ErrNotFound
	}
	return *l.snap, nil
}

func (l *outboxLog) PutSnapshot(_ context.Context, seq, sub uint64, data []byte) error {
	if err := l.fails("snapshot"); err != nil {
		return err
	}
	l.snap = &eventlog.Snapshot{Cursor: eventlog.Cursor{Seq: seq, Sub: sub}, Data: data}
	return nil
}

func (l *outboxLog) Trim(_ context.Context, seq uint64) error {
	if err := l.fails("trim"); err != nil {
		return err
	}
	if l.snap == nil || l.snap.Seq < seq {
		return eventlog.ErrNoSnapshot
	}
	for i := range seq {
		l.events[i] = nil
	}
	return nil
}

// ids returns the kept events.
func (l *outboxLog) ids() (ids []string) {
	for _, data := range l.events {
		var ev webhook.Event
		if data != nil && json.Unmarshal(data, &ev) == nil {
			ids = append(ids, ev.ID)
		}
	}
	return ids
}

// TestOutbox_faults makes each call of the log fail in turn while events are added: an event that
// could not be stored can be added again, each event is stored once and in order, and another
// server that opens the outbox gets the same state.
func TestOutbox_faults(t *testing.T) {
	add := func(o *outbox, n uint64) error {
		ev := func(s string, seq uint64) webhook.Event {
			return webhook.Event{ID: fmt.Sprint(s, seq), SessionID: s, Seq: seq}
		}
		err := o.add(t.Context(), []webhook.Event{ev("a", 2*n), ev("a", 2*n+1)})
		if err != nil {
			return err
		}
		return o.add(t.Context(), []webhook.Event{ev("b", n)})
	}
	var want []string
	for n := range uint64(6) {
		want = append(want, fmt.Sprint("a", 2*n+2), fmt.Sprint("a", 2*n+3), fmt.Sprint("b", n+1))
	}
	run := func(at int) (calls int) {
		log := &outboxLog{}
		o, err := openOutbox(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		o.max, o.step = 100, 2
		failed := ""
		log.fault = func(call string) error {
			calls++
			if calls == at {
				failed = call
				return errors.New("it fails")
			}
			return nil
		}
		for n := uint64(1); n <= 6; n++ {
			_, changed := o.last()
			if err := add(o, n); err != nil {
				if failed != "append" {
					t.Errorf("call %d: a %s that failed gives %v", at, failed, err)
				}
				if err := add(o, n); err != nil {
					t.Fatalf("call %d: added again: %v", at, err)
				}
			}
			select {
			case <-changed:
			default:
				t.Errorf("call %d: nobody is told of a new event", at)
			}
			if err := add(o, n); err != nil { // already stored
				t.Fatal(err)
			}
		}
		log.fault = nil
		if got := log.ids(); !slices.Equal(got, want) {
			t.Errorf("call %d, a %s: the outbox has %v, want %v", at, failed, got, want)
		}
		again, err := openOutbox(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(again.seq, again.marks) != fmt.Sprint(o.seq, o.marks) {
			t.Errorf("call %d: read again it is at %d with %v, want %d with %v", at, again.seq, again.marks, o.seq, o.marks)
		}
		return calls
	}
	for at, n := 1, run(0); at <= n; at++ {
		run(at)
	}
}

// TestOutbox_cluster checks that two servers store each event of a session once, also after one of them
// has trimmed events that the other has not read.
func TestOutbox_cluster(t *testing.T) {
	log := &outboxLog{}
	open := func() *outbox {
		o, err := openOutbox(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		o.max, o.step = 3, 2
		return o
	}
	one, two := open(), open()
	for n := uint64(1); n <= 20; n++ {
		for _, o := range []*outbox{one, two} {
			if n <= 10 && o == two {
				continue // it was disconnected
			}
			if err := o.add(t.Context(), []webhook.Event{{ID: fmt.Sprint(n), SessionID: "a", Seq: n}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := log.ids(); len(log.events) != 20 || len(got) < 3 || len(got) > 5 || got[len(got)-1] != "20" {
		t.Errorf("%d events were stored, %v are kept, want 20 and the newest", len(log.events), got)
	}
	for name, o := range map[string]*outbox{"one": one, "two": two, "a new one": open()} {
		if oldest, err := o.oldest(t.Context()); err != nil || oldest != 17 || o.marks["a"] != 20 {
			t.Errorf("%s: the oldest is %d, the mark %v, %v, want 17 and 20", name, oldest, o.marks, err)
		}
	}
}

// TestOutbox_trimFails checks that old events are trimmed after a failed attempt, with the next
// event.
func TestOutbox_trimFails(t *testing.T) {
	for _, failing := range []string{"", "snapshot", "trim"} {
		log := &outboxLog{}
		o, err := openOutbox(t.Context(), log)
		if err != nil {
			t.Fatal(err)
		}
		o.max, o.step = 3, 3
		add := func(n uint64) {
			if err := o.add(t.Context(), []webhook.Event{{ID: fmt.Sprint(n), SessionID: "a", Seq: n}}); err != nil {
				t.Fatal(err)
			}
		}
		for n := uint64(1); n <= 7; n++ {
			log.fault = func(call string) error {
				if call == failing && n == 6 { // the second time
					return errors.New("it fails")
				}
				return nil
			}
			add(n)
		}
		want := []string{"4", "5", "6", "7"}
		if failing != "" {
			want = want[1:]
		}
		if got := log.ids(); !slices.Equal(got, want) {
			t.Errorf("with a failing %q %v are kept, want %v", failing, got, want)
		}
	}
}

// TestOutbox_marks checks that a mark never decreases: events of one session may be out of order after servers have changed.
func TestOutbox_marks(t *testing.T) {
	log := &outboxLog{}
	for _, seq := range []uint64{2, 5, 3} {
		log.events = append(log.events, fmt.Appendf(nil, `{"session_id":"a","seq":%d}`, seq))
	}
	o, err := openOutbox(t.Context(), log)
	if err != nil || o.marks["a"] != 5 {
		t.Fatalf("the mark is %v, %v, want 5", o.marks, err)
	}
	if err := o.add(t.Context(), []webhook.Event{{SessionID: "a", Seq: 4}, {SessionID: "a", Seq: 5}}); err != nil || len(log.events) != 3 {
		t.Errorf("%d events, %v: an event is stored again", len(log.events), err)
	}
}
