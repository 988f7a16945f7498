package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/seed7221b0f9/parley/internal/random"
)

// maxRestoring is the number of unacknowledged messages of Restore.
const maxRestoring = 256

// Restore fills the empty store in opts with a backup and closes it again. The logs have their old
// events under their old numbers, and a new epoch. A truncated or modified backup is rejected with
// ErrBackup, and the store stays empty.
func Restore(ctx context.Context, r io.Reader, opts *Options) error {
	b, err := openBackup(r)
	if err != nil {
		return err
	}
	o := opts.withDefaults()
	// Messages are synced together at the end; until then the store is marked as incomplete.
	durable := !o.UnsafeNoSync
	o.UnsafeNoSync = o.URL == ""
	s, err := open(ctx, &o, true)
	if err != nil {
		return err
	}
	err = s.restore(ctx, b)
	if err := errors.Join(err, s.Close(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if s.dir == nil || !durable {
		return nil
	}
	return syncTree(s.dir.path)
}

// restore copies the backup into the store, or leaves it empty.
func (s *Store) restore(ctx context.Context, b *backupReader) error {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := s.checkEmpty(ctx); err != nil {
		return err
	}
	if err := s.st.setMeta(ctx, s.js, map[string]string{metaRestoring: "true"}); err != nil {
		return err
	}
	if err := s.copyFrom(ctx, b); err != nil {
		return errors.Join(err, s.undoRestore(context.WithoutCancel(ctx)))
	}
	found, err := s.scan(ctx, s.journal.purged)
	if err != nil {
		return err
	}
	s.journal.lasts = lastsOf(found)
	adopt(found, s.journal.purged)
	return s.st.setMeta(ctx, s.js, map[string]string{metaRestoring: "", metaGeneration: random.Hex(4)})
}

// undoRestore empties the store again, after the pending messages.
func (s *Store) undoRestore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	select {
	case <-s.js.PublishAsyncComplete():
	case <-ctx.Done():
		return context.Cause(ctx) // the store is still marked as incomplete
	}
	if err := errors.Join(s.st.log.Purge(ctx), s.st.snapshot.Purge(ctx)); err != nil {
		return err
	}
	return s.st.setMeta(ctx, s.js, map[string]string{metaRestoring: ""})
}

// checkEmpty rejects a store with any content, including that of a killed Restore.
func (s *Store) checkEmpty(ctx context.Context) error {
	for _, stream := range []jetstream.Stream{s.st.log, s.st.snapshot} {
		info, err := stream.Info(ctx)
		if err != nil {
			return fmt.Errorf("eventlog: restoring: %w", err)
		}
		if info.State.Msgs > 0 {
			return fmt.Errorf("%w: the store is not empty", ErrBackup)
		}
	}
	return nil
}

// copyFrom publishes the frames of a backup in order.
func (s *Store) copyFrom(ctx context.Context, b *backupReader) error {
	pending := make(chan jetstream.PubAckFuture, maxRestoring)
	for {
		f, err := b.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if _, _, err := decodePart(f.msg); errors.Is(err, ErrFormat) {
			return err
		}
		if len(pending) == cap(pending) {
			if err := acknowledged(ctx, <-pending); err != nil {
				return err
			}
		}
		if err := s.checkRoom(ctx, len(f.msg)); err != nil {
			return err
		}
		prefix := logPrefix
		if f.kind == frameState {
			prefix = snapshotPrefix
		}
		future, err := s.js.PublishAsync(prefix+f.session, f.msg)
		if err != nil {
			return fmt.Errorf("eventlog: restoring: %w", classify(err))
		}
		pending <- future
		s.wrote(len(f.msg))
	}
	close(pending)
	for future := range pending {
		if err := acknowledged(ctx, future); err != nil {
			return err
		}
	}
	return nil
}

func acknowledged(ctx context.Context, future jetstream.PubAckFuture) error {
	select {
	case <-future.Ok():
		return nil
	case err := <-future.Err():
		return fmt.Errorf("eventlog: restoring: %w", classify(err))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// syncTree makes all files and names below a directory durable.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return syncDir(path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
