package eventlog

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32           = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx         = kernel32.NewProc("LockFileEx")
	getDiskFreeSpaceEx = kernel32.NewProc("GetDiskFreeSpaceExW")
)

// diskFree returns the number of bytes that this user may still write to the disk of dir.
func diskFree(dir string) (int64, error) {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free int64
	ok, _, err := getDiskFreeSpaceEx.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0)
	if ok == 0 {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return free, nil
}

// processRuns returns true: on this system a lock ends with its process.
func processRuns(int) bool { return true }

// lockFile locks an open file for this process, or reports that another process has locked it. The
// locked byte is far after the content, which others have to be able to read.
func lockFile(f *os.File) (locked bool, err error) {
	const (
		failImmediately  = 1
		exclusive        = 2
		errLockViolation = syscall.Errno(33)
	)
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return true, nil
	case errors.Is(err, errLockViolation):
		return false, nil
	}
	return false, &os.PathError{Op: "LockFileEx", Path: f.Name(), Err: err}
}
