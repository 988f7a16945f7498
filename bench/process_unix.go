//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a separate process group and makes the end of its context kill the
// whole group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = waitDelay
}
