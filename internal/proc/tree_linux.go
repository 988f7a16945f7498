package proc

import (
	"syscall"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// killTree ends the group, all descendants, including those in other sessions, and all processes with the
// mark. It first stops all of them: see supervise.Freeze.
func (c *child) killTree() error {
	if c.link != nil {
		_ = c.cmd.Process.Signal(syscall.SIGCONT) // the agent may have stopped it
		return c.link.send(supervise.CommandKill)
	}
	_ = c.signalGroup(syscall.SIGSTOP)
	frozen := supervise.Freeze(c.found, map[int]bool{c.tree.group: true})
	err := c.signalGroup(syscall.SIGKILL)
	for _, f := range frozen {
		c.tree.dying = append(c.tree.dying, Child{PID: f.PID, Started: f.Started})
		f.End()
	}
	return err
}

// found reports whether a process belongs to the child: by group, by parent or by mark.
func (c *child) found(p supervise.Process) bool {
	return supervise.Tree(c.tree.group)(p) || c.isMarked(p)
}

// isMarked reports whether a process has the mark of the child. An older process cannot have it.
func (c *child) isMarked(p supervise.Process) bool {
	older := len(p.Started) < len(c.tree.start) || len(p.Started) == len(c.tree.start) && p.Started < c.tree.start
	return c.mark != "" && !older && hasMark(p.PID, c.mark)
}

// startOf returns the start time of a process in the system's units.
func startOf(pid int) string {
	p, _ := supervise.Read(pid)
	return p.Started
}
