package claudetest

import (
	"os"
	"os/exec"
)

// Kill ends the program at once, with code 137.
func (c *CLI) Kill() { os.Exit(137) }

// IgnoreTerm does nothing: there is no SIGTERM.
func (c *CLI) IgnoreTerm() {}

func detach(*exec.Cmd) {}
