package simagent_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/simagent"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestProvider runs the acceptance suite. The agent has no MCP server, no tasks, and no process
// that could exit.
func TestProvider(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		return agenttest.Subject{
			Provider: &simagent.Provider{Dir: t.TempDir(), Pace: -1},
			Prompts:  agenttest.Prompts{Say: "say hello", Tool: "tool Bash", Plan: "plan", Question: "ask me a question", Wait: "wait"},
		}
	})
}
