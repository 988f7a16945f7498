package proc

import (
	"os"
	"syscall"
)

// newPipe opens a pipe. This process keeps the write end or the read end. Only that end is registered with
// the runtime's poller: for the child's end that would be wasted time.
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
