package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// memoryStream is a stream with the messages of one subject.
type memoryStream struct {
	jetstream.Stream
	msgs []*jetstream.RawStreamMsg
	fail error // of every read
	hide func(seq uint64) bool
	gets []uint64 // the requested sequences

	opens    []error // errors of the next consumers; nil for one that works
	starts   []uint64
	deleted  []string
	stopped  int
	skip     uint64 // the client drops the message with this sequence, once
	nextFail int    // the number of messages after which a consumer ends, once
}

func (s *memoryStream) GetMsg(_ context.Context, seq uint64, _ ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	s.gets = append(s.gets, seq)
	if s.fail != nil {
		return nil, s.fail
	}
	for _, m := range s.msgs {
		if m.Sequence >= seq {
			if s.hide != nil && s.hide(m.Sequence) {
				return nil, jetstream.ErrMsgNotFound
			}
			return m, nil
		}
	}
	return nil, jetstream.ErrMsgNotFound
}

func (s *memoryStream) GetLastMsgForSubject(context.Context, string) (*jetstream.RawStreamMsg, error) {
	switch {
	case s.fail != nil:
		return nil, s.fail
	case len(s.msgs) == 0:
		return nil, jetstream.ErrMsgNotFound
	}
	return s.msgs[len(s.msgs)-1], nil
}

func (s *memoryStream) CreateConsumer(_ context.Context, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if len(s.opens) > 0 {
		err := s.opens[0]
		if s.opens = s.opens[1:]; err != nil {
			return nil, err
		}
	}
	s.starts = append(s.starts, c.OptStartSeq)
	return &memoryConsumer{stream: s, at: c.OptStartSeq, name: fmt.Sprint("c", len(s.starts))}, nil
}

func (s *memoryStream) DeleteConsumer(_ context.Context, name string) error {
	s.deleted = append(s.deleted, name)
	return nil
}

// memoryConsumer yields the messages of a stream from a sequence on.
type memoryConsumer struct {
	jetstream.Consumer
	stream    *memoryStream
	name      string
	at, count uint64
}

func (c *memoryConsumer) CachedInfo() *jetstream.ConsumerInfo {
	return &jetstream.ConsumerInfo{Name: c.name}
}
func (c *memoryConsumer) Stop() { c.stream.stopped++ }

func (c *memoryConsumer) Messages(...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error) {
	return memoryMessages{memoryConsumer: c}, nil
}

// memoryMessages are the messages of a consumer.
type memoryMessages struct {
	jetstream.MessagesContext
	*memoryConsumer
}

func (m memoryMessages) Stop() { m.stream.stopped++ }

func (m memoryMessages) Next(...jetstream.NextOpt) (jetstream.Msg, error) { return m.next() }

func (c *memoryConsumer) next() (jetstream.Msg, error) {
	if c.stream.nextFail > 0 && int(c.count) == c.stream.nextFail {
		c.stream.nextFail = 0
		return nil, jetstream.ErrNoHeartbeat
	}
	for i, m := range c.stream.msgs {
		if m.Sequence < c.at {
			continue
		}
		c.at, c.count = m.Sequence+1, c.count+1
		if m.Sequence == c.stream.skip {
			c.stream.skip = 0
			continue
		}
		return memoryMsg{m: m, consumer: c.count, pending: uint64(len(c.stream.msgs) - i - 1)}, nil
	}
	return nil, errors.New("there is no further message")
}

type memoryMsg struct {
	jetstream.Msg
	m                 *jetstream.RawStreamMsg
	consumer, pending uint64
}

func (m memoryMsg) Data() []byte    { return m.m.Data }
func (m memoryMsg) Subject() string { return m.m.Subject }
func (m memoryMsg) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Consumer: m.consumer, Stream: m.m.Sequence}, NumPending: m.pending}, nil
}

// put appends the parts of a record to a stream, with a gap of sequences after the previous
// message.
func (s *memoryStream) put(distance uint64, msgs ...[]byte) {
	for _, data := range msgs {
		seq := distance
		if n := len(s.msgs); n > 0 {
			seq += s.msgs[n-1].Sequence
		}
		s.msgs = append(s.msgs, &jetstream.RawStreamMsg{Sequence: seq, Subject: logPrefix + "s", Data: data})
	}
}

// memoryLog returns a log of a store without a server, and its streams.
func memoryLog(t *testing.T) (l *Log, log, delta, snapshot *memoryStream) {
	t.Helper()
	log, delta, snapshot = &memoryStream{}, &memoryStream{}, &memoryStream{}
	s := &Store{opts: (&Options{}).withDefaults(), link: newLink(), nc: &nats.Conn{}, logs: map[string]*logState{}}
	s.st = &streams{log: log, delta: delta, snapshot: snapshot}
	s.st.meta.Store(&map[string]string{metaGeneration: "g"})
	return s.Log("s"), log, delta, snapshot
}

func eventsRecord(first uint64, n int) []byte {
	return encodeRecord(header{kind: kindEvents, epoch: [8]byte{1}, first: first}, make([][]byte, n)...)[0]
}

// A feed returns every message once and in order: first by single requests, then from consumers,
// which it recreates after each loss.
func TestFeed(t *testing.T) {
	for name, tt := range map[string]struct {
		gets     int
		opens    []error
		skip     uint64
		nextFail int
		starts   string
	}{
		"a consumer":                 {0, nil, 0, 0, "[1]"},
		"requests, then a consumer":  {2, nil, 0, 0, "[13]"},
		"requests alone":             {9, nil, 0, 0, "[]"},
		"a consumer that is refused": {0, []error{errFault, errFault, nil}, 0, 0, "[1]"},
		"a message that is dropped":  {0, nil, 13, 0, "[1 13]"},
		"a consumer that ends":       {0, nil, 0, 3, "[1 14]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, log, _, _ := memoryLog(t)
				log.put(10, []byte("a"))
				log.put(2, []byte("b"))
				log.put(1, []byte("c"), []byte("d"))
				log.opens, log.skip, log.nextFail = tt.opens, tt.skip, tt.nextFail
				f := &feed{store: l.store, stream: log, subject: "x", gets: tt.gets}
				var got []string
				for range log.msgs {
					m, err := f.take(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%d%s", m.seq, m.data))
					if m.subject != logPrefix+"s" || f.next != m.seq+1 {
						t.Errorf("message %d has the subject %s, and the feed continues at %d", m.seq, m.subject, f.next)
					}
				}
				if text := strings.Join(got, " "); text != "10a 12b 13c 14d" {
					t.Errorf("the messages are %s, want all of them once", text)
				}
				if starts := fmt.Sprint(log.starts); starts != tt.starts {
					t.Errorf("consumers start at %s, want %s", starts, tt.starts)
				}
				if f.pause != 0 && tt.gets == 0 {
					t.Errorf("the pause is %v after a message, want none", f.pause)
				}
				f.close()
				l.store.link.renew()
				synctest.Wait()
				if f.messages != nil || f.consumer != nil || log.stopped != len(log.starts) {
					t.Errorf("%d of %d consumers were stopped", log.stopped, len(log.starts))
				}
			})
		})
	}
}

// A feed ends with its context, with the stream, or with the connection, and waits longer after each failure.
func TestFeed_ends(t *testing.T) {
	for _, final := range []error{jetstream.ErrStreamNotFound, nats.ErrConnectionClosed} {
		l, log, _, _ := memoryLog(t)
		log.opens = []error{final}
		f := &feed{store: l.store, stream: log, subject: "x"}
		if _, err := f.take(t.Context()); !errors.Is(err, final) {
			t.Errorf("the feed ends with %v, want %v", err, final)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		l, log, _, _ := memoryLog(t)
		log.opens = slices.Repeat([]error{errFault}, 100)
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), minPause+2*minPause+4*minPause+time.Millisecond, enough)
		defer cancel()
		f := &feed{store: l.store, stream: log, subject: "x"}
		if _, err := f.take(ctx); !errors.Is(err, enough) {
			t.Errorf("the feed ends with %v, want %v", err, enough)
		}
		if tried := 100 - len(log.opens); tried != 4 {
			t.Errorf("%d attempts, want 4: the pause doubles", tried)
		}
		f.pause = maxPause
		start := time.Now()
		log.opens = []error{errFault}
		log.put(1, []byte("a"))
		if _, err := f.take(t.Context()); err != nil || time.Since(start) != maxPause {
			t.Errorf("after the longest pause: %v, %v", err, time.Since(start))
		}
	})
}

// A search finds the first message that satisfies a condition, at any distances between the
// messages, with few requests.
func TestLocate(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		l, log, _, _ := memoryLog(t)
		first := uint64(1)
		var firsts []uint64
		for range r.IntN(40) {
			n := 1 + r.IntN(4)
			log.put(1+uint64(r.IntN(50)), eventsRecord(first, n))
			firsts = append(firsts, first)
			first += uint64(n)
		}
		for seq := uint64(0); seq <= first+1; seq++ {
			want := uint64(1)
			if n := len(log.msgs); n > 0 {
				want = log.msgs[n-1].Sequence + 1
			}
			for i := len(firsts) - 1; i >= 0 && firsts[i] >= seq; i-- {
				want = log.msgs[i].Sequence
			}
			log.gets = nil
			got, err := locate(t.Context(), log, "x", func(h *header) bool { return h.first >= seq })
			// Any position after the previous message is correct.
			next := slices.IndexFunc(log.msgs, func(m *jetstream.RawStreamMsg) bool { return m.Sequence >= got })
			wantNext := slices.IndexFunc(log.msgs, func(m *jetstream.RawStreamMsg) bool { return m.Sequence >= want })
			if err != nil || next != wantNext || len(log.gets) > 14 {
				t.Fatalf("seed %d: event %d of %v is at %d, %v, after %d requests; want %d", seed, seq, firsts, got, err, len(log.gets), want)
			}
			if len(log.gets) > 0 && log.gets[0] != 1 {
				t.Fatalf("seed %d: the first request is for %d, want 1", seed, log.gets[0])
			}
			// The record with the event, or the next one.
			at, err := l.locateEvent(t.Context(), seq)
			next = slices.IndexFunc(log.msgs, func(m *jetstream.RawStreamMsg) bool { return m.Sequence >= at })
			wantNext = max(0, sortSearchLast(firsts, seq))
			if len(firsts) > 0 && (err != nil || next != wantNext) {
				t.Fatalf("seed %d: reading event %d of %v begins with message %d, %v, want %d", seed, seq, firsts, next, err, wantNext)
			}
		}
	}
	l, log, _, _ := memoryLog(t)
	log.fail = errFault
	if _, err := l.locateEvent(t.Context(), 1); !errors.Is(err, errFault) {
		t.Errorf("a failed read: %v, want %v", err, errFault)
	}
}

// sortSearchLast returns the index of the last number that is at most seq, or -1.
func sortSearchLast(firsts []uint64, seq uint64) int {
	last := -1
	for i, first := range firsts {
		if first <= seq {
			last = i
		}
	}
	return last
}

// An unfinished record has the same first event as its replacement: reading begins at the
// unfinished one.
func TestLocateEvent_unfinished(t *testing.T) {
	l, log, _, _ := memoryLog(t)
	parts := encodeRecord(header{kind: kindEvents, epoch: [8]byte{1}, first: 3}, make([]byte, partSize+1))
	log.put(5, eventsRecord(1, 2), parts[0], eventsRecord(3, 1), eventsRecord(4, 1))
	for seq, want := range map[uint64]uint64{1: 5, 2: 5, 3: 10, 4: 20, 9: 20} {
		got, err := l.locateEvent(t.Context(), seq)
		if m := must(log.GetMsg(t.Context(), got)); err != nil || m.Sequence != want {
			t.Errorf("event %d is at %d, %v, want %d", seq, m.Sequence, err, want)
		}
	}
}

// The tip of a log is the end of its last complete record.
func TestLog_tip(t *testing.T) {
	l, log, _, _ := memoryLog(t)
	check := func(what string, want tip) {
		t.Helper()
		got, err := l.tip(t.Context())
		if got.time = (time.Time{}); err != nil || got != want {
			t.Errorf("%s: the end is %+v, %v, want %+v", what, got, err, want)
		}
	}
	check("empty", tip{})
	log.put(3, eventsRecord(1, 4))
	check("one record", tip{stream: 3, last: 4, epoch: [8]byte{1}})
	log.put(1, encodeRecord(header{kind: kindEvents, epoch: [8]byte{1}, first: 5}, make([]byte, partSize), []byte("x"))[0])
	check("an unfinished record", tip{stream: 4, last: 4, epoch: [8]byte{1}})
	log.put(1, []byte("\x01no record"))
	if _, err := l.tip(t.Context()); !errors.Is(err, errRecord) {
		t.Errorf("a message that is no record: %v, want %v", err, errRecord)
	}
	if first, err := l.first(t.Context()); first != 1 || err != nil {
		t.Errorf("the oldest event is %d, %v, want 1", first, err)
	}
	log.msgs = nil
	if _, err := l.first(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Errorf("the oldest event of an empty log: %v, want %v", err, ErrNotFound)
	}
	if _, err := l.info(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Errorf("an empty log: %v, want %v", err, ErrNotFound)
	}
	log.put(7, eventsRecord(5, 4))
	if info, err := l.info(t.Context()); err != nil || info.First != 5 || info.Last != 8 || info.Session != "s" || info.Epoch != "g0100000000000000" {
		t.Errorf("the log is %+v, %v", info, err)
	}
	log.fail = errFault
	for what, err := range map[string]error{"tip": second(l.tip(t.Context())), "first": second(l.first(t.Context())), "info": second(l.info(t.Context())), "last": second(lastSequence(t.Context(), log, "x"))} {
		if !errors.Is(err, errFault) {
			t.Errorf("%s after a failed read: %v, want %v", what, err, errFault)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The newest snapshot of the log's epoch counts, and a snapshot of a later event is not replaced.
func TestLog_snapshots(t *testing.T) {
	l, log, _, snapshot := memoryLog(t)
	state := func(epoch byte, first, sub uint64, data string) [][]byte {
		return encodeRecord(header{kind: kindSnapshot, epoch: [8]byte{epoch}, first: first, sub: sub, time: time.Unix(9, 0)}, []byte(data))
	}
	log.put(1, eventsRecord(1, 9))
	if _, err := l.newestSnapshot(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Errorf("without one: %v, want %v", err, ErrNotFound)
	}
	if after, err := l.snapshotEnd(t.Context(), [8]byte{1}, 1, 0); after != 0 || err != nil {
		t.Errorf("the first follows %d, %v, want 0", after, err)
	}
	snapshot.put(4, state(1, 2, 0, "old")...)
	snapshot.put(4, state(1, 5, 3, "new")...)
	snapshot.put(1, state(1, 6, 0, strings.Repeat("x", partSize+1))[0]) // its writer exited
	got, err := l.newestSnapshot(t.Context())
	if err != nil || got.Seq != 5 || got.Sub != 3 || string(got.Data) != "new" || got.Epoch != "g0100000000000000" || !got.Time.Equal(time.Unix(9, 0)) {
		t.Errorf("the newest is %+v, %v, want that of event 5", got, err)
	}
	snapshot.msgs = snapshot.msgs[:2]
	for _, tt := range []struct {
		epoch    byte
		seq, sub uint64
		refused  bool
	}{{1, 5, 3, false}, {1, 5, 4, false}, {1, 6, 0, false}, {1, 5, 2, true}, {1, 4, 9, true}, {2, 1, 0, false}} {
		after, err := l.snapshotEnd(t.Context(), [8]byte{tt.epoch}, tt.seq, tt.sub)
		if errors.Is(err, ErrConflict) != tt.refused || !tt.refused && (after != 8 || err != nil) {
			t.Errorf("%+v: it follows %d, %v, want it refused: %v", tt, after, err, tt.refused)
		}
	}
	snapshot.put(1, state(2, 7, 0, "of another life")...)
	if got, err := l.newestSnapshot(t.Context()); err != nil || got.Seq != 5 {
		t.Errorf("the newest is %+v, %v, want that of event 5: the later one is of another log", got, err)
	}
	snapshot.put(1, []byte("\x01no record"))
	if got, err := l.newestSnapshot(t.Context()); err != nil || got.Seq != 5 {
		t.Errorf("with a damaged one after it: %+v, %v, want that of event 5", got, err)
	}
	if after, err := l.snapshotEnd(t.Context(), [8]byte{1}, 1, 0); after != 10 || err != nil {
		t.Errorf("after a damaged one: %d, %v, want 10", after, err)
	}
	snapshot.put(1, []byte{Format + 1})
	if _, err := l.newestSnapshot(t.Context()); !errors.Is(err, ErrFormat) {
		t.Errorf("a newer format: %v, want %v", err, ErrFormat)
	}
	if _, err := l.snapshotEnd(t.Context(), [8]byte{1}, 9, 0); !errors.Is(err, ErrFormat) {
		t.Errorf("replacing a newer format: %v, want %v", err, ErrFormat)
	}
	snapshot.fail = errFault
	if err := errors.Join(second(l.newestSnapshot(t.Context()))); !errors.Is(err, errFault) {
		t.Errorf("a failed read: %v, want %v", err, errFault)
	}
	if _, err := l.snapshotEnd(t.Context(), [8]byte{1}, 9, 0); !errors.Is(err, errFault) {
		t.Errorf("a failed read: %v, want %v", err, errFault)
	}
}

// A cursor is valid for the log with its epoch, up to the log's end.
func TestReader_checkCursor(t *testing.T) {
	l, _, _, _ := memoryLog(t)
	epoch := l.epoch([8]byte{1})
	for _, tt := range []struct {
		cursor Cursor
		last   uint64
		want   error
	}{
		{Cursor{}, 0, nil}, {Cursor{Seq: 1}, 0, ErrNotFound}, {Cursor{Epoch: epoch}, 0, ErrNotFound}, {Cursor{}, 3, nil}, {Cursor{Epoch: epoch, Seq: 3}, 3, nil},
		{Cursor{Seq: 4}, 3, ErrEpoch}, {Cursor{Epoch: "other", Seq: 1}, 3, ErrEpoch}, {Cursor{Seq: 3}, 3, nil},
	} {
		r := &reader{log: l, cursor: tt.cursor}
		if err := r.checkCursor(tip{last: tt.last, epoch: [8]byte{1}}); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("the cursor %v in a log of %d events: %v, want %v", tt.cursor, tt.last, err, tt.want)
		}
	}
}

// A plan contains the ends of both streams and begins at the cursor.
func TestReader_plan(t *testing.T) {
	l, log, delta, _ := memoryLog(t)
	r := &reader{log: l}
	if p, err := r.plan(t.Context()); err != nil || p != (plan{empty: true, logStart: 1, deltaStart: 1}) {
		t.Errorf("of an empty log: %+v, %v", p, err)
	}
	log.put(10, eventsRecord(1, 3), eventsRecord(4, 2), eventsRecord(6, 1))
	deltas := func(first uint64) []byte {
		return encodeRecord(header{kind: kindDeltas, epoch: [8]byte{1}, first: first, sub: 1}, []byte("x"))[0]
	}
	delta.put(3, deltas(5), deltas(6), deltas(6))
	at := func(s *memoryStream, seq uint64) uint64 {
		if m, err := s.GetMsg(t.Context(), seq); err == nil {
			return m.Sequence
		}
		return 0
	}
	for seq, want := range map[uint64]uint64{0: 10, 2: 10, 3: 20, 4: 20, 5: 30, 6: 30} {
		r := &reader{log: l, cursor: Cursor{Seq: seq}}
		p, err := r.plan(t.Context())
		if err != nil || p.empty || p.last != 6 || p.logEnd != 30 || p.deltaEnd != 9 || at(log, p.logStart) != want || at(delta, p.deltaStart) != 6 || r.epoch != [8]byte{1} {
			t.Errorf("after event %d: %+v, %v, want the log from %d and the deltas from 6", seq, p, err, want)
		}
	}
	for what, s := range map[string]*memoryStream{"deltas": delta, "log": log} {
		s.fail = errFault
		if _, err := (&reader{log: l}).plan(t.Context()); !errors.Is(err, errFault) {
			t.Errorf("the %s cannot be read: %v, want %v", what, err, errFault)
		}
		s.fail = nil
	}
}

// collector returns a reader of a log and the events that it yields.
func collector(l *Log, cursor Cursor, p plan) (*reader, *[]string) {
	got := &[]string{}
	return &reader{log: l, cursor: cursor, known: p, yield: func(e Event, _ error) bool {
		*got = append(*got, fmt.Sprintf("%d.%d%s", e.Seq, e.Sub, e.Data))
		return len(*got) < 5
	}}, got
}

// Reading ends at the end of the plan, skips unfinished records, and fails where events are
// missing.
func TestReader_readTo(t *testing.T) {
	part := encodeRecord(header{kind: kindEvents, epoch: [8]byte{1}, first: 2}, make([]byte, partSize+1))[0]
	for name, tt := range map[string]struct {
		log, delta [][]byte
		after      uint64
		want       string
		err        error
	}{
		"everything":             {[][]byte{textRecord(1, "a", "b"), textRecord(3, "c")}, [][]byte{deltaRecord(1, 3, 1, "x")}, 0, "1.0a 2.0b 3.0c 3.1x", nil},
		"after the first":        {[][]byte{textRecord(1, "a", "b"), textRecord(3, "c")}, nil, 1, "2.0b 3.0c", nil},
		"an unfinished record":   {[][]byte{textRecord(1, "a"), part, textRecord(2, "b")}, nil, 0, "1.0a 2.0b", nil},
		"a damaged record":       {[][]byte{textRecord(1, "a"), []byte("\x01damaged"), textRecord(3, "c")}, nil, 0, "1.0a", ErrDamaged},
		"a damaged record last":  {[][]byte{textRecord(1, "a"), []byte("\x01damaged")}, nil, 0, "1.0a", nil},
		"a newer record":         {[][]byte{textRecord(1, "a"), {Format + 1}, textRecord(2, "b")}, nil, 0, "1.0a", ErrFormat},
		"a gap":                  {[][]byte{textRecord(1, "a"), textRecord(3, "c")}, nil, 0, "1.0a", ErrDamaged},
		"created again":          {[][]byte{textRecord(1, "a"), encodeRecord(header{kind: kindEvents, epoch: [8]byte{2}, first: 2}, []byte("x"))[0]}, nil, 0, "1.0a", ErrEpoch},
		"damaged deltas":         {[][]byte{textRecord(1, "a")}, [][]byte{deltaRecord(1, 1, 1, "x"), []byte("\x01damaged"), deltaRecord(1, 1, 3, "z")}, 0, "1.0a 1.1x 1.3z", nil},
		"deltas of another life": {[][]byte{textRecord(1, "a")}, [][]byte{deltaRecord(2, 1, 1, "x")}, 0, "1.0a", nil},
		"newer deltas":           {[][]byte{textRecord(1, "a")}, [][]byte{{Format + 1}}, 0, "1.0a", ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			l, log, delta, _ := memoryLog(t)
			log.put(1, tt.log...)
			delta.put(1, tt.delta...)
			last := uint64(0)
			for _, msg := range tt.log {
				if h, _, err := decodePart(msg); err == nil && h.complete() {
					last = max(last, h.last())
				}
			}
			p := plan{last: last, logStart: 1, deltaStart: 1, logEnd: uint64(len(log.msgs)), deltaEnd: uint64(len(delta.msgs))}
			r, got := collector(l, Cursor{Seq: tt.after}, p)
			err := r.readTo(t.Context(), &feed{store: l.store, stream: log, next: 1, gets: 9}, &feed{store: l.store, stream: delta, next: 1, gets: 9})
			if !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Errorf("it ends with %v, want %v", err, tt.err)
			}
			if text := strings.Join(*got, " "); text != tt.want {
				t.Errorf("the events are %s, want %s", text, tt.want)
			}
		})
	}
	l, log, delta, _ := memoryLog(t)
	log.put(1, textRecord(1, "a", "b", "c", "d"))
	delta.put(1, deltaRecord(1, 4, 1, "x", "y"))
	r, got := collector(l, Cursor{}, plan{last: 4, logStart: 1, deltaStart: 1, logEnd: 1, deltaEnd: 1})
	if err := r.readTo(t.Context(), &feed{store: l.store, stream: log, gets: 9}, &feed{store: l.store, stream: delta, gets: 9}); !errors.Is(err, errStopped) || len(*got) != 5 {
		t.Errorf("a reader that is left after 5 events has %d, %v, want %v", len(*got), err, errStopped)
	}
}

func textRecord(first uint64, texts ...string) []byte {
	return encodeRecord(header{kind: kindEvents, epoch: [8]byte{1}, first: first}, inBytes(texts)...)[0]
}

func deltaRecord(epoch byte, first, sub uint64, texts ...string) []byte {
	return encodeRecord(header{kind: kindDeltas, epoch: [8]byte{epoch}, first: first, sub: sub}, inBytes(texts)...)[0]
}

func inBytes(texts []string) (all [][]byte) {
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

// Missing events were trimmed if a snapshot includes them, and lost otherwise.
func TestReader_gap(t *testing.T) {
	for name, tt := range map[string]struct {
		oldest, snapshot uint64
		want             error
	}{"trimmed": {4, 3, ErrTrimmed}, "trimmed, with a later snapshot": {4, 9, ErrTrimmed}, "an older snapshot": {4, 2, ErrDamaged}, "no snapshot": {4, 0, ErrDamaged}, "earlier events are there": {2, 9, ErrDamaged}} {
		l, log, _, snapshot := memoryLog(t)
		log.put(1, eventsRecord(tt.oldest, 6))
		if tt.snapshot > 0 {
			snapshot.put(1, encodeRecord(header{kind: kindSnapshot, epoch: [8]byte{1}, first: tt.snapshot}, []byte("x"))...)
		}
		r := &reader{log: l, cursor: Cursor{Seq: 1}}
		err := r.gap(t.Context(), 4)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if d, ok := errors.AsType[*DamageError](err); ok && (d.From != 2 || d.To != 3 || d.Session != "s") {
			t.Errorf("%s: lost are %v, want the events 2 to 3 of s", name, d)
		}
		snapshot.fail = errFault
		if err := r.gap(t.Context(), 4); tt.oldest > 2 && !errors.Is(err, errFault) {
			t.Errorf("%s, and the snapshot cannot be read: %v, want %v", name, err, errFault)
		}
		log.fail = errFault
		if err := r.gap(t.Context(), 4); !errors.Is(err, errFault) {
			t.Errorf("%s, and the log cannot be read: %v, want %v", name, err, errFault)
		}
	}
}

// A message that the server cannot read ends the reader with an error that lists the events up to
// the next message. A deleted message counts as trimmed.
func TestReader_unreadable(t *testing.T) {
	build := func(t *testing.T) (*Log, *memoryStream, *feed, *reader) {
		l, log, _, _ := memoryLog(t)
		log.put(1, eventsRecord(1, 2), eventsRecord(3, 2), eventsRecord(5, 2), eventsRecord(7, 2))
		r, _ := collector(l, Cursor{Seq: 2}, plan{last: 8, logEnd: 4})
		return l, log, &feed{store: l.store, stream: log, subject: l.subject(), next: 2}, r
	}
	lost := func(err error) string {
		if d, ok := errors.AsType[*DamageError](err); ok {
			return fmt.Sprintf("%d-%d", d.From, d.To)
		}
		return fmt.Sprint(err)
	}
	_, log, f, r := build(t)
	if err := r.unreadable(t.Context(), f, 4); err != nil {
		t.Errorf("a message that is only slow: %v", err)
	}
	for hidden, want := range map[uint64]string{2: "3-4", 3: "3-6", 4: "3-8"} {
		log.hide = func(seq uint64) bool { return seq >= 2 && seq <= hidden }
		if got := lost(r.unreadable(t.Context(), f, 4)); got != want {
			t.Errorf("the messages 2 to %d cannot be read: lost are %s, want %s", hidden, got, want)
		}
	}
	log.msgs = log.msgs[:3]
	if err := r.unreadable(t.Context(), f, 4); !errors.Is(err, ErrTrimmed) {
		t.Errorf("the last message was deleted: %v, want %v", err, ErrTrimmed)
	}
	_, log, f, r = build(t)
	log.hide = func(uint64) bool { return true }
	f.subject = "deltas"
	if err := r.unreadable(t.Context(), f, 4); !errors.Is(err, ErrTrimmed) {
		t.Errorf("deltas that cannot be read: %v, want %v", err, ErrTrimmed)
	}
	log.fail = errFault
	if err := r.stillThere(t.Context(), log, "x", 4); !errors.Is(err, errFault) {
		t.Errorf("a failed read: %v, want %v", err, errFault)
	}
}

// The newest events of the plan are reported as missing if the messages end before them.
func TestReader_missing(t *testing.T) {
	l, _, _, _ := memoryLog(t)
	for _, tt := range []struct {
		seq, at uint64
		lost    bool
	}{{9, 4, false}, {10, 4, true}, {11, 4, true}, {10, 5, false}, {10, 6, false}} {
		r := &reader{log: l, cursor: Cursor{Seq: tt.at}, known: plan{last: 5, logEnd: 10}}
		err := r.missing(tt.seq)
		if d, ok := errors.AsType[*DamageError](err); ok != tt.lost || ok && (d.From != tt.at+1 || d.To != 5) {
			t.Errorf("after message %d and event %d: %v, want a loss: %v", tt.seq, tt.at, err, tt.lost)
		}
	}
}

// The name of a session is part of a subject: at most 128 letters, digits, - and _.
func TestValidSession(t *testing.T) {
	for _, good := range []string{"a", "z", "A", "Z", "0", "9", "-", "_", "aZ-0_9", strings.Repeat("x", 128)} {
		if !validSession(good) || checkSession(good) != nil {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{"", ".", "*", ">", "a b", "a/b", "ä", "@", "[", "`", "{", ":", "/", strings.Repeat("x", 129)} {
		if validSession(bad) || !errors.Is(checkSession(bad), ErrSession) {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Headers that no writer creates are rejected, for each field.
func TestHeader_check(t *testing.T) {
	const most = ^uint64(0)
	good := header{kind: kindEvents, first: 1, count: 1, parts: 1}
	for name, tt := range map[string]struct {
		change func(h *header)
		ok     bool
	}{
		"as it is": {func(*header) {}, true}, "kind 0": {func(h *header) { h.kind = 0 }, false}, "a snapshot": {func(h *header) { h.kind = kindSnapshot }, true}, "a kind that is not known": {func(h *header) { h.kind = kindSnapshot + 1 }, false},
		"no parts": {func(h *header) { h.parts = 0 }, false}, "the last part": {func(h *header) { h.part, h.parts = 2, 3 }, true}, "a part too many": {func(h *header) { h.part, h.parts = 3, 3 }, false},
		"no events": {func(h *header) { h.count = 0 }, false}, "event 0": {func(h *header) { h.first = 0 }, false}, "too many events": {func(h *header) { h.first, h.count = most, 2 }, false}, "the last possible event": {func(h *header) { h.first = most }, true},
		"deltas": {func(h *header) { h.kind, h.sub, h.first = kindDeltas, 1, 0 }, true}, "delta 0": {func(h *header) { h.kind = kindDeltas }, false}, "too many deltas": {func(h *header) { h.kind, h.sub, h.count = kindDeltas, most, 2 }, false},
		"two states": {func(h *header) { h.kind, h.count = kindSnapshot, 2 }, false}, "a snapshot of nothing": {func(h *header) { h.kind, h.first = kindSnapshot, 0 }, true},
	} {
		h := good
		tt.change(&h)
		if err := h.check(); (err == nil) != tt.ok || err != nil && !errors.Is(err, errRecord) {
			t.Errorf("%s: %v, want it taken: %v", name, err, tt.ok)
		}
	}
	for name, body := range map[string]struct {
		body  []byte
		count uint64
		want  string
	}{
		"two": {[]byte{1, 2, 'a', 'b', 'c'}, 2, "[a bc]"}, "an empty one": {[]byte{0}, 1, "[]"}, "none": {nil, 1, ""}, "lengths are cut": {[]byte{1, 0x80}, 2, ""}, "too long": {[]byte{2, 'a'}, 1, ""},
		"second too long": {[]byte{1, 2, 'a', 'b'}, 2, ""}, "more than it says": {[]byte{1, 'a', 'b'}, 1, ""}, "a huge length": {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 1, ""},
	} {
		got, err := decodeBody(body.body, body.count)
		if text := fmt.Sprintf("%s", got); err == nil && text != body.want || (err == nil) != (body.want != "") || err != nil && !errors.Is(err, errRecord) {
			t.Errorf("%s: %s, %v, want %s", name, text, err, body.want)
		}
	}
}

// The parts of records of one subject complete them, and a part of another record does not begin
// one.
func TestPartCounter(t *testing.T) {
	parts := func(first uint64, n int) (all []header) {
		for _, msg := range encodeRecord(header{kind: kindEvents, epoch: [8]byte{1}, first: first}, make([]byte, n*partSize-8)) {
			h, _, err := decodePart(msg)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h)
		}
		return all
	}
	a, b, one := parts(1, 3), parts(2, 3), parts(3, 1)
	for name, tt := range map[string]struct {
		parts []header
		want  string
	}{
		"whole": {a, "[false false true]"}, "one part": {one, "[true]"}, "broken off": {[]header{a[0], a[1], b[0], b[1], b[2]}, "[false false false false true]"}, "a part is missing": {[]header{a[0], a[2]}, "[false false]"},
		"of another record": {[]header{a[0], b[1], b[2], a[1], a[2]}, "[false false false false false]"}, "without the first": {[]header{a[1], a[2]}, "[false false]"}, "twice": {[]header{a[0], a[1], a[1], a[2]}, "[false false false false]"},
	} {
		var p partCounter
		var got []bool
		for _, h := range tt.parts {
			got = append(got, p.add(&h))
		}
		if text := fmt.Sprint(got); text != tt.want {
			t.Errorf("%s: complete are %s, want %s", name, text, tt.want)
		}
	}
}
