//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// Detach makes a command, which has not been started, outlive this process: it runs in a session of its own, and has no
// descriptor but its standard streams.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = withoutInherited()
}
