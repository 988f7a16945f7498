package session

import (
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
)

// A session reports that the host has ended its agent because of the orphan timeout, and does not
// report that for any other end.
func TestOrphaned(t *testing.T) {
	ended := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		left *leftAgent
		want string
	}{
		"an agent of this server": {nil, ""},
		"runs":                    {&leftAgent{}, ""},
		"ended by itself":         {&leftAgent{Agent: host.Agent{Exit: &host.Exit{Time: ended}}}, ""},
		"orphaned":                {&leftAgent{Agent: host.Agent{OrphanTimeout: time.Hour, Exit: &host.Exit{Time: ended, Orphaned: true}}}, "2026-01-02T03:04:05Z, because no server had run for 1h0m0s"},
	} {
		drafts := (&core{}).orphaned(tt.left)
		if tt.want == "" {
			if len(drafts) > 0 {
				t.Errorf("%s: got %+v, want no report", name, drafts)
			}
			continue
		}
		if len(drafts) != 1 {
			t.Fatalf("%s: got %d reports, want 1", name, len(drafts))
		}
		if n, ok := drafts[0].event.(*event.Notice); !ok || n.Code != noticeOrphaned || !strings.Contains(n.Text, tt.want) {
			t.Errorf("%s: got %+v, want a notice with %q", name, drafts[0].event, tt.want)
		}
	}
}
