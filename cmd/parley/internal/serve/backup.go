package serve

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/eventlog"
)

// closeLimit limits the time to close a store.
const closeLimit = 15 * time.Second

// closeStore closes a store within closeLimit.
func closeStore(store *eventlog.Store) error {
	bound, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return store.Close(bound)
}

// Backup writes the logs of the server to a new file, and removes it if the backup is incomplete.
// Without a running server it reads the data directory.
func Backup(ctx context.Context, f *remote.Flags, name string) (err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(name)
		}
	}()
	c, err := f.Connect()
	if err == nil {
		err = c.Backup(ctx, file)
	} else if f.Server == "" {
		err = backupDir(ctx, filepath.Join(f.Data, remote.LogDir), file)
	}
	return errors.Join(err, file.Sync())
}

func backupDir(ctx context.Context, dir string, w io.Writer) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(store.Backup(ctx, w), closeStore(store))
}

// Restore fills an empty data directory with a backup.
func Restore(ctx context.Context, name, data string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	return eventlog.Restore(ctx, file, &eventlog.Options{Dir: filepath.Join(data, remote.LogDir)})
}
