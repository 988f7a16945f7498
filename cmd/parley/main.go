// Command parley runs coding agents: Claude Code, Codex, and agents of the Agent Client
// Protocol.
package main

import (
	"os"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/internal/sim"
	_ "github.com/seed7221b0f9/parley/internal/supervise/first" // makes this executable the supervisor of its agents
	"github.com/seed7221b0f9/parley/server/keyproxy"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// programs are the other programs that this executable can run.
var programs = map[string]fakecli.Program{sim.Name: sim.Program}

func main() {
	box.Enter()
	host.Enter()
	keyproxy.Enter()
	fakecli.RunProgram(programs)
	os.Exit(execute(os.Args[1:]))
}
