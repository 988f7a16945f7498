package agentkit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// TestHosted checks that Wait returns after the last line of the earlier process, and not before.
func TestHosted(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		last uint64
		step func(h *agentkit.Hosted)
		want error
	}{
		"a new agent":        {0, func(*agentkit.Hosted) {}, nil},
		"before the lines":   {2, func(*agentkit.Hosted) {}, context.Canceled},
		"among the lines":    {2, func(h *agentkit.Hosted) { h.Took(1, 5) }, context.Canceled},
		"after the lines":    {2, func(h *agentkit.Hosted) { h.Took(1, 5); h.Took(2, 5) }, nil},
		"after a later line": {2, func(h *agentkit.Hosted) { h.Took(3, 5) }, nil},
		"after the end":      {2, func(h *agentkit.Hosted) { h.End() }, nil},
	} {
		h := agentkit.NewHosted(agent.Adoption{Last: tt.last})
		tt.step(h)
		ctx := t.Context()
		if tt.want != nil {
			ctx = over
		}
		for range 50 { // of two reasons to return either may be the first
			if err := h.Wait(ctx); !errors.Is(err, tt.want) {
				t.Fatalf("%s: Wait returned %v, want %v", name, err, tt.want)
			}
		}
	}
}

// TestHosted_past checks which lines an earlier process has handled, and the size of all lines.
func TestHosted_past(t *testing.T) {
	h := agentkit.NewHosted(agent.Adoption{Last: 2})
	for line, want := range map[uint64]bool{1: true, 2: true, 3: false} {
		if got := h.Past(line); got != want {
			t.Errorf("an earlier process has handled line %d: %v, want %v", line, got, want)
		}
		h.Took(line, 5)
	}
	if got := h.Kept(); got != 15 {
		t.Errorf("the lines have %d bytes, want 15", got)
	}
}
