package proc

import (
	"context"
	"syscall"
	"unsafe"
)

// tree is the child's process group.
type tree struct{ group int }

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// start starts the child on the thread whose end would kill it, and holds that thread until reap.
func (c *child) start(ctx context.Context) error {
	t := threads.hold()
	var err error
	if ctxErr := t.do(ctx, func() { err = c.cmd.Start() }); ctxErr != nil {
		err = ctxErr
	}
	if err != nil {
		threads.drop()
		return err
	}
	c.tree = tree{c.PID()}
	return nil
}

// reap learns of the exit without reaping, so that the process id, and with it that of the group,
// belongs to the child while the rest of the group is killed.
func (c *child) reap() error {
	defer threads.drop()
	zombie := awaitExit(c.PID())
	c.mu.Lock()
	defer c.mu.Unlock()
	if zombie {
		_ = c.signalGroup(syscall.SIGKILL)
	}
	err := c.cmd.Wait()
	c.reaped = true
	return err
}

// awaitExit blocks until the child pid has exited, and leaves it unreaped. It returns false if there is
// no such child: then somebody else has reaped it, and its id may belong to a stranger.
func awaitExit(pid int) bool {
	const (
		pPID    = 1
		wExited = 0x4
		wNoWait = 0x01000000
	)
	var info [16]uint64 // siginfo_t: 128 bytes
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
