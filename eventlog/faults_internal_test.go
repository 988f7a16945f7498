package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/internal/test/short"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

var errFault = errors.New("the test stops this call")

// faults makes one call to the server fail.
type faults struct {
	mu     sync.Mutex
	left   int    // calls before the one that fails; negative if all succeed
	failed string // its name
}

// arm makes the call after the next n calls fail.
func (f *faults) arm(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.failed = n, ""
}

// disarm lets all calls pass, and returns the name of the call that has failed.
func (f *faults) disarm() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = -1
	return f.failed
}

func (f *faults) call(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left < 0 {
		return nil
	}
	if f.left--; f.left >= 0 {
		return nil
	}
	f.failed = name
	return errFault
}

// faultyStream is a stream with calls that fail on demand.
type faultyStream struct {
	jetstream.Stream
	*faults
}

func (s faultyStream) GetMsg(ctx context.Context, seq uint64, opts ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	if err := s.call("GetMsg"); err != nil {
		return nil, err
	}
	return s.Stream.GetMsg(ctx, seq, opts...)
}

func (s faultyStream) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	if err := s.call("GetLastMsgForSubject"); err != nil {
		return nil, err
	}
	return s.Stream.GetLastMsgForSubject(ctx, subject)
}

func (s faultyStream) Info(ctx context.Context, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	if err := s.call("Info"); err != nil {
		return nil, err
	}
	return s.Stream.Info(ctx, opts...)
}

func (s faultyStream) Purge(ctx context.Context, opts ...jetstream.StreamPurgeOpt) error {
	if err := s.call("Purge"); err != nil {
		return err
	}
	return s.Stream.Purge(ctx, opts...)
}

// faultyBucket is the bucket of leases with calls that fail on demand.
type faultyBucket struct {
	jetstream.KeyValue
	*faults
}

func (b faultyBucket) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if err := b.call("KV.Get"); err != nil {
		return nil, err
	}
	return b.KeyValue.Get(ctx, key)
}

func (b faultyBucket) Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error) {
	if err := b.call("KV.Create"); err != nil {
		return 0, err
	}
	return b.KeyValue.Create(ctx, key, value, opts...)
}

func (b faultyBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := b.call("KV.Update"); err != nil {
		return 0, err
	}
	return b.KeyValue.Update(ctx, key, value, revision)
}

func (b faultyBucket) Delete(ctx context.Context, key string, opts ...jetstream.KVDeleteOpt) error {
	if err := b.call("KV.Delete"); err != nil {
		return err
	}
	return b.KeyValue.Delete(ctx, key, opts...)
}

func (b faultyBucket) Purge(ctx context.Context, key string, opts ...jetstream.KVDeleteOpt) error {
	if err := b.call("KV.Purge"); err != nil {
		return err
	}
	return b.KeyValue.Purge(ctx, key, opts...)
}

// faultyJetStream publishes messages unless the call is the one that fails.
type faultyJetStream struct {
	jetstream.JetStream
	*faults
}

func (j faultyJetStream) Publish(ctx context.Context, subject string, data []byte, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if err := j.call("Publish"); err != nil {
		return nil, err
	}
	return j.JetStream.Publish(ctx, subject, data, opts...)
}

func (j faultyJetStream) UpdateStream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	if err := j.call("UpdateStream"); err != nil {
		return nil, err
	}
	return j.JetStream.UpdateStream(ctx, config)
}

// faultyStore opens a store with calls that fail on demand.
func faultyStore(t *testing.T, opts *Options) (*Store, *faults) {
	t.Helper()
	opts.UnsafeNoSync, opts.Dir = true, filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close returns %v, want no error", err)
		}
	})
	f := &faults{left: -1}
	s.js = faultyJetStream{s.js, f}
	s.st.log, s.st.delta, s.st.snapshot = faultyStream{s.st.log, f}, faultyStream{s.st.delta, f}, faultyStream{s.st.snapshot, f}
	s.st.leases = faultyBucket{s.st.leases, f}
	return s, f
}

// A failed renewal does not shorten the lease, and the next renewal succeeds.
func TestRenew_fails(t *testing.T) {
	s, f := faultyStore(t, &Options{})
	l, err := s.Acquire(t.Context(), "a", "node")
	if err != nil {
		t.Fatal(err)
	}
	revision, until := l.state()
	f.arm(0)
	if err := l.Renew(t.Context()); err == nil || errors.Is(err, ErrLeaseLost) {
		t.Errorf("Renew returns %v, want the error of the server", err)
	}
	if r, u := l.state(); r != revision || !u.Equal(until) {
		t.Errorf("the lease has revision %d until %v, want %d until %v: it was not renewed", r, u, revision, until)
	}
	f.disarm()
	if err := l.Renew(t.Context()); err != nil {
		t.Errorf("the next Renew returns %v, want no error", err)
	}
	if r, u := l.state(); r <= revision || !u.After(until) {
		t.Errorf("the lease has revision %d until %v, want later ones than %d and %v", r, u, revision, until)
	}
}

// The entry of a block contains its first and last message, in any order of the records, and
// ignores deletions.
func TestDescribe(t *testing.T) {
	message := func(seq uint64) blockfile.Record { return blockfile.Record{Kind: blockfile.Message, Seq: seq} }
	b := describe(fileStamp{Size: 3}, []byte("abc"), []blockfile.Record{{Kind: blockfile.Tombstone, Seq: 2}, message(5), message(7), message(6), {Kind: blockfile.Tombstone, Seq: 9}})
	if b.First != 5 || b.Last != 7 || b.Size != 3 {
		t.Errorf("the entry has %d to %d with %d bytes, want 5 to 7 with 3", b.First, b.Last, b.Size)
	}
	if b := describe(fileStamp{}, nil, nil); b.First != 0 || b.Last != 0 {
		t.Errorf("the entry of an empty block has %d to %d, want none", b.First, b.Last)
	}
}

// stored returns everything that a store has of a session: its events and deltas, its snapshot and its lease.
func stored(t *testing.T, s *Store, session string) string {
	t.Helper()
	var b strings.Builder
	for ev, err := range s.Log(session).Read(t.Context(), Cursor{}) {
		if err != nil {
			fmt.Fprintf(&b, "error %v", err)
			break
		}
		fmt.Fprintf(&b, "%d.%d %d bytes, ", ev.Seq, ev.Sub, len(ev.Data))
	}
	snap, err := s.Log(session).Snapshot(t.Context())
	held, leaseErr := s.leaseHeld(t.Context(), session)
	fmt.Fprintf(&b, "snapshot %d %q %v, lease %v %v", snap.Seq, snap.Data, errors.Is(err, ErrNotFound), held, leaseErr)
	return b.String()
}

// storeOp is a call of a store, for a session with five events of three records, deltas and a snapshot of event 3.
type storeOp struct {
	name    string
	do      func(ctx context.Context, s *Store, session string) error
	partial bool // a failing call may leave a part of the change; the next call completes it
	lenient bool // the operation may succeed without the result of a failing call
}

var storeOps = []storeOp{
	{name: "Append", do: func(ctx context.Context, s *Store, session string) error {
		last, err := s.Log(session).Append(ctx, 5, []byte("six"), []byte("seven"))
		if err == nil && last != 7 {
			return fmt.Errorf("the last event is %d, want 7", last)
		}
		return err
	}},
	{name: "Append of many parts", do: func(ctx context.Context, s *Store, session string) error {
		_, err := s.Log(session).Append(ctx, 5, bytes.Repeat([]byte("x"), 3*partSize))
		return err
	}},
	{name: "AppendDelta", do: func(ctx context.Context, s *Store, session string) error {
		return s.Log(session).AppendDelta(ctx, 0, 5, 3, []byte("third"))
	}},
	{name: "TrimDeltas", do: func(ctx context.Context, s *Store, session string) error {
		return s.Log(session).TrimDeltas(ctx, 6)
	}},
	{name: "Last", do: func(ctx context.Context, s *Store, session string) error {
		at, err := s.Log(session).Last(ctx)
		if err == nil && at.Seq != 5 {
			return fmt.Errorf("the last event is %d, want 5", at.Seq)
		}
		return err
	}},
	{name: "Read", lenient: true, do: func(ctx context.Context, s *Store, session string) error {
		var got []string
		for ev, err := range s.Log(session).Read(ctx, Cursor{Seq: 2}) {
			if err != nil {
				return err
			}
			got = append(got, fmt.Sprintf("%d.%d=%s", ev.Seq, ev.Sub, ev.Data))
		}
		if text := strings.Join(got, " "); text != "3.0=three 4.0=four 5.0=five 5.1=first 5.2=second" {
			return fmt.Errorf("the events are %s, want those after 2 with the deltas", text)
		}
		return nil
	}},
	{name: "Snapshot", do: func(ctx context.Context, s *Store, session string) error {
		snap, err := s.Log(session).Snapshot(ctx)
		if err == nil && (snap.Seq != 3 || string(snap.Data) != "state") {
			return fmt.Errorf("the snapshot is %d %q, want 3 state", snap.Seq, snap.Data)
		}
		return err
	}},
	{name: "PutSnapshot", partial: true, do: func(ctx context.Context, s *Store, session string) error {
		return s.Log(session).PutSnapshot(ctx, 4, 0, []byte("later"))
	}},
	{name: "Trim", do: func(ctx context.Context, s *Store, session string) error { return s.Log(session).Trim(ctx, 3) }},
	{name: "Delete", lenient: true, do: func(ctx context.Context, s *Store, session string) error {
		if err := s.Log(session).Delete(ctx); err != nil {
			return err
		}
		if at, err := s.Log(session).Last(ctx); !errors.Is(err, ErrNotFound) && !errors.Is(err, errFault) {
			return fmt.Errorf("the deleted log ends at %d, %v", at.Seq, err)
		}
		return nil
	}},
	{name: "Sessions", do: func(ctx context.Context, s *Store, session string) error {
		all, err := s.Sessions(ctx)
		if err == nil && !slices.ContainsFunc(all, func(i SessionInfo) bool { return i.Session == session && i.First == 1 && i.Last == 5 }) {
			return fmt.Errorf("the sessions are %v, want %s with events 1 to 5", all, session)
		}
		return err
	}},
	{name: "Ends", do: func(ctx context.Context, s *Store, session string) error {
		generation, ends, err := s.Ends(ctx)
		if err == nil && (generation == "" || ends[session] != 5) {
			return fmt.Errorf("the ends are %v, want 5 for %s", ends, session)
		}
		return err
	}},
	{name: "Usage", do: func(ctx context.Context, s *Store, _ string) error { _, err := s.Usage(ctx); return err }},
	{name: "Health", do: func(ctx context.Context, s *Store, _ string) error { return s.Health(ctx) }},
	{name: "Expire", partial: true, lenient: true, do: func(ctx context.Context, s *Store, _ string) error {
		_, err := s.Expire(ctx, time.Now().Add(time.Hour))
		return err
	}},
	{name: "Backup", do: func(ctx context.Context, s *Store, _ string) error {
		var b bytes.Buffer
		err := s.Backup(ctx, &b)
		if err == nil && b.Len() < 100 {
			return fmt.Errorf("the backup has %d bytes, want more", b.Len())
		}
		return err
	}},
	{name: "Owner", do: func(ctx context.Context, s *Store, session string) error {
		owner, err := s.Owner(ctx, session)
		if err == nil && owner != "" {
			return fmt.Errorf("the owner is %q, want none", owner)
		}
		return err
	}},
	{name: "Reacquire", do: func(ctx context.Context, s *Store, session string) error {
		l, err := s.Reacquire(ctx, session, "me")
		if err == nil && (l.Session() != session || string(l.value) != `{"owner":"me"}` || l.epoch != l.revision) {
			return fmt.Errorf("the lease is %+v, want that of %s", l, session)
		}
		return err
	}},
	{name: "Acquire", do: func(ctx context.Context, s *Store, session string) error {
		_, err := s.Acquire(ctx, session, "me")
		return err
	}},
	{name: "Renew", partial: true, do: func(ctx context.Context, s *Store, session string) error {
		l, err := s.Acquire(ctx, session, "me")
		if held, ok := errors.AsType[*LeaseHeldError](err); ok && held.Owner == "me" {
			return nil // left by the previous call
		}
		if err != nil {
			return err
		}
		return errors.Join(l.Renew(ctx), l.Release(ctx))
	}},
}

// TestServerFails makes each call of each operation to the server fail in turn. The operation returns that error or succeeds
// anyway; it changes nothing, or the next call completes the change.
func TestServerFails(t *testing.T) {
	short.SkipQuick(t, "starts many stores")
	s, f := faultyStore(t, &Options{})
	for i, op := range storeOps {
		t.Run(op.name, func(t *testing.T) {
			for n := 0; n < 200; n++ {
				session := fmt.Sprintf("s%d-%d", i, n)
				s.prepare(t, session)
				before := stored(t, s, session)
				s.forget(session) // so that the end of the log is read again
				s.freed()         // so that the space is measured again
				f.arm(n)
				err := op.do(t.Context(), s, session)
				failed := f.disarm()
				switch {
				case failed == "" && err != nil:
					t.Fatalf("without a failing call the error is %v, want none", err)
				case failed == "":
					return
				case err == nil && !op.lenient:
					t.Errorf("after %s (call %d) failed there is no error, want that of the call", failed, n)
				case err != nil && !errors.Is(err, errFault):
					t.Fatalf("after %s (call %d) failed the error is %v, want that of the call", failed, n, err)
				}
				if after := stored(t, s, session); err != nil && !op.partial && after != before {
					t.Errorf("%s (call %d) failed, and the store has\n%s\nwant\n%s", failed, n, after, before)
				}
				if err != nil {
					err = op.do(t.Context(), s, session)
				}
				if err != nil {
					t.Errorf("after %s (call %d) failed, the operation again returns %v, want no error", failed, n, err)
				}
				if err := s.Log(session).Delete(t.Context()); err != nil { // keeps the lists short
					t.Fatal(err)
				}
				if _, kept := s.logs[session]; kept {
					t.Errorf("the store remembers the deleted log of %s, want it forgotten", session)
				}
			}
			t.Fatal("the operation makes more than 200 calls, want an end")
		})
	}
}

// prepare writes the session of a storeOp.
func (s *Store) prepare(t *testing.T, session string) {
	t.Helper()
	l := s.Log(session)
	var errs []error
	_, err := l.Append(t.Context(), 0, []byte("one"), []byte("two"), []byte("three"))
	errs = append(errs, err)
	_, err = l.Append(t.Context(), 3, []byte("four"))
	errs = append(errs, err)
	_, err = l.Append(t.Context(), 4, []byte("five"))
	errs = append(errs, err, l.AppendDelta(t.Context(), 0, 5, 1, []byte("first"), []byte("second")), l.PutSnapshot(t.Context(), 3, 0, []byte("state")))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestInspect_fails makes each call of the search for lost events fail in turn: Open then fails, and the next search finds them.
func TestInspect_fails(t *testing.T) {
	short.SkipQuick(t, "starts many stores")
	s, f := faultyStore(t, &Options{})
	for n := range 60 {
		session := fmt.Sprintf("s%d", n)
		s.prepare(t, session)
		lost := Damage{session, 6, 8, "they are not in the store"}
		generation := s.st.value(metaGeneration)
		inspect := func() error {
			return s.inspect(t.Context(), &checkpoint{Lasts: map[string]uint64{session: 8}, Purged: map[string]uint64{"gone " + strings.Repeat("0", 16): everything}})
		}
		f.arm(n)
		err := inspect()
		failed := f.disarm()
		if failed != "" && !errors.Is(err, errFault) {
			t.Fatalf("after %s (call %d) failed the error is %v, want that of the call", failed, n, err)
		}
		if failed == "" && err != nil {
			t.Fatal(err)
		}
		if failed != "" {
			if err := inspect(); err != nil {
				t.Fatalf("after %s (call %d) failed the next search returns %v", failed, n, err)
			}
		}
		if got := s.Damage(); !slices.Equal(got, []Damage{lost}) || s.st.value(metaGeneration) == generation {
			t.Fatalf("after %s (call %d): the damage is %v, want %v; cursors are of the same store: %v", failed, n, got, lost, s.st.value(metaGeneration) == generation)
		}
		for ev, err := range s.Log(session).Read(t.Context(), Cursor{}) {
			if err != nil || ev.Sub > 0 {
				t.Errorf("after a loss %d.%d is read, %v, want no deltas of the log", ev.Seq, ev.Sub, err)
			}
		}
		if err := s.Log(session).Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if failed == "" {
			return
		}
	}
	t.Error("the search makes more than 60 calls, want an end")
}

// TestClosedStore checks that every call of a closed store returns ErrClosed, and that a call with an ended context returns its error.
func TestClosedStore(t *testing.T) {
	s, _ := faultyStore(t, &Options{})
	s.prepare(t, "s")
	ended, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller has left")
	cancel(why)
	for _, op := range storeOps {
		if err := op.do(ended, s, "s"); !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context returns %v, want the error of the context", op.name, err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, op := range storeOps {
		if err := op.do(t.Context(), s, "s"); !errors.Is(err, ErrClosed) {
			t.Errorf("%s of a closed store returns %v, want %v", op.name, err, ErrClosed)
		}
	}
}

// TestObstacles replaces each file of a store by a directory, or a directory by a file, after a
// clean end and after a kill. Open returns an error, or every event can be read, is reported as
// damaged, or returns an error when it is read.
func TestObstacles(t *testing.T) {
	short.SkipQuick(t, "opens a store for each obstacle")
	build := func(t *testing.T, clean bool) string {
		dir := filepath.Join(t.TempDir(), "data")
		s, err := Open(t.Context(), &Options{Dir: dir, UnsafeNoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		s.prepare(t, "s")
		if clean {
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		killed := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return killed
	}
	for _, clean := range []bool{true, false} {
		whole := build(t, clean)
		var names []string
		err := filepath.WalkDir(whole, func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(whole, path)
			if name != "." {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			t.Run(fmt.Sprintf("clean %v/%s", clean, name), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "data")
				if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				obstruct(t, filepath.Join(dir, name))
				var said lockedText
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				s, err := Open(ctx, &Options{Dir: dir, UnsafeNoSync: true, Timeout: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(&said, nil))})
				if err != nil {
					return
				}
				defer s.Close(context.Background())
				found := map[uint64]bool{}
				for ev, err := range s.Log("s").Read(ctx, Cursor{}) {
					if err != nil {
						return
					}
					found[ev.Seq] = true
				}
				for seq := uint64(1); seq <= 5; seq++ {
					lost := slices.ContainsFunc(s.Damage(), func(d Damage) bool { return d.Session == "s" && d.From <= seq && seq <= d.To })
					if !found[seq] && !lost {
						t.Errorf("event %d is neither found nor listed as lost, with %v as damage and this log:\n%s", seq, s.Damage(), said.String())
					}
				}
			})
		}
	}
}

// obstruct replaces a file by a directory with a file in it, or a directory by a file.
func obstruct(t *testing.T, name string) {
	t.Helper()
	info, err := os.Lstat(name)
	if err == nil {
		err = os.RemoveAll(name)
	}
	if err == nil && info.IsDir() {
		err = os.WriteFile(name, []byte("x"), 0o600)
	} else if err == nil {
		err = errors.Join(os.Mkdir(name, 0o700), os.WriteFile(filepath.Join(name, "x"), []byte("x"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lockedText is a buffer for several goroutines.
type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
