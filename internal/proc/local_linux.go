package proc

import (
	"context"
	"os"
	"syscall"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// tree is the child's process group and its start time.
type tree struct {
	group  int
	start  string
	exited *os.File // see waitable
	dying  []Child  // processes that Kill has killed
}

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitable returns a file that becomes readable when the child exits, or nil if the kernel does
// not support it.
func waitable(pidfd int) *os.File {
	if pidfd < 0 {
		return nil
	}
	// The runtime polls only a non-blocking file without a thread.
	if err := syscall.SetNonblock(pidfd, true); err != nil {
		syscall.Close(pidfd)
		return nil
	}
	return os.NewFile(uintptr(pidfd), "pidfd")
}

// start starts the child on a thread that is kept until reap, because the end of that thread would
// kill the child.
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
	c.tree = tree{group: c.PID(), start: startOf(c.PID()), exited: waitable(pidfd)}
	return nil
}

// reap waits for the exit without reaping, so that the ids of the process and of the group stay
// valid while the rest of the group is killed.
func (c *child) reap() error {
	defer threads.drop()
	zombie := c.tree.awaitExit()
	c.mu.Lock()
	defer c.mu.Unlock()
	if zombie {
		_ = c.signalGroup(syscall.SIGKILL)
		_ = awaitEnd(c.tree.dying)
		// The child itself has ended. A process of another user cannot be ended, which is not an error.
		_, _ = endFound(c.found, map[int]bool{os.Getpid(): true, c.tree.group: true})
	}
	err := c.cmd.Wait()
	c.reaped = true
	return err
}

// awaitExit waits until the child has exited, and leaves it unreaped. It returns false if there is
// no such child: it was reaped elsewhere, and another process may have its id.
func (t *tree) awaitExit() bool {
	ended := func(options uintptr) (bool, error) {
		pid, err := supervise.AwaitChild(t.group, options)
		return pid != 0, err
	}
	blocking := func() bool {
		_, err := ended(0)
		return err == nil
	}
	if t.exited == nil {
		return blocking()
	}
	defer t.exited.Close()
	conn, err := t.exited.SyscallConn()
	if err != nil {
		return blocking()
	}
	// The runtime waits for all children at once, without a thread for each.
	var result error
	err = conn.Read(func(uintptr) (done bool) {
		done, result = ended(syscall.WNOHANG)
		return done || result != nil
	})
	if err != nil { // the file cannot be waited for
		return blocking()
	}
	return result == nil
}
