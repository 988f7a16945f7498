package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Store holds the logs of many sessions. Its methods may be called from any goroutine.
type Store struct {
	opts Options
	dir  *dataDir  // nil with a cluster
	srv  *embedded // nil with a cluster
	nc   *nats.Conn
	js   jetstream.JetStream
	st   *streams
	room room
	gate gate
	link *link

	pause     pause
	unchecked *unchecked     // nil for none
	checking  sync.WaitGroup // in the background
	watch     *watch

	readers, calls         context.Context // end with Close; calls only when Close cannot wait longer
	stopReaders, stopCalls context.CancelCauseFunc
	underWay               sync.WaitGroup
	mu                     sync.Mutex
	closed                 bool
	closing                chan struct{} // closed at the end of Close
	closeErr               error
	logs                   map[string]*logState
	journal                journal
	inspected, scanned     bool // whether Open searched for damage, and whether it read all messages from the server for that
}

// Open opens a store. With Dir it creates the directory if it is missing, locks it, starts a server
// in this process and checks the stored data; ctx bounds only opening.
func Open(ctx context.Context, opts *Options) (*Store, error) {
	return open(ctx, opts, false)
}

// open opens a store; restoring allows an unfinished Restore.
func open(ctx context.Context, opts *Options, restoring bool) (*Store, error) {
	o := opts.withDefaults()
	if (o.Dir == "") == (o.URL == "") {
		return nil, errors.New("eventlog: Options needs either Dir or URL")
	}
	if o.Quota < 0 || o.MaxAppend < 0 || o.Replicas < 0 {
		return nil, errors.New("eventlog: Options.Quota, MaxAppend and Replicas must not be negative")
	}
	s := &Store{opts: o, logs: map[string]*logState{}, closing: make(chan struct{}), gate: newGate(), link: newLink(), watch: newWatch()}
	s.readers, s.stopReaders = context.WithCancelCause(context.Background())
	s.calls, s.stopCalls = context.WithCancelCause(context.Background())
	err := s.start(ctx)
	if err == nil && s.st.value(metaRestoring) != "" && !restoring {
		err = fmt.Errorf("%w: restoring it did not finish; delete it and restore again", ErrBackup)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// start starts the parts of the store. After an error, stop stops the started ones.
func (s *Store) start(ctx context.Context) error {
	if s.opts.Dir == "" {
		if err := s.dial(); err != nil {
			return err
		}
		return s.openStreams(ctx)
	}
	var err error
	if s.dir, err = openDataDir(s.opts.Dir, &s.opts); err != nil {
		return err
	}
	before, err := s.dir.takeCheckpoint()
	if err != nil {
		return err
	}
	if before.clean {
		s.unchecked = s.dir.examineNear(before)
	}
	if s.unchecked == nil {
		if err := s.dir.salvage(ctx, before, &s.opts); err != nil {
			return err
		}
	}
	if err := s.embed(ctx); err != nil {
		return err
	}
	if err := s.openStreams(ctx); err != nil {
		return err
	}
	if before.clean && (!s.st.holds(ctx, before.live) || s.hasCut(ctx)) {
		if err := s.reopen(ctx, before); err != nil {
			return err
		}
	}
	if err := s.inspect(ctx, before); err != nil {
		return err
	}
	if s.unchecked != nil {
		delay := checkDelay
		s.checking.Go(func() { s.checkRest(s.readers, delay) })
	}
	ticks, stop := againTicks()
	s.checking.Go(func() {
		defer stop()
		s.checkDaily(s.readers, ticks)
	})
	idle, stopIdle := idleTicks()
	s.checking.Go(func() {
		defer stopIdle()
		s.lookIdle(s.readers, idle)
	})
	return nil
}

// reopen restarts the server without its indexes, which list messages that are not in the files.
func (s *Store) reopen(ctx context.Context, before *checkpoint) error {
	before.clean = false
	s.nc.Close()
	s.srv.stop()
	if s.unchecked != nil {
		s.unchecked = nil
		if err := s.dir.salvage(ctx, before, &s.opts); err != nil {
			return err
		}
	}
	if err := errors.Join(s.dir.dropIndex(logStream), s.dir.dropIndex(snapshotStream)); err != nil {
		return err
	}
	if err := s.embed(ctx); err != nil {
		return err
	}
	return s.openStreams(ctx)
}

// embed starts the embedded server. If it cannot open optional streams, it restarts without them.
func (s *Store) embed(ctx context.Context) error {
	for {
		s.srv = newEmbedded(s.dir.path, &s.opts)
		if err := s.srv.start(ctx); err != nil {
			return err
		}
		if err := s.dial(); err != nil {
			return err
		}
		broken, err := s.dir.brokenStreams(ctx, s.js)
		if err != nil || len(broken) == 0 {
			return err
		}
		s.opts.Logger.Error("eventlog: the server cannot open streams", "streams", broken)
		s.nc.Close()
		s.srv.stop()
		if err := s.dir.discard(broken); err != nil {
			return err
		}
	}
}

// dial connects to the server.
func (s *Store) dial() (err error) {
	if s.nc, err = connect(s.srv, &s.opts, s.link.renew); err != nil {
		return fmt.Errorf("eventlog: connecting: %w", err)
	}
	s.js, err = jetstream.New(s.nc, jetstream.WithDefaultTimeout(s.opts.Timeout))
	return err
}

// openStreams opens the streams. The server does not sync all files of new ones.
func (s *Store) openStreams(ctx context.Context) error {
	st, created, err := openStreams(ctx, s.js, &s.opts, &s.pause)
	if err != nil {
		return err
	}
	s.st = st
	if created && s.dir != nil && !s.opts.UnsafeNoSync {
		return syncTree(s.dir.path)
	}
	return nil
}

// Close ends readers with ErrClosed, waits for running calls, syncs deltas, stops the embedded
// server and unlocks the directory. It may be called again. If ctx ends first, calls are cancelled
// and the error is that of ctx; no acknowledged event is lost.
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		select {
		case <-s.closing:
			return s.closeErr
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	s.stopReaders(ErrClosed)
	stop := context.AfterFunc(ctx, func() { s.stopCalls(ErrClosed) })
	s.underWay.Wait()
	stop()
	s.closeErr = errors.Join(context.Cause(ctx), s.stop())
	close(s.closing)
	return s.closeErr
}

// stop stops everything that start has started.
func (s *Store) stop() error {
	s.stopReaders(ErrClosed)
	s.stopCalls(ErrClosed)
	s.checking.Wait()
	var now *checkpoint
	if s.dir != nil && s.st != nil {
		now = s.countRecords()
	}
	if s.nc != nil {
		s.nc.Close()
	}
	if s.srv != nil {
		s.srv.stop()
	}
	if s.dir == nil {
		return nil
	}
	if s.journal.file != nil {
		s.journal.file.Close() // acknowledgements are not synced, removals are
	}
	return errors.Join(s.dir.writeCheckpoint(now, s.watch.blocks, &s.opts), s.dir.close())
}

// begin starts a call: it returns a context that also ends when the store cannot wait for the call
// any longer, and a function to call at its end.
func (s *Store) begin(ctx context.Context) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, ErrClosed
	}
	s.underWay.Add(1)
	ctx, end := joinContexts(ctx, s.calls)
	return ctx, func() { end(); s.underWay.Done() }, nil
}

// beginWrite starts a call that writes. It fails while the server cannot write, and its context ends when the
// server becomes unable to write.
func (s *Store) beginWrite(ctx context.Context) (context.Context, func(), error) {
	ctx, end, err := s.begin(ctx)
	if err != nil || s.srv == nil {
		return ctx, end, err
	}
	if err := s.srv.mend(ctx); err != nil {
		end()
		return nil, nil, err
	}
	ctx, leave := joinContexts(ctx, s.srv.fault())
	return ctx, func() { leave(); end() }, nil
}

// mend returns an error while the server cannot write.
func (s *Store) mend(ctx context.Context) error {
	if s.srv == nil {
		return nil
	}
	return s.srv.mend(ctx)
}

// joinContexts returns a context that ends with either.
func joinContexts(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { stop(); cancel(context.Canceled) }
}

// Sessions returns the logs of all sessions in the store, with their first and last events,
// ordered by name.
func (s *Store) Sessions(ctx context.Context) ([]SessionInfo, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := s.readyAll(ctx, logStream); err != nil {
		return nil, err
	}
	names, err := sessionNames(ctx, s.st.log, logPrefix)
	if err != nil {
		return nil, err
	}
	var infos []SessionInfo
	for name := range names {
		info, err := s.Log(name).info(ctx)
		if errors.Is(err, ErrNotFound) {
			continue // deleted meanwhile, or its first record was never finished
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b SessionInfo) int { return cmp.Compare(a.Session, b.Session) })
	return infos, nil
}

// Ends returns the number of the newest event of each session, and the generation of the store, which changes when event numbers may
// have been reused. In a data directory it reads no event.
func (s *Store) Ends(ctx context.Context) (generation string, ends map[string]uint64, err error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return "", nil, err
	}
	defer end()
	names, err := sessionNames(ctx, s.st.log, logPrefix)
	if err != nil {
		return "", nil, err
	}
	ends = make(map[string]uint64, len(names))
	for name := range names {
		last := s.journal.last(name)
		if last == 0 { // a cluster has no journal
			if err := s.ready(ctx, name); err != nil {
				return "", nil, err
			}
			info, err := s.Log(name).info(ctx)
			if errors.Is(err, ErrNotFound) {
				continue // deleted meanwhile, or its first record was never finished
			}
			if err != nil {
				return "", nil, err
			}
			last = info.Last
		}
		ends[name] = last
	}
	return s.st.value(metaGeneration), ends, nil
}

// Log returns a handle of a session's log, which need not exist. It makes no call to the server;
// the first event creates the log.
func (s *Store) Log(session string) *Log { return &Log{s, session} }

// Damage lists the events that Open found missing. Readers of those logs get ErrDamaged at that
// position; writers may continue after it. Known damage stays in the list until its session is
// deleted.
func (s *Store) Damage() []Damage {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.damage)
}

// sessionNames returns the sessions with messages in a stream, and their number of messages.
func sessionNames(ctx context.Context, stream jetstream.Stream, prefix string) (map[string]uint64, error) {
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("eventlog: listing the sessions of %s: %w", stream.CachedInfo().Config.Name, err)
	}
	names := make(map[string]uint64, len(info.State.Subjects))
	for subject, n := range info.State.Subjects {
		names[strings.TrimPrefix(subject, prefix)] = n
	}
	return names, nil
}

// Health returns nil while the store can write, and otherwise the reason. It makes two short calls to the server, after a check of the files
// for damage.
func (s *Store) Health(ctx context.Context) error {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := s.mend(ctx); err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	if !s.nc.IsConnected() {
		return fmt.Errorf("eventlog: the connection is %s", strings.ToLower(s.nc.Status().String()))
	}
	if err := s.refreshUsage(ctx); err != nil {
		return err
	}
	return s.checkRoom(ctx, 0)
}

// Expire deletes every log with its newest event older than before, with its deltas and snapshots,
// and returns the names of the sessions. Logs with a lease are kept.
func (s *Store) Expire(ctx context.Context, before time.Time) ([]string, error) {
	infos, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var deleted []string
	for _, info := range infos {
		if !info.Time.Before(before) {
			continue
		}
		held, err := s.leaseHeld(ctx, info.Session)
		if err == nil && !held {
			err = s.Log(info.Session).Delete(ctx)
		}
		if err != nil {
			return deleted, err
		}
		if !held {
			deleted = append(deleted, info.Session)
		}
	}
	return deleted, nil
}
