package mcpserver

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// A wait ends with its context, and with an error of the service.
func TestWait_ends(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	looks := 0
	call := func(_ context.Context, _ string, _, result any) error {
		if looks++; looks == 2 {
			cancel()
		}
		*result.(*api.ListResult) = api.ListResult{Sessions: []api.SessionSummary{{SessionID: "s", State: "running"}}}
		return nil
	}
	if out, err := wait(ctx, call, waitIn{SessionID: "s", Seconds: 600}); !errors.Is(err, context.Canceled) || !out.Busy {
		t.Errorf("%+v, %v", out, err)
	}
	broken := errors.New("broken")
	if _, err := wait(context.Background(), func(context.Context, string, any, any) error { return broken }, waitIn{SessionID: "s"}); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

func TestBusy(t *testing.T) {
	for _, tt := range []struct {
		state  string
		queued int64
		want   bool
	}{{"running", 0, true}, {"starting", 0, true}, {"idle", 1, true}, {"idle", 0, false}, {"requires_action", 1, false}, {"interrupted", 1, false}, {"failed", 0, false}} {
		if got := busy(api.SessionSummary{State: tt.state, Queued: tt.queued}); got != tt.want {
			t.Errorf("%s with %d in the queue: %v", tt.state, tt.queued, got)
		}
	}
}
