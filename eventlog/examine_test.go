//go:build !windows

package eventlog_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
)

// TestExamine examines good and bad data directories and servers.
func TestExamine(t *testing.T) {
	base := t.TempDir()
	missing := filepath.Join(base, "not", "yet")
	h, err := eventlog.Examine(t.Context(), &eventlog.Options{Dir: missing})
	if err != nil || h.Owner != 0 || h.Free <= 0 || h.Reserve != eventlog.DefaultReserve {
		t.Errorf("a directory that is not there: %+v, %v", h, err)
	}
	if _, err := os.Stat(filepath.Dir(missing)); err == nil {
		t.Error("the directory was made")
	}
	_, err = eventlog.Examine(t.Context(), &eventlog.Options{Dir: missing, Reserve: 1 << 62})
	if !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("a full disk: %v", err)
	}
	dir := filepath.Join(base, "data")
	open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	if h, err := eventlog.Examine(t.Context(), &eventlog.Options{Dir: dir}); err != nil || h.Owner != os.Getpid() {
		t.Errorf("a directory that this process has open: %+v, %v", h, err)
	}
	newer := filepath.Join(base, "newer")
	if err := os.Mkdir(newer, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(newer, "format"), []byte("999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Examine(t.Context(), &eventlog.Options{Dir: newer}); !errors.Is(err, eventlog.ErrFormat) {
		t.Errorf("a newer format: %v", err)
	}
	if _, err := eventlog.Examine(t.Context(), &eventlog.Options{Dir: filepath.Join(newer, "format")}); err == nil {
		t.Error("a file was taken for a directory")
	}
}

// TestExamine_damaged examines a closed store, before and after a byte of it has changed.
func TestExamine_damaged(t *testing.T) {
	dir, _ := damagedStore(t, 3)
	files := filesOf(t, dir)
	examine := func() eventlog.Health {
		t.Helper()
		h, err := eventlog.Examine(t.Context(), &eventlog.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := examine(); h.Bad != 0 {
		t.Errorf("%d blocks of a whole store are damaged, want 0", h.Bad)
	}
	name := blocks(t, dir)[0]
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	writeFile(t, name, data)
	files[name] = sha256.Sum256(data)
	if h := examine(); h.Bad != 1 || len(h.Damage) != 1 {
		t.Errorf("%d blocks are damaged, want 1; lost are %v, want one event", h.Bad, h.Damage)
	}
	if diff := cmp.Diff(files, filesOf(t, dir)); diff != "" {
		t.Errorf("files were changed (-before +after):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := eventlog.Examine(ctx, &eventlog.Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v, want %v", err, context.Canceled)
	}
}

func TestExamine_cluster(t *testing.T) {
	srv := natstest.Server(t, &server.Options{JetStream: true, StoreDir: t.TempDir()})
	url := srv.ClientURL()
	if h, err := eventlog.Examine(t.Context(), &eventlog.Options{URL: url}); err != nil || h.Server == "" {
		t.Errorf("a server with JetStream: %+v, %v", h, err)
	}
	plain, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	plain.Start()
	defer plain.WaitForShutdown()
	defer plain.Shutdown()
	if !plain.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	if _, err := eventlog.Examine(t.Context(), &eventlog.Options{URL: plain.ClientURL(), Timeout: 30 * time.Second}); err == nil {
		t.Error("a server without JetStream is fine")
	}
	if _, err := eventlog.Examine(t.Context(), &eventlog.Options{URL: "nats://127.0.0.1:1", Timeout: 30 * time.Second}); err == nil {
		t.Error("a server that is not there is fine")
	}
}

// TestOpen_lockOfDeadOwner opens a directory after the exit of its owner while another process still
// holds its lock, like a child that was being started when its parent was killed.
func TestOpen_lockOfDeadOwner(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skipf("there is no program that ends at once: %v", err)
	}
	dir := t.TempDir()
	hold := func(pid int) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, pid)
		}
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	alive := hold(os.Getpid())
	var locked *eventlog.LockedError
	if _, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true}); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("the lock of a process that runs: %v", err)
	}
	if err := alive.Close(); err != nil {
		t.Fatal(err)
	}
	dead := hold(gone.Process.Pid)
	time.AfterFunc(200*time.Millisecond, func() { _ = dead.Close() })
	open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
}

// filesOf returns the hash of each file below a directory.
func filesOf(t *testing.T, dir string) map[string][sha256.Size]byte {
	t.Helper()
	all := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
