package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// oneNode owns every session.
type oneNode struct{}

func (oneNode) Node() string                                   { return "here" }
func (oneNode) Own(context.Context, string) (Ownership, error) { return oneNode{}, nil }
func (oneNode) Owner(context.Context, string) (string, error)  { return "", nil }
func (oneNode) Show(string, []byte)                            {}
func (oneNode) Epoch() uint64                                  { return 1 }
func (oneNode) Lost() <-chan struct{}                          { return nil }
func (oneNode) Release()                                       {}
func (oneNode) Held() bool                                     { return true }

func (oneNode) Yield(context.Context, string, string, string) error { return nil }

func entryOf(id string, state State, seq uint64, title string) []byte {
	return fmt.Appendf(nil, `{"summary":{"session_id":%q,"state":%q,"seq":%d,"title":%q}}`, id, state, seq, title)
}

// TestOrphans returns the sessions with unfinished work that no server owns, but none that is being deleted.
func TestOrphans(t *testing.T) {
	s, _ := memSessions(t)
	for _, state := range []State{Starting, Idle, Running, RequiresAction, Interrupted, Draining, Failed, Ended} {
		s.Learn(Prefix+string(state), entryOf(Prefix+string(state), state, 1, ""))
	}
	deleted := Prefix + "deleted"
	s.Learn(deleted, entryOf(deleted, Running, 1, ""))
	s.hide(deleted)
	got := s.Orphans(t.Context(), nil, map[string]string{})
	slices.Sort(got)
	if want := []string{"s-draining", "s-requires_action", "s-running", "s-starting"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLoadOwned_retried loads a session again if an earlier owner has written meanwhile, also if a later write of the load has
// replaced the error of that conflict.
func TestLoadOwned_retried(t *testing.T) {
	s, _ := memSessions(t, func(o *Options) { o.Owners = oneNode{} })
	loads := 0
	a, err := s.loadOwned(t.Context(), "s-a", func(Ownership) (*actor, error) {
		a := s.newActor("s-a", "e")
		a.owner = oneNode{}
		if loads++; loads == 1 {
			a.lostOwner.Store(true)
			return a, a.refuse()
		}
		return a, nil
	})
	if err != nil || loads != 2 {
		t.Fatalf("after %d loads: %v, want the second one", loads, err)
	}
	a.cancel()
}

// contextLog is a log that fails to read with an ended context.
type contextLog struct{ Log }

func (l contextLog) Last(ctx context.Context) (eventlog.Cursor, error) {
	if err := ctx.Err(); err != nil {
		return eventlog.Cursor{}, err
	}
	return eventlog.Cursor{}, eventlog.ErrNotFound
}

type contextStore struct{ *memStore }

func (s contextStore) Log(id string) Log { return contextLog{s.memStore.Log(id)} }

// TestFollow_firstCaller starts a follower for a caller that disconnects: others may wait for it.
func TestFollow_firstCaller(t *testing.T) {
	s, _ := memSessions(t, func(o *Options) { o.Owners, o.Store = oneNode{}, contextStore{&memStore{}} })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.newFollower(ctx, "s-b"); FailureOf(err).Reason != api.SessionExpired {
		t.Errorf("the others get %v, want that the session does not exist", err)
	}
}

// TestFollow_listed puts the events of another server's session into the list. An older entry of that server is ignored.
func TestFollow_listed(t *testing.T) {
	c := newStage(t, Opened{})
	_, data := c.records(0)
	s, _ := memSessions(t)
	s.Learn(c.id, entryOf(c.id, Idle, 1, "old"))
	a := s.newActor(c.id, "")
	defer a.cancel()
	a.following()
	for i, record := range strings.Split(data, "\n") {
		if err := a.showNew(eventlog.Event{Seq: uint64(i + 1), Data: []byte(record)}); err != nil {
			t.Fatal(err)
		}
	}
	s.Learn(c.id, entryOf(c.id, Running, 1, "old"))
	if i, err := s.Lookup(t.Context(), c.id); err != nil || i.Seq != a.seq || i.Seq < 2 || i.Title == "old" {
		t.Errorf("the list has %+v, %v, want event %d", i, err, a.seq)
	}
}
