package eventlog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// fullJetStream accepts a number of messages and then has no room.
type fullJetStream struct {
	jetstream.JetStream
	room int
}

func (j *fullJetStream) Publish(ctx context.Context, subject string, data []byte, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if j.room--; j.room < 0 {
		return nil, &jetstream.APIError{Code: 503, Description: "maximum bytes exceeded"}
	}
	return j.JetStream.Publish(ctx, subject, data, opts...)
}

// deletions records the messages that are deleted from a stream, and fails after some of them.
type deletions struct {
	jetstream.Stream
	left int
	seqs []uint64
}

func (s *deletions) DeleteMsg(ctx context.Context, seq uint64) error {
	if s.left--; s.left < 0 {
		return errFault
	}
	s.seqs = append(s.seqs, seq)
	return s.Stream.DeleteMsg(ctx, seq)
}

// TestAppend_noRoom checks that the parts of a record that did not fit are deleted, the last first, and that the log can be read and
// written afterwards, even if not all of them could be deleted.
func TestAppend_noRoom(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	js, log := s.js, s.st.log
	for _, left := range []int{0, 1, 9} {
		l := s.Log("a" + string(rune('0'+left)))
		if _, err := l.Append(t.Context(), 0, []byte("one")); err != nil {
			t.Fatal(err)
		}
		del := &deletions{Stream: log, left: left}
		s.js, s.st.log = &fullJetStream{js, 3}, del
		_, err := l.Append(t.Context(), 1, bytes.Repeat([]byte("x"), 5*partSize))
		s.js, s.st.log = js, log
		if !errors.Is(err, ErrFull) {
			t.Errorf("Append returns %v, want %v", err, ErrFull)
		}
		if len(del.seqs) != min(left, 3) || !slices.IsSortedFunc(del.seqs, func(a, b uint64) int { return int(b) - int(a) }) {
			t.Errorf("the parts %d are deleted, want %d of 3, the last first", del.seqs, min(left, 3))
		}
		if last, err := l.Append(t.Context(), 1, []byte("two")); err != nil || last != 2 {
			t.Errorf("the next Append returns %d, %v, want 2", last, err)
		}
		var got []string
		for ev, err := range l.Read(t.Context(), Cursor{}) {
			if err != nil {
				t.Errorf("Read returns %v", err)
				break
			}
			got = append(got, string(ev.Data))
		}
		if !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("the log has %.60q, want the two events", got)
		}
	}
}

// TestAppendDelta_numbers checks that a delta without an event, or without a number, is rejected.
func TestAppendDelta_numbers(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	l := s.Log("a")
	if _, err := l.Append(t.Context(), 0, []byte("one")); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]uint64{{0, 1}, {1, 0}, {0, 0}, {2, 1}} {
		if err := l.AppendDelta(t.Context(), 0, at[0], at[1], []byte("d")); err == nil {
			t.Errorf("AppendDelta accepts the delta %d.%d, want an error", at[0], at[1])
		}
	}
}

// conflicts are the answers of a server to a write that another one has preceded.
var conflicts = map[string]error{
	"a key exists":     jetstream.ErrKeyExists,
	"a sequence":       &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence},
	"a fixed sequence": &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant},
}

// answering is a bucket of leases that answers each write with an error.
type answering struct {
	jetstream.KeyValue
	err error
}

func (b answering) Update(context.Context, string, []byte, uint64) (uint64, error) { return 0, b.err }

func (b answering) Delete(context.Context, string, ...jetstream.KVDeleteOpt) error { return b.err }

// TestLease_conflict checks that a lease that another owner has taken is lost, whichever way the server reports it, and that
// releasing it is no error.
func TestLease_conflict(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	bucket := s.st.leases
	for name, conflict := range conflicts {
		s.st.leases = bucket
		l, err := s.Acquire(t.Context(), "a", "me")
		if err != nil {
			t.Fatal(err)
		}
		s.st.leases = answering{bucket, conflict}
		if _, err := s.Reacquire(t.Context(), "a", "me"); !isHeld(err, "me") {
			t.Errorf("%s: Reacquire returns %v, want a held lease", name, err)
		}
		if err := l.Renew(t.Context()); !errors.Is(err, ErrLeaseLost) || l.Held() {
			t.Errorf("%s: Renew returns %v, held %v; want %v", name, err, l.Held(), ErrLeaseLost)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Errorf("%s: Release returns %v, want no error", name, err)
		}
		if err := bucket.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
}

func isHeld(err error, owner string) bool {
	held, ok := errors.AsType[*LeaseHeldError](err)
	return ok && held.Owner == owner
}

// handingOver is a bucket of leases in which a lease gets another owner before it is read for the second time.
type handingOver struct {
	jetstream.KeyValue
	reads int
}

func (b *handingOver) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if b.reads++; b.reads == 2 {
		if _, err := b.Put(ctx, key, []byte(`{"owner":"other"}`)); err != nil {
			return nil, err
		}
	}
	return b.KeyValue.Get(ctx, key)
}

// TestReacquire_handedOver checks that Reacquire does not take the lease of another owner, also of one that has just got it.
func TestReacquire_handedOver(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	if _, err := s.Acquire(t.Context(), "a", "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reacquire(t.Context(), "a", "other"); !isHeld(err, "me") {
		t.Errorf("Reacquire of another owner's lease returns %v, want a lease held by me", err)
	}
	s.st.leases = &handingOver{KeyValue: s.st.leases}
	if _, err := s.Reacquire(t.Context(), "a", "me"); !isHeld(err, "other") {
		t.Errorf("Reacquire of a lease that has got another owner returns %v, want a lease held by other", err)
	}
}

// TestRelease_fails checks that a released lease is not held any more, although the server did not answer.
func TestRelease_fails(t *testing.T) {
	s, f := faultyStore(t, &Options{})
	l, err := s.Acquire(t.Context(), "a", "me")
	if err != nil {
		t.Fatal(err)
	}
	f.arm(0)
	err = l.Release(t.Context())
	f.disarm()
	if err == nil || l.Held() {
		t.Errorf("Release returns %v, held %v; want the error of the server and no lease", err, l.Held())
	}
}

// TestKeep_closed checks that Keep ends when the store is closed.
func TestKeep_closed(t *testing.T) {
	s, err := Open(t.Context(), &Options{UnsafeNoSync: true, Dir: filepath.Join(t.TempDir(), "data"), LeaseTTL: 900 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Acquire(t.Context(), "a", "me")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("Keep has not ended"))
	defer cancel()
	if err := l.Keep(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("Keep returns %v, want %v", err, ErrClosed)
	}
}

// TestExpire_exact checks that a log with an event of exactly the given time is kept.
func TestExpire_exact(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, _ := faultyStore(t, &Options{Now: func() time.Time { return at }})
	if _, err := s.Log("a").Append(t.Context(), 0, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.Expire(t.Context(), at); err != nil || len(gone) > 0 {
		t.Errorf("Expire of logs before %v deletes %v, %v; want none", at, gone, err)
	}
	if gone, err := s.Expire(t.Context(), at.Add(time.Millisecond)); err != nil || len(gone) != 1 {
		t.Errorf("Expire a millisecond later deletes %v, %v; want one", gone, err)
	}
}

// TestClose_again checks that each call of Close returns the error of the first.
func TestClose_again(t *testing.T) {
	s, err := Open(t.Context(), &Options{UnsafeNoSync: true, Dir: filepath.Join(t.TempDir(), "data")})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first := s.Close(ended)
	if again := s.Close(t.Context()); !errors.Is(first, context.Canceled) || !errors.Is(again, context.Canceled) {
		t.Errorf("Close returns %v, and again %v; want %v twice", first, again, context.Canceled)
	}
}

// TestChecked_fails checks that a call ends whose check of the files fails, so that Close does not wait for it.
func TestChecked_fails(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	leave, err := s.watch.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	s.watch.next.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := false
	if _, _, err := s.Log("a").checked(ctx, func() { ended = true }, nil); err == nil || !ended {
		t.Errorf("the check returns %v, ended %v; want an error and the end of the call", err, ended)
	}
}

// TestPause_interrupted checks that calls continue after a pause that could not begin.
func TestPause_interrupted(t *testing.T) {
	var p pause
	if err := p.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.begin(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("begin returns %v, want %v", err, context.Canceled)
	}
	limit, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if err := p.enter(limit); err != nil {
		t.Errorf("a call after the pause returns %v, want no error", err)
	}
	p.leave(t.Context())
	p.leave(t.Context())
	if _, err := p.begin(limit); err != nil {
		t.Errorf("the next pause returns %v, want no error", err)
	}
}

// TestCountRecords_without checks that a store that was not read as a whole, or whose server was replaced, leaves no checkpoint.
func TestCountRecords_without(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	if _, err := s.Log("a").Append(t.Context(), 0, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if c := s.countRecords(); c == nil || c.Lasts["a"] != 1 {
		t.Fatalf("the checkpoint is %+v, want the last event of a", c)
	}
	for name, change := range map[string]func(bad bool){
		"not inspected":  func(bad bool) { s.inspected = !bad },
		"suspect":        func(bad bool) { s.journal.suspect = bad },
		"another server": func(bad bool) { s.srv.restarted.Store(bad) },
	} {
		change(true)
		if c := s.countRecords(); c != nil {
			t.Errorf("%s: the checkpoint is %+v, want none", name, c)
		}
		change(false)
	}
}

// TestRestore_undone checks that a store counts as empty only without a message in either stream, and that a failed restore leaves
// an empty one.
func TestRestore_undone(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	l := s.Log("a")
	for _, subjects := range [][]string{{l.subject()}, {l.snapshotSubject()}, {l.subject(), l.snapshotSubject()}} {
		for _, subject := range subjects {
			if _, err := s.js.Publish(t.Context(), subject, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.checkEmpty(t.Context()); !errors.Is(err, ErrBackup) {
			t.Errorf("a store with %q: %v, want %v", subjects, err, ErrBackup)
		}
		if err := s.undoRestore(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.checkEmpty(t.Context()); err != nil {
			t.Errorf("after undoing the restore of %q: %v, want an empty store", subjects, err)
		}
	}
}

// TestWritePID checks that a shorter process id replaces a longer one in the lock file.
func TestWritePID(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("12345678901234\n"); err != nil {
		t.Fatal(err)
	}
	if err := writePID(f); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if pid := readPID(bytes.NewReader(text)); err != nil || pid != os.Getpid() || len(text) > 12 {
		t.Errorf("the file has %q, %v; want only the process id %d", text, err, os.Getpid())
	}
}

// TestMend_fullDisk checks that a server that could not write is not started again before the disk has the required room.
func TestMend_fullDisk(t *testing.T) {
	e := newEmbedded(t.TempDir(), &Options{Reserve: 1 << 60})
	e.fail("no space left")
	if err := e.mend(t.Context()); !errors.Is(err, ErrFull) || e.srv != nil {
		t.Errorf("mend returns %v, want %v and no server", err, ErrFull)
	}
}
