package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	failImmediately = 1
	exclusive       = 2
	// far is an offset after all content, because these locks prevent others from reading the
	// locked range.
	far = 1 << 30

	errLockViolation = syscall.Errno(33)
)

func lock(f *os.File, wait bool) error {
	flags := uintptr(exclusive)
	if !wait {
		flags |= failImmediately
	}
	at := syscall.Overlapped{OffsetHigh: far}
	ok, _, err := lockFileEx.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errLockViolation):
		return ErrLocked
	}
	return &os.PathError{Op: "LockFileEx", Path: f.Name(), Err: err}
}
