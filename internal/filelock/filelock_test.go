package filelock_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

const holder = "PARLEY_FILELOCK"

// TestMain runs the tests. Started again as a child, it holds a lock until it is killed.
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
		wg        sync.WaitGroup
		n, inside atomic.Int64 // the race detector does not know file locks
		err       = make(chan error, 20)
	)
	for range 20 {
		wg.Go(func() {
			f, e := filelock.Lock(path)
			if e != nil {
				err <- e
				return
			}
			if inside.Add(1) != 1 {
				t.Error("two have the lock")
			}
			n.Add(1)
			inside.Add(-1)
			err <- f.Remove()
		})
	}
	wg.Wait()
	for range 20 {
		if e := <-err; e != nil {
			t.Error(e)
		}
	}
	if n.Load() != 20 {
		t.Errorf("%d of 20", n.Load())
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
	if _, _, err := filelock.Steal(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a steal during a steal: %v", err)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if !mine.Holds() || !old.Free() {
		t.Error("the owner before has removed what is not its any more, or is not gone")
	}
	if err := old.End(); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// A lock that cannot be stolen is put back: its owner never loses it. Only one steal runs at a
// time: a concurrent one is refused.
func TestSteal_turns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Unlock()
	turn, err := filelock.TryLock(path + ".stealing")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := filelock.Steal(path); !errors.Is(err, filelock.ErrLocked) || !first.Holds() {
		t.Errorf("during another steal: %v, the owner holds it: %v", err, first.Holds())
	}
	if err := turn.Remove(); err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		mine *filelock.File
		old  *filelock.Stolen
		err  error
	}
	outcomes := make(chan outcome)
	for range 20 {
		go func() {
			mine, old, err := filelock.Steal(path)
			outcomes <- outcome{mine, old, err}
		}()
	}
	won := 0
	for range 20 {
		switch o := <-outcomes; {
		case o.err == nil:
			won++
			defer o.mine.Unlock()
			if o.old == nil || o.old.Free() {
				t.Error("the owner was passed over")
			}
		case !errors.Is(o.err, filelock.ErrLocked):
			t.Error(o.err)
		}
	}
	if won != 1 {
		t.Errorf("%d of 20 have taken the lock", won)
	}
	if left, err := filepath.Glob(path + ".stealing*"); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestPutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	mine, old, err := filelock.Steal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.PutBack(mine); err != nil {
		t.Fatal(err)
	}
	if !first.Holds() {
		t.Error("the owner has not got its lock back")
	}
	if _, err := filelock.TryLock(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a lock that was put back: %v", err)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A thief that is killed in the middle does not allow a second writer: while the owner runs,
// the lock is held.
func TestKilledThief(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	mine, _, err := filelock.Steal(path)
	if err != nil {
		t.Fatal(err)
	}
	mine.Unlock() // the system does this for a killed process
	if _, err := filelock.TryLock(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("beside an owner that lives: %v", err)
	}
	first.Unlock()
	f, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Unlock()
}

// TestStoppedOwner stops the process that holds a lock. The lock can be stolen, but is not free,
// because that process may continue.
func TestStoppedOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	cmd := startHolder(t, path)
	if err := stopProcess(cmd.Process); err != nil {
		t.Skipf("no process can be stopped here: %v", err)
	}
	mine, old, err := filelock.Steal(path)
	if err != nil {
		t.Fatal(err)
	}
	if old.Free() {
		t.Error("a stopped process has given up its lock")
	}
	if err := old.PutBack(mine); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryLock(path); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("beside a stopped owner: %v", err)
	}
}

// startHolder starts a process that holds a lock until the test ends.
func startHolder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holder+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// The lock of a killed process is released at once.
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
