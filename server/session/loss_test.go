package session

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestLoss_live makes the store lose events of a running session: a notice reports it at once, and once, the queue is held, and
// the session has a new epoch, so that its viewers start again. Another session gets no notice, and its viewers continue.
func TestLoss_live(t *testing.T) {
	s, st := memSessions(t)
	c, other := &appendScene{T: t, s: s, id: "s-lossy"}, &appendScene{T: t, s: s, id: "s-whole"}
	viewers := map[string]*Viewer{}
	for _, scene := range []*appendScene{c, other} {
		if err := s.Create(t.Context(), scene.id, Opened{}); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"wait", "say later"} {
			if _, err := s.Query(t.Context(), scene.id, text, mustJSON(text), "", "by"); err != nil {
				t.Fatal(err)
			}
		}
		v, _, leave, err := s.Watch(t.Context(), scene.id, nil, Capabilities{})
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		viewers[scene.id] = v
		scene.until("a turn runs and a prompt waits", func(a *actor) bool { return a.core.State == Running && len(a.conv.Queue) == 1 })
	}
	before := map[string]string{}
	for id, v := range viewers {
		before[id] = v.Cursor.Epoch
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
	begins(t, viewers[c.id], before[c.id])
	if result, err := s.Attach(t.Context(), api.AttachParams{SessionID: c.id, After: &api.Cursor{Epoch: before[c.id], Seq: 1}}); err != nil || !result.Resync {
		t.Errorf("attaching with a cursor of the old epoch: %+v, %v, want a snapshot", result.Cursor, err)
	}
	if result, err := s.Attach(t.Context(), api.AttachParams{SessionID: other.id, After: &api.Cursor{Epoch: before[other.id], Seq: 1}}); err != nil || result.Resync {
		t.Errorf("another session: %+v, %v, want no snapshot", result.Cursor, err)
	}
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

// begins reads messages of a viewer until it has to start again, and checks that it does so in another epoch.
func begins(t *testing.T, v *Viewer, before string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		_, err := v.Next(ctx)
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrResync) {
			t.Fatalf("Next: %v, want %v", err, ErrResync)
		}
		break
	}
	result, err := v.Resync(ctx)
	if err != nil || result.Cursor.Epoch == before || result.Snapshot == "" {
		t.Errorf("Resync: epoch %q after %q, a snapshot of %d bytes, %v", result.Cursor.Epoch, before, len(result.Snapshot), err)
	}
}

// TestEpochWith checks that the epoch of a session is that of its log, and differs for each set of losses.
func TestEpochWith(t *testing.T) {
	one, two := eventlog.Damage{From: 1, To: 2}, eventlog.Damage{From: 12, To: 12}
	seen := map[string]bool{}
	for _, lost := range [][]eventlog.Damage{nil, {one}, {two}, {one, two}} {
		epoch := epochWith("e", lost)
		if seen[epoch] || epoch != epochWith("e", lost) || !strings.HasPrefix(epoch, "e") {
			t.Errorf("epochWith(%v) = %q, seen %v", lost, epoch, seen)
		}
		seen[epoch] = true
	}
	if epochWith("e", nil) != "e" {
		t.Error("without a loss it is another epoch than that of the log")
	}
}
