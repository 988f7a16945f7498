package main

import (
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestServe_hostOrphan checks that the host interrupts a turn at the orphan timeout if no server
// runs, and that the next server finds the session idle.
func TestServe_hostOrphan(t *testing.T) {
	short.SkipLong(t, "starts servers")
	s := newSimHost(t)
	flags := []string{"--host", "--orphan-timeout", "1s"}
	server, c := s.serve(flags...)
	id := s.connect(c)
	before, _ := s.agents()
	if len(before) != 1 {
		t.Fatalf("the host has %+v, want one agent", before)
	}
	end(t, server, syscall.SIGTERM)
	// The cancellation, and the answer to the prompt.
	eventually(t, "the host writes to the agent, and the agent answers", func() bool {
		agents, _ := s.agents()
		return len(agents) == 1 && agents[0].Last >= before[0].Last+2
	})
	_, c = s.serve(flags...)
	(&simServer{T: t, c: c}).until(id, func(c *event.Conversation) bool { return c.State == "idle" && len(c.Prompts) == 0 })
}
