//go:build unix && !linux

package proc

import (
	"context"
	"syscall"
)

// tree is the child's process group.
type tree struct{ group int }

func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// start sets no parent-death signal, which this system lacks; a child that outlives this process
// reads the end of its stdin.
func (c *child) start(context.Context) error {
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.tree = tree{c.PID()}
	return nil
}

// reap kills the rest of the group right after the exit. The system does not reuse the group's id while
// the group has a member.
func (c *child) reap() error {
	err := c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaped = true
	_ = c.signalGroup(syscall.SIGKILL)
	return err
}

func (c *child) killTree() error { return c.signalGroup(syscall.SIGKILL) }
