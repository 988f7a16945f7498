//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// Detach makes a command, which has not been started, outlive this process: it runs in a new session and has no
// descriptors except for its standard streams.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = withoutInherited()
}
