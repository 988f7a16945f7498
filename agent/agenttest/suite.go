package agenttest

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/agentcheck"
)

// Subject is a provider under test.
type Subject = agentcheck.Subject

// Prompts holds the inputs with which the suite makes an agent react in a certain way.
type Prompts = agentcheck.Prompts

// Run checks that a provider follows the rules of package agent. It calls create once per check.
func Run(t *testing.T, create func(t *testing.T) Subject) {
	for _, c := range agentcheck.Checks() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, create(t)) })
	}
}
