package main

import (
	"errors"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/sim"
)

// The values of --agent.
const (
	agentClaude = "claude"
	agentCodex  = "codex"
	agentSim    = "sim"
	agentReplay = "replay:" // and a directory
)

// agentChoice is which agent is talked to.
type agentChoice struct {
	kind string // one of the values of --agent
	note string // what has to be said about it before anything; "" if nothing
	must bool   // also to those who want to hear nothing
	mark string // what stands before the answers where they are all that is read; "" for an agent that is one
}

// chooseAgent makes o talk to the agent that the flags ask for. Unless they say
// otherwise that is the CLI; where there is none, and a person sees what is written,
// it is the simulated agent. onePrompt says that there will be no more than one.
func (f *runFlags) chooseAgent(o *claude.Options, onePrompt, person bool) (agentChoice, error) {
	dir, replay := strings.CutPrefix(f.agent, agentReplay)
	switch {
	case f.agent != "" && f.agent != agentClaude && f.changed("cli"):
		return agentChoice{}, term.Usagef("--cli goes with --agent claude, not with %s", f.agent)
	case f.atOnce && !replay:
		return agentChoice{}, term.Usagef("--at-once goes with --agent replay:DIR")
	case replay:
		note, err := useReplay(o, dir, f.atOnce, onePrompt)
		return agentChoice{kind: agentReplay, note: note}, err
	case f.agent == agentSim && f.schema != "":
		return agentChoice{}, term.Usagef("--json-schema needs a model, and --agent sim has none")
	case f.agent == agentSim:
		useSim(o)
		return agentChoice{kind: agentSim, note: sim.Disclosure, must: true, mark: sim.Mark}, nil
	case f.agent == agentClaude || f.agent == "" && o.CLIPath != "":
		return agentChoice{kind: agentClaude}, nil
	case f.agent != "":
		return agentChoice{}, term.Usagef("--agent %s: it is one of claude, codex, sim and replay:DIR", f.agent)
	}
	_, err := proc.Find("", os.Environ())
	if _, missing := errors.AsType[*proc.NotFoundError](err); !missing || !person || f.output != outputText || f.schema != "" {
		return agentChoice{kind: agentClaude}, nil // a program that reads the answer must not take a made-up one
	}
	useSim(o)
	return agentChoice{kind: agentSim, must: true, mark: sim.Mark, note: "There is no claude on this machine (parley doctor says more). " + sim.Disclosure}, nil
}

// simEnv are the variables that the simulated agent gets of ours.
var simEnv = []string{"PATH", "TMPDIR", "TMP", "TEMP", "PATHEXT", "COMSPEC", "GOCOVERDIR", sim.PaceVariable}

// useSim makes o talk to the simulated agent, which is this executable once more.
func useSim(o *claude.Options) {
	fake := fakecli.Options(sim.Name)
	o.CLIPath, o.Env, o.CleanEnv = fake.CLIPath, fake.Env, fake.CleanEnv
	for _, name := range simEnv {
		if value, ok := os.LookupEnv(name); ok {
			o.Env[name] = value
		}
	}
}
