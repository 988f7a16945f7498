package acpagent_test

import (
	"context"
	"io"
	"testing"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) { e2e.VerifyMain(m) }

// serve connects a provider of this package to an agent of package acp in this process.
func serve(t *testing.T, inner agent.Provider) *acpagent.Provider {
	t.Helper()
	return &acpagent.Provider{As: "test", Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		fromClient, toAgent := io.Pipe()
		fromAgent, toClient := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			// The end of the client is the end of the conversation.
			_ = editor.Serve(context.Background(), fromClient, toClient, editor.Options{Provider: inner, Name: "test", Version: "1"})
			toClient.Close()
		}()
		t.Cleanup(func() {
			toAgent.Close()
			<-done
		})
		return &served{PipeReader: fromAgent, gone: done}, toAgent, nil
	}}
}

// served is what an agent in this process writes. Its Close waits for the agent, as for a process: only then can another
// one resume the session.
type served struct {
	*io.PipeReader
	gone <-chan struct{}
}

func (s *served) Close() error {
	err := s.PipeReader.Close()
	<-s.gone
	return err
}

// TestSuite runs the acceptance suite for providers over the protocol, with the scripted agent
// served by editor.Serve.
func TestSuite(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		return agenttest.Subject{
			Provider: serve(t, &agenttest.Provider{Dir: t.TempDir()}), Options: agent.Options{Dir: t.TempDir()},
			Prompts: agenttest.Prompts{Say: "say hello there", Tool: "tool Bash", Plan: "plan", Elicit: "elicit", Wait: "wait"},
		}
	})
}
