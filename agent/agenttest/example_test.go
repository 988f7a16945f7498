package agenttest_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/simagent"
)

// A provider proves in its own tests that a server can use it. Checks without a prompt are skipped,
// each with its name.
func ExampleRun() {
	_ = func(t *testing.T) { // TestSuite of the package of the provider
		agenttest.Run(t, func(t *testing.T) agenttest.Subject {
			return agenttest.Subject{
				Provider: &simagent.Provider{Pace: -1},
				Options:  agent.Options{Dir: t.TempDir()},
				Prompts:  agenttest.Prompts{Say: "hello", Tool: "tool Bash"},
			}
		})
	}
}
