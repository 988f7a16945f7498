package proc

import "syscall"

// prSetDumpable is PR_SET_DUMPABLE of prctl(2).
const prSetDumpable = 4

// Hide prevents processes of the same user, such as agents, from reading the memory
// and the initial environment of this process in /proc, and from tracing it.
func Hide() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
