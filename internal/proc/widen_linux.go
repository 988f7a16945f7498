package proc

import (
	"os"
	"syscall"
)

// pipeSize is the capacity of the output pipe, four times the default: a busy CLI and its reader then
// switch less often.
const pipeSize = 256 << 10

// widen enlarges a pipe, if the system allows it.
func widen(f *os.File) {
	const fSetPipeSize = 1031
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, pipeSize)
	})
}
