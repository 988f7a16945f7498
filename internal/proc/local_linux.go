package proc

import (
	"context"
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// tree is the child's process group.
type tree struct {
	group  int
	exited *os.File // see waitable
}

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitable is a file that becomes readable when the child exits, nil where the kernel has none.
func waitable(pidfd int) *os.File {
	if pidfd < 0 {
		return nil
	}
	// Only a file that does not block is waited for without a thread.
	if err := syscall.SetNonblock(pidfd, true); err != nil {
		syscall.Close(pidfd)
		return nil
	}
	return os.NewFile(uintptr(pidfd), "pidfd")
}

// start starts the child on the thread whose end would kill it, and holds that thread until reap.
func (c *child) start(ctx context.Context) error {
	pidfd := -1
	c.cmd.SysProcAttr.PidFD = &pidfd
	var err error
	if ctxErr := threads.run(ctx, func() { err = c.cmd.Start() }); ctxErr != nil {
		err = ctxErr
	}
	if err != nil {
		threads.drop()
		return err
	}
	c.tree = tree{group: c.PID(), exited: waitable(pidfd)}
	return nil
}

// reap learns of the exit without reaping, so that the process id, and with it that of the group,
// belongs to the child while the rest of the group is killed.
func (c *child) reap() error {
	defer threads.drop()
	zombie := c.tree.awaitExit()
	c.mu.Lock()
	defer c.mu.Unlock()
	if zombie {
		_ = c.signalGroup(syscall.SIGKILL)
	}
	err := c.cmd.Wait()
	c.reaped = true
	return err
}

// awaitExit waits until the child has exited, and leaves it unreaped. It returns false if there is
// no such child: then it was reaped elsewhere, and its id may belong to a stranger.
func (t tree) awaitExit() bool {
	if t.exited == nil {
		return waitid(t.group, 0) == nil
	}
	defer t.exited.Close()
	conn, err := t.exited.SyscallConn()
	if err != nil {
		return waitid(t.group, 0) == nil
	}
	// A thousand children cost no thread: the runtime waits for all of them at once.
	var result error
	err = conn.Read(func(uintptr) bool {
		result = waitid(t.group, syscall.WNOHANG)
		return !errors.Is(result, errAlive)
	})
	if err != nil { // the file cannot be waited for
		result = waitid(t.group, 0)
	}
	return result == nil
}

var errAlive = errors.New("the child has not exited")

// waitid waits for the exit of the child pid without reaping it.
func waitid(pid int, options uintptr) error {
	const (
		pPID    = 1
		wExited = 0x4
		wNoWait = 0x01000000
	)
	// siginfo_t: 128 bytes. The first number, the signal, is 0 when there is nothing to tell.
	var info [32]int32
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), wExited|wNoWait|options, 0, 0)
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return errno
		case info[0] == 0:
			return errAlive
		default:
			return nil
		}
	}
}
