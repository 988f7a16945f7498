package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// Health is the report of [Examine] about a data directory or a cluster, without opening a store.
type Health struct {
	Owner   int    // for a data directory: the process that has it open, or 0
	Free    int64  // for a data directory: the free bytes of its disk
	Reserve int64  // for a data directory: the bytes that a store leaves free
	Server  string // for a cluster: the server that answered, with its version
	Streams int    // for a cluster: the number of streams of the account
	// Damage lists the lost events of a data directory: those known at the last Open and, if no process has it open, those that the next Open
	// will report.
	Damage []Damage
	// Bad is the number of damaged files of a data directory; 0 while another process has it open. Open
	// keeps the undamaged records of a block, and recreates other files.
	Bad int
}

// Examine checks whether a store could be opened with opts, without changing anything. A data
// directory that does not exist yet is valid. The error is the reason why a store cannot work: a
// newer format (ErrFormat), an unusable directory, a disk with no more room than the reserve
// (ErrFull), a cluster that does not answer or has no JetStream.
func Examine(ctx context.Context, opts *Options) (Health, error) {
	o := opts.withDefaults()
	if o.URL == "" {
		return examineDir(ctx, &o)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	return examineCluster(ctx, &o)
}

func examineDir(ctx context.Context, o *Options) (Health, error) {
	h := Health{Reserve: max(o.Reserve, 0)}
	path, err := filepath.Abs(o.Dir)
	if err != nil {
		return h, err
	}
	disk := path // or the directory in which it would be created
	for {
		info, err := os.Stat(disk)
		if err == nil && !info.IsDir() {
			return h, &fs.PathError{Op: "open", Path: disk, Err: errors.New("not a directory")}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || disk == filepath.Dir(disk) {
			return h, err
		}
		disk = filepath.Dir(disk)
	}
	if h.Free, err = diskFree(disk); err != nil {
		return h, err
	}
	if disk == path {
		if h.Owner, err = examineFiles(path); err != nil {
			return h, err
		}
		if h.Damage, h.Bad, err = (&dataDir{path: path}).losses(ctx, h.Owner == 0); err != nil {
			return h, err
		}
	}
	if h.Free <= h.Reserve {
		return h, fmt.Errorf("%w: %d bytes are free on the disk of %s, and %d stay free", ErrFull, h.Free, path, h.Reserve)
	}
	return h, nil
}

// losses returns the known lost events, and for a store that is not open also the newly found ones, with the number of damaged files.
// It does not change the store.
func (d *dataDir) losses(ctx context.Context, stopped bool) (damage []Damage, bad int, err error) {
	c, err := readBase(filepath.Join(d.path, checkpointName))
	if err == nil && !c.clean {
		if c, err = readBase(filepath.Join(d.path, baseName)); err == nil {
			err = d.readJournal(c)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	if !stopped {
		return c.Damage, 0, nil
	}
	bad, err = d.sweep(ctx, c, func(blockID, []byte, []byte, []blockfile.Span) error { return nil })
	if err != nil {
		return c.Damage, bad, err
	}
	state, err := d.badState()
	if bad += state; err != nil {
		return c.Damage, bad, err
	}
	found := c.heads.found()
	if c.silent {
		adopt(found, c.Purged)
	}
	c.accept(missing(found, c, func(session string, l *chain) uint64 { return c.heads.snapshot(session, l.epoch) }))
	return c.Damage, bad, nil
}

// examineFiles checks the format of a data directory and returns the process that has it open.
func examineFiles(path string) (owner int, err error) {
	if _, err := os.Stat(filepath.Join(path, formatName)); err == nil {
		if err := (&dataDir{path: path}).checkFormat(); err != nil && !errors.Is(err, ErrDamaged) {
			return 0, err
		}
	}
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close() // unlocks the file
	locked, err := lockFile(f)
	if err != nil || locked {
		return 0, err
	}
	return readPID(f), nil
}

func examineCluster(ctx context.Context, o *Options) (Health, error) {
	var h Health
	nc, err := connect(nil, o, func() {})
	if err != nil {
		return h, fmt.Errorf("eventlog: connecting: %w", err)
	}
	defer nc.Close()
	h.Server = nc.ConnectedServerName() + " " + nc.ConnectedServerVersion()
	js, err := jetstream.New(nc)
	if err != nil {
		return h, err
	}
	account, err := js.AccountInfo(ctx)
	if err != nil {
		return h, fmt.Errorf("eventlog: JetStream of %s: %w", h.Server, err)
	}
	h.Streams = account.Streams
	return h, nil
}
