package session

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// TestLoss_live lets the store lose events of a session that runs: a notice tells so at once, and once, and the queue is held; another
// session is not told.
func TestLoss_live(t *testing.T) {
	s, st := memSessions(t)
	c, other := &appendScene{T: t, s: s, id: "s-lossy"}, &appendScene{T: t, s: s, id: "s-whole"}
	for _, scene := range []*appendScene{c, other} {
		if err := s.Create(t.Context(), scene.id, Opened{}); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"wait", "say later"} {
			if _, err := s.Query(t.Context(), scene.id, text, mustJSON(text), "", "by"); err != nil {
				t.Fatal(err)
			}
		}
		scene.until("a turn runs and a prompt waits", func(a *actor) bool { return a.core.State == Running && len(a.conv.Queue) == 1 })
	}
	st.mu.Lock()
	st.damage = []eventlog.Damage{{Session: c.id, From: 1, To: 1, Reason: "a test"}}
	st.mu.Unlock()
	notices := func(a *actor) (n int) {
		for _, notice := range a.conv.Notices {
			if notice.Notice.Code == event.NoticeLost && strings.Contains(notice.Notice.Text, "events 1 to 1") {
				n++
			}
		}
		return n
	}
	c.until("the notice comes and the queue is held", func(a *actor) bool {
		return notices(a) == 1 && len(a.conv.Queue) == 1 && a.conv.Queue[0].Status == "held"
	})
	for _, scene := range []*appendScene{c, other} {
		err := s.with(t.Context(), scene.id, func(a *actor) error {
			a.watchLoss()
			if n, want := notices(a), strings.Count(scene.id, "lossy"); n != want {
				t.Errorf("%s has %d notices, want %d", scene.id, n, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
