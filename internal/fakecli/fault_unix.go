//go:build unix

package fakecli

import (
	"os/exec"
	"os/signal"
	"syscall"
)

// Kill ends the program by SIGKILL, like the system when memory runs out. It only works
// in programs of [Options]; on Windows it exits with code 137.
func (c *CLI) Kill() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	c.Hang()
}

// IgnoreTerm makes the program survive SIGTERM, SIGINT and SIGHUP. It only works in
// programs of [Options]; on Windows it has no effect.
func (c *CLI) IgnoreTerm() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
}

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
