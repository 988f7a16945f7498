package fakecli

import (
	"os"
	"os/exec"
)

// Kill ends the program at once with code 137, since there is no SIGKILL on this system.
func (c *CLI) Kill() { os.Exit(137) }

// IgnoreTerm has no effect, since this system has no SIGTERM.
func (c *CLI) IgnoreTerm() {}

func detach(*exec.Cmd) {}
