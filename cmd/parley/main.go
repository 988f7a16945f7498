// Command parley runs coding agents that speak the Claude Agent SDK protocol.
package main

import (
	"os"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/sim"
)

// programs are what processes of this executable can be beside the command.
var programs = map[string]claudetest.Program{sim.Name: sim.Program}

func main() {
	claudetest.RunProgram(programs)
	os.Exit(execute(os.Args[1:]))
}
