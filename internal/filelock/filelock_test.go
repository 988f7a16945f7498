package filelock_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

const holder = "PARLEY_FILELOCK"

// TestMain makes this program, run again, a process that holds a lock until it
// is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(holder); path != "" {
		if _, err := filelock.TryLock(path); err != nil {
			os.Exit(3)
		}
		os.Stdout.WriteString("locked\n")
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestExclusion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var (
		wg  sync.WaitGroup
		n   int // guarded by the lock alone
		err = make(chan error, 20)
	)
	for range 20 {
		wg.Go(func() {
			f, e := filelock.Lock(path)
			if e != nil {
				err <- e
				return
			}
			n++
			err <- f.Remove()
		})
	}
	wg.Wait()
	for range 20 {
		if e := <-err; e != nil {
			t.Error(e)
		}
	}
	if n != 20 {
		t.Errorf("%d of 20", n)
	}
}

func TestSteal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryLock(path); !errors.Is(err, filelock.ErrLocked) {
		t.Fatalf("a second lock: %v", err)
	}
	mine, old, err := filelock.Steal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Unlock()
	if first.Holds() || !mine.Holds() || old.Free() {
		t.Errorf("holds %v, %v, free %v", first.Holds(), mine.Holds(), old.Free())
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if !mine.Holds() || !old.Free() {
		t.Error("the owner before has removed what is not its any more, or is not gone")
	}
	old.Unlock()
}

// The lock of a process that is killed is free at once.
func TestKilledOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holder+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryLock(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("beside a living owner: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	f, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Unlock()
}
