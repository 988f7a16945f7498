package proc

import (
	"os"
	"syscall"
)

// pipeSize is how much the output pipe holds, four times the usual: a busy CLI and its reader then take
// turns less often.
const pipeSize = 256 << 10

// widen makes room in a pipe. Where the system allows no more the pipe stays as it is.
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
