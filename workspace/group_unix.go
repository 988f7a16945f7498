//go:build unix

package workspace

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a separate process group, which ends with its context: with SIGTERM,
// so that git removes its lock files. It inherits lock.
func ownGroup(cmd *exec.Cmd, lock *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}
