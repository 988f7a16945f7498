package agenttest

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProvider(t *testing.T) {
	Run(t, func(t *testing.T) Subject {
		return Subject{
			Provider: &Provider{Dir: t.TempDir()},
			Prompts: Prompts{Say: "say one two three", Tool: "tool Bash", Plan: "plan", Question: "ask", Elicit: "elicit",
				Wait: "wait", Die: "die", Task: "task"},
		}
	})
}
