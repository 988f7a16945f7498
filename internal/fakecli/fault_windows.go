package fakecli

import (
	"os"
	"os/exec"
)

// Kill ends the program at once with code 137, since there is no SIGKILL on this system.
func (c *CLI) Kill() { os.Exit(137) }

// IgnoreTerm does nothing, since there is no SIGTERM on this system that could be ignored.
func (c *CLI) IgnoreTerm() {}

func detach(*exec.Cmd) {}
