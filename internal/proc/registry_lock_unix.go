//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"
)

// lockOwner creates the lock of an owner and takes it. It is released when the file is closed, at the latest
// when this process ends.
func lockOwner(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return f, flock(f)
}

// takeLock takes the lock of another owner, and reports whether it succeeded, which means that the owner has
// ended. A part without a lock has no owner.
func takeLock(path string) (f *os.File, gone bool) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	if flock(f) != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// processRuns reports whether there is a process with that id, also one of another user.
func processRuns(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
