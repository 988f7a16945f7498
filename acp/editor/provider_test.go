package editor_test

import (
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/internal/test/parts"
)

// TestAgentOverTheProtocol runs the acceptance suite for providers with package acpagent and parley
// acp, a process, as its agent.
func TestAgentOverTheProtocol(t *testing.T) {
	t.Parallel()
	command := parley(t)
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		home := t.TempDir()
		return agenttest.Subject{
			Provider: &acpagent.Provider{Command: []string{command, "acp", "--agent", "sim"}},
			Options: agent.Options{Dir: t.TempDir(), Env: []string{
				"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home, "PARLEY_SIM_PACE=0", "GORACE=atexit_sleep_ms=0",
			}},
			Capabilities: parts.Of(t, "`acpagent` with `parley acp`"),
			Prompts:      agenttest.Prompts{Say: "say hello", Tool: "tool Bash", Plan: "plan", Wait: "wait"},
		}
	})
}
