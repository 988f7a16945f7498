package server

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/internal/test/parts"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// agentOf is a provider of a server's sessions, with the name of the agent on the server, which
// their events have.
type agentOf struct {
	*serveragent.Provider
	name string
}

func (p agentOf) Name() string { return p.name }

// TestServerAgent runs the acceptance suite for providers with sessions of a server. Such a session
// has no tasks, and the server restarts an agent that dies.
func TestServerAgent(t *testing.T) {
	short.SkipQuick(t, "runs many sessions")
	t.Parallel()
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		h := newHarness(t, func(o *Options) { o.DrainTimeout = time.Millisecond }) // a closed view leaves its turn running
		c, err := client.New(client.Options{URL: h.url, Token: h.token})
		if err != nil {
			t.Fatal(err)
		}
		return agenttest.Subject{
			Provider: agentOf{&serveragent.Provider{Client: c}, h.provider.Name()}, Options: agent.Options{Dir: filepath.Join(h.dir, "work")},
			Capabilities: parts.Of(t, "`serveragent`"),
			Prompts:      agenttest.Prompts{Say: "say hello there", Tool: "tool Bash", Plan: "plan", Question: "ask", Elicit: "elicit", Wait: "wait"},
		}
	})
}
