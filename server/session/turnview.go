package session

import (
	"context"

	"github.com/seed7221b0f9/parley/server/api"
)

// Standing is the state of a session when a viewer of a turn starts.
type Standing struct {
	Busy bool   // a turn runs
	Head uint64 // the number of its newest durable message
	Turn string // the prompt of the running turn, or ""
	From uint64 // the durable message that accepted the prompt; 0 if unknown
}

// Standing returns the current state of a session.
func (s *Sessions) Standing(ctx context.Context, id string) (Standing, error) {
	var standing Standing
	err := s.with(ctx, id, func(a *actor) error {
		standing = a.standing()
		return nil
	})
	return standing, err
}

func (a *actor) standing() Standing {
	st := Standing{Busy: a.core.State.busy(), Head: a.seq}
	if inflight := a.core.inflight(); st.Busy && len(inflight) > 0 {
		st.Turn = inflight[0].ID
		for _, k := range a.core.Keys {
			if k.TurnID == st.Turn {
				st.From = k.Seq
			}
		}
	}
	return st
}

// WatchAfter returns a viewer that starts after a durable message, and the function that ends it. A
// cursor without an epoch has the current one. The viewer gets changes of the queue, not whole
// queues, and may get a placeholder for a large prompt. If the log no longer has the message, the
// error has the reason [api.Resync], and the viewer gets no snapshot.
func (s *Sessions) WatchAfter(ctx context.Context, id string, at api.Cursor) (*Viewer, Standing, func(), error) {
	a, release, err := s.watched(ctx, id)
	if err != nil {
		return nil, Standing{}, nil, err
	}
	var standing Standing
	err = a.call(ctx, func() error {
		if at.Epoch == "" {
			at.Epoch = a.hub.epoch
		}
		standing = a.standing()
		if at.Epoch != a.hub.epoch || at.Seq > a.seq || a.seq-at.Seq > resyncAfter || !a.kept(ctx, at.Seq) {
			return Fail(api.Resync, "the log of the session no longer has this position; read the session again")
		}
		return nil
	})
	if err != nil {
		release()
		return nil, Standing{}, nil, err
	}
	v, end := s.view(a, at, Capabilities{Queue: true, Brief: true}, release)
	return v, standing, end, nil
}
