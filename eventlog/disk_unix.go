//go:build !windows

package eventlog

import (
	"os"
	"syscall"
)

// diskFree returns the number of bytes that this user may still write to the disk of dir.
func diskFree(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// processRuns reports whether a process with this id exists.
func processRuns(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

// lockFile locks an open file for this process, or reports that another process has locked it.
func lockFile(f *os.File) (locked bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}
