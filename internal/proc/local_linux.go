package proc

import (
	"context"
	"os"
	"syscall"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// tree is the child's process group, and when it started.
type tree struct {
	group  int
	start  string
	exited *os.File // see waitable
	dying  []Child  // what Kill has killed
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
	c.tree = tree{group: c.PID(), start: startOf(c.PID()), exited: waitable(pidfd)}
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
		_ = awaitEnd(c.tree.dying)
		_, _ = endFound(c.found) // what cannot be ended, another user's, does not keep the child
	}
	err := c.cmd.Wait()
	c.reaped = true
	return err
}

// awaitExit waits until the child has exited, and leaves it unreaped. It returns false if there is
// no such child: then it was reaped elsewhere, and its id may belong to a stranger.
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
	// A thousand children cost no thread: the runtime waits for all of them at once.
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
