package eventlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/internal/random"
)

// CopyOptions configures Copy. The zero value is valid.
type CopyOptions struct {
	// DryRun makes Copy read the source and write nothing. It connects to a target in a cluster.
	DryRun bool
	// Progress is called after some messages, from the goroutine of Copy; nil is allowed.
	Progress func(Copied)
}

// Copied describes logs and snapshots that Copy has read and written.
type Copied struct {
	Sessions int   // logs of the source
	Messages int   // of logs and snapshots of the source that were read
	Bytes    int64 // of those messages
	Written  int   // messages that the target did not have
	// Sum is the SHA-256 of all sessions with the number and the hash of their messages. After a copy the target has the same.
	Sum [sha256.Size]byte
}

// ErrDiffers reports a target of Copy with messages that the source does not have.
var ErrDiffers = errors.New("eventlog: the target has other events than the source")

// Copy copies all logs and snapshots from one store to another, with the numbers of the events. Neither store may be open or have leases. The
// target may contain the part that a failed call has copied; Copy adds the rest. Open refuses the target until a call has succeeded. At the
// end Copy reads the target again: it returns nil if the number and the hash of the messages of every session are the same.
func Copy(ctx context.Context, from, to *Options, o CopyOptions) (done Copied, err error) {
	source, err := open(ctx, from, false)
	if err != nil {
		return done, fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close(context.WithoutCancel(ctx))) }()
	if err := source.unowned(ctx); err != nil {
		return done, fmt.Errorf("the source: %w", err)
	}
	if o.DryRun {
		if to.URL != "" {
			if _, err := Examine(ctx, to); err != nil {
				return done, fmt.Errorf("the target: %w", err)
			}
		}
		c := copying{CopyOptions: o, from: source, done: &done}
		_, err := c.read(ctx)
		return done, err
	}
	opts := to.withDefaults()
	durable := !opts.UnsafeNoSync
	opts.UnsafeNoSync = opts.URL == "" // files are synced together at the end
	target, err := open(ctx, &opts, true)
	if err != nil {
		return done, fmt.Errorf("the target: %w", err)
	}
	c := copying{CopyOptions: o, from: source, to: target, done: &done}
	if err = target.unowned(ctx); err == nil {
		err = c.run(ctx)
	}
	if err = errors.Join(err, target.Close(context.WithoutCancel(ctx))); err != nil || target.dir == nil || !durable {
		return done, err
	}
	return done, syncTree(target.dir.path)
}

// unowned returns an error if a server uses the store.
func (s *Store) unowned(ctx context.Context) error {
	owners, err := s.Leases(ctx)
	if err != nil || len(owners) == 0 {
		return err
	}
	servers := slices.Compact(slices.Sorted(maps.Values(owners)))
	return fmt.Errorf("%w: servers use it: %s; stop them, or wait until their leases end", ErrLeaseHeld, strings.Join(servers, ", "))
}

// tally is the number of messages of a subject, and the hash of each with those before it.
type tally struct {
	n   int
	sum [sha256.Size]byte
}

func (t *tally) add(data []byte) {
	h := sha256.New()
	h.Write(t.sum[:])
	h.Write(data)
	t.n++
	h.Sum(t.sum[:0])
}

// copying is a call of Copy.
type copying struct {
	CopyOptions
	from, to *Store // to is nil in a dry run
	done     *Copied
	pending  chan jetstream.PubAckFuture
}

// parts returns the streams to copy, by the prefix of their subjects.
func parts(s *Store) map[string]jetstream.Stream {
	return map[string]jetstream.Stream{logPrefix: s.st.log, snapshotPrefix: s.st.snapshot}
}

// run copies the messages that the target lacks, and compares both stores.
func (c *copying) run(ctx context.Context) error {
	ctx, end, err := c.to.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	had, err := c.to.tallies(ctx)
	if err != nil {
		return err
	}
	if err := c.to.st.setMeta(ctx, c.to.js, map[string]string{metaRestoring: "true"}); err != nil {
		return err
	}
	want, err := c.write(ctx, had)
	if err != nil {
		return err
	}
	got, err := c.to.tallies(ctx)
	if err != nil {
		return err
	}
	for _, subject := range slices.Sorted(maps.Keys(got)) {
		if w := want[subject]; w == nil || *got[subject] != *w {
			return fmt.Errorf("%w: %s", ErrDiffers, subject)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%w: it has %d of %d subjects", ErrDiffers, len(got), len(want))
	}
	found, err := c.to.scan(ctx, c.to.journal.purged)
	if err != nil {
		return err
	}
	if c.to.journal.purged != nil { // nil for a cluster
		c.to.journal.lasts = lastsOf(found)
		adopt(found, c.to.journal.purged)
	}
	return c.to.st.setMeta(ctx, c.to.js, map[string]string{metaRestoring: "", metaGeneration: random.Hex(4)})
}

// tallies reads all messages of a store.
func (s *Store) tallies(ctx context.Context) (map[string]*tally, error) {
	all := map[string]*tally{}
	for prefix, stream := range parts(s) {
		err := s.eachMessage(ctx, stream, prefix, func(session string, msg []byte) error {
			if all[prefix+session] == nil {
				all[prefix+session] = &tally{}
			}
			all[prefix+session].add(msg)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("eventlog: reading the logs: %w", err)
		}
	}
	return all, nil
}

// read replaces write in a dry run.
func (c *copying) read(ctx context.Context) (map[string]*tally, error) {
	ctx, end, err := c.from.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return c.write(ctx, nil)
}

// write copies the messages that the target lacks and returns the tallies of the source. had are
// the tallies of the target.
func (c *copying) write(ctx context.Context, had map[string]*tally) (map[string]*tally, error) {
	c.pending = make(chan jetstream.PubAckFuture, maxRestoring)
	want := map[string]*tally{}
	for _, prefix := range []string{logPrefix, snapshotPrefix} {
		err := c.from.eachMessage(ctx, parts(c.from)[prefix], prefix, func(session string, msg []byte) error {
			return c.take(ctx, prefix, session, msg, had, want)
		})
		if err != nil {
			return nil, err
		}
	}
	close(c.pending)
	for future := range c.pending {
		if err := acknowledged(ctx, future); err != nil {
			return nil, err
		}
	}
	for subject, t := range had {
		if w := want[subject]; w == nil || w.n < t.n {
			return nil, fmt.Errorf("%w: %s", ErrDiffers, subject)
		}
	}
	h := sha256.New()
	for _, subject := range slices.Sorted(maps.Keys(want)) {
		fmt.Fprintf(h, "%s %d %x\n", subject, want[subject].n, want[subject].sum)
	}
	h.Sum(c.done.Sum[:0])
	c.report()
	return want, nil
}

// take copies a message unless the target has it.
func (c *copying) take(ctx context.Context, prefix, session string, msg []byte, had, want map[string]*tally) error {
	subject := prefix + session
	t := want[subject]
	if t == nil {
		t = &tally{}
		want[subject] = t
		if prefix == logPrefix {
			c.done.Sessions++
		}
	}
	t.add(msg)
	c.done.Messages++
	c.done.Bytes += int64(len(msg))
	if c.done.Messages%1000 == 0 {
		c.report()
	}
	has := had[subject]
	switch {
	case has != nil && t.n == has.n && t.sum != has.sum:
		return fmt.Errorf("%w: %s", ErrDiffers, subject)
	case c.to == nil || has != nil && t.n <= has.n:
		return nil
	}
	if err := c.to.checkRoom(ctx, len(msg)); err != nil {
		return err
	}
	if len(c.pending) == cap(c.pending) {
		if err := acknowledged(ctx, <-c.pending); err != nil {
			return err
		}
	}
	future, err := c.to.js.PublishAsync(subject, slices.Clone(msg))
	if err != nil {
		return fmt.Errorf("eventlog: copying: %w", classify(err))
	}
	c.pending <- future
	c.to.wrote(len(msg))
	c.done.Written++
	return nil
}

func (c *copying) report() {
	if c.Progress != nil {
		c.Progress(*c.done)
	}
}
