package claudepool_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// TestPoolRecyclesByMemory: a process that exceeds the memory limit is replaced
// between turns.
func TestPoolRecyclesByMemory(t *testing.T) {
	for limit, replaced := range map[int64]bool{1 << 10: true, 1 << 40: false} {
		p := quietPool(claudepool.Options{Recycle: claudepool.Recycle{Memory: limit}})
		l := lease(t, p, claudetest.FakeCLI("hello"))
		say(t, l, "one")
		before, session := l.Client().View().PID, l.Client().SessionID()
		if got := say(t, l, "two"); got != "you said two" || l.Client().SessionID() != session {
			t.Errorf("%q in session %s, which was %s", got, l.Client().SessionID(), session)
		}
		if now := l.Client().View().PID; (now != before) != replaced {
			t.Errorf("limit %d: process %d and then %d", limit, before, now)
		}
		p.Close()
	}
}
