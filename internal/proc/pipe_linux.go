package proc

import (
	"os"
	"syscall"
)

// newPipe opens a pipe of which we keep the end that we write to, or the one that we read from. Only
// that one is the runtime's to wait for: for the child's end that would be undone at once, and costs time.
func newPipe(write bool) (pipe, error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return pipe{}, os.NewSyscallError("pipe2", err)
	}
	ours := fds[0]
	if write {
		ours = fds[1]
	}
	if err := syscall.SetNonblock(ours, true); err != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return pipe{}, os.NewSyscallError("fcntl", err)
	}
	return pipe{os.NewFile(uintptr(fds[0]), "|0"), os.NewFile(uintptr(fds[1]), "|1")}, nil
}
