package claude_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

func startHookLine(subtype, event string) string {
	return fmt.Sprintf(`{"type":"system","subtype":%q,"hook_id":"h","hook_name":"n","hook_event":%q,"session_id":"s","uuid":"u"}`, subtype, event)
}

// TestHandshakeSparesHooks: the time of start hooks does not count, other time
// does.
func TestHandshakeSparesHooks(t *testing.T) {
	for name, tt := range map[string]struct {
		event         string
		hooks, behind time.Duration
		timeout       time.Duration
		fails         bool
	}{
		"a slow hook":             {"SessionStart", 5 * time.Minute, 20 * time.Second, 0, false},
		"a slow setup":            {"Setup", 5 * time.Minute, 20 * time.Second, 0, false},
		"slow behind the hook":    {"SessionStart", 5 * time.Minute, 50 * time.Second, 0, true},
		"a hook without end":      {"SessionStart", 12 * time.Minute, 0, 0, true},
		"a hook of another event": {"Stop", 2 * time.Minute, 0, 0, true},
		"a deadline of one's own": {"SessionStart", 5 * time.Minute, 0, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cli := newCLI(t)
				asked := make(chan string, 1)
				cli.onLine = func(line string) { asked <- line }
				said := make(chan struct{})
				go func() {
					defer close(said)
					request := <-asked
					<-time.After(20 * time.Second)
					cli.say(startHookLine("hook_started", tt.event))
					<-time.After(tt.hooks)
					cli.say(startHookLine("hook_response", tt.event))
					<-time.After(tt.behind)
					cli.answerInitialize(request)
				}()
				opts := cli.options()
				opts.HandshakeTimeout = tt.timeout
				client, err := claude.Connect(t.Context(), opts)
				if err == nil {
					client.Close()
				}
				<-said
				var stalled *claude.StalledError
				if errors.As(err, &stalled) != tt.fails {
					t.Errorf("%v; want errors.As(err, &stalled) == tt.fails", err)
				}
			})
		})
	}
}
