package filelock_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

// opened returns the number of descriptors of this process for the file at a path.
func opened(t *testing.T, path string) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path {
			n++
		}
	}
	return n
}

// TestLockOfARemovedFile checks that a process that waited for the lock of a file that was removed
// meanwhile locks the file that is now at the path.
func TestLockOfARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	owner, err := filelock.TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *filelock.File, 1)
	go func() {
		f, err := filelock.Lock(path)
		if err != nil {
			t.Error(err)
		}
		got <- f
	}()
	for opened(t, path) < 2 { // the other has the same file open
		runtime.Gosched()
	}
	if err := owner.Remove(); err != nil {
		t.Fatal(err)
	}
	f := <-got
	if f == nil || !f.Holds() {
		t.Fatal("the lock is on a file that is not there")
	}
	if other, err := filelock.TryLock(path); err == nil {
		t.Error("two have the lock")
		other.Unlock()
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
}
