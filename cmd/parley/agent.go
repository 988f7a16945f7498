package main

import (
	"errors"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/sim"
	"github.com/seed7221b0f9/parley/internal/proc"
)

// The values of --agent.
const (
	agentClaude = "claude"
	agentSim    = "sim"
	agentReplay = "replay:" // and a directory
)

// agentChoice is which agent is talked to.
type agentChoice struct {
	kind string // one of the values of --agent
	note string // what has to be said about it before anything; "" if nothing
	must bool   // also to those who want to hear nothing
}

// chooseAgent makes o talk to the agent that the flags ask for. Unless they say
// otherwise that is the CLI where there is one. onePrompt says that there will be
// no more than one.
func (f *runFlags) chooseAgent(o *claude.Options, onePrompt bool) (agentChoice, error) {
	dir, replay := strings.CutPrefix(f.agent, agentReplay)
	switch {
	case f.agent != "" && f.agent != agentClaude && f.changed("cli"):
		return agentChoice{}, usagef("--cli goes with --agent claude, not with %s", f.agent)
	case f.atOnce && !replay:
		return agentChoice{}, usagef("--at-once goes with --agent replay:DIR")
	case replay:
		note, err := useReplay(o, dir, f.atOnce, onePrompt)
		return agentChoice{kind: agentReplay, note: note}, err
	case f.agent == agentSim:
		useSim(o)
		return agentChoice{kind: agentSim, note: sim.Disclosure}, nil
	case f.agent == agentClaude || f.agent == "" && o.CLIPath != "":
		return agentChoice{kind: agentClaude}, nil
	case f.agent != "":
		return agentChoice{}, usagef("--agent %s: it is one of claude, sim and replay:DIR", f.agent)
	}
	_, err := proc.Find("", os.Environ())
	if _, missing := errors.AsType[*proc.NotFoundError](err); !missing {
		return agentChoice{kind: agentClaude}, nil
	}
	useSim(o)
	return agentChoice{kind: agentSim, must: true, note: "There is no claude on this machine (parley doctor says more). " + sim.Disclosure}, nil
}

// simEnv are the variables that the simulated agent gets of ours.
var simEnv = []string{"PATH", "TMPDIR", "TMP", "TEMP", "PATHEXT", "COMSPEC", "GOCOVERDIR", sim.PaceVariable}

// useSim makes o talk to the simulated agent, which is this executable once more.
func useSim(o *claude.Options) {
	fake := claudetest.FakeCLI(sim.Name)
	o.CLIPath, o.Env, o.CleanEnv = fake.CLIPath, fake.Env, fake.CleanEnv
	for _, name := range simEnv {
		if value, ok := os.LookupEnv(name); ok {
			o.Env[name] = value
		}
	}
}
