//go:build unix

package session

import (
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// A session tells its agent the longest time that the agent may have to wait without a server: at
// the start of the agent, and by each server that adopts it.
func TestHost_absence(t *testing.T) {
	for name, tt := range map[string]struct {
		budget *float64
		want   time.Duration
	}{
		"without a budget": {nil, 24 * time.Hour}, "with a budget": {new(5.0), 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostStage(t)
			if err := c.server.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d", MaxBudgetUSD: tt.budget}}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.server.Query(t.Context(), c.id, "", event.Quote("text"), "", "by"); err != nil {
				t.Fatal(err)
			}
			c.is(Running)
			check := func(when string) {
				c.puppets.mu.Lock()
				defer c.puppets.mu.Unlock()
				if got := c.puppets.absence; got <= tt.want || got > tt.want+10*time.Minute {
					t.Errorf("%s the agent may be alone for %v, want a little more than %v", when, got, tt.want)
				}
				c.puppets.absence = 0
			}
			check("at its start")
			c.leave()
			c.serve(nil)
			check("after an adoption")
		})
	}
}
