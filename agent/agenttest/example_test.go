package agenttest_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/simagent"
)

// Run the suite in the tests of a provider. Checks without a prompt are skipped by name.
func ExampleRun() {
	_ = func(t *testing.T) { // TestSuite in the provider's package
		agenttest.Run(t, func(t *testing.T) agenttest.Subject {
			return agenttest.Subject{
				Provider: &simagent.Provider{Pace: -1},
				Options:  agent.Options{Dir: t.TempDir()},
				Prompts:  agenttest.Prompts{Say: "hello", Tool: "tool Bash"},
			}
		})
	}
}
