//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the end of the command's context end all its descendants.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
