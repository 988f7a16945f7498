package serveragent

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestTranslate checks that an error of the server matches the error of package agent for its reason, and no other.
func TestTranslate(t *testing.T) {
	kinds := []error{agent.ErrNotFound, agent.ErrAuth, agent.ErrInvalid, agent.ErrUnsupported, agent.ErrNotInstalled, agent.ErrNotOpen, agent.ErrClosed}
	for _, tt := range []struct {
		status int
		reason api.Reason
		want   error
	}{
		{400, api.SessionExpired, agent.ErrNotFound}, {401, api.AuthFailed, agent.ErrAuth}, {400, api.InvalidParams, agent.ErrInvalid}, {400, api.Unsupported, agent.ErrUnsupported},
		{400, api.CLINotFound, agent.ErrNotInstalled}, {409, api.Conflict, agent.ErrNotOpen}, {http.StatusForbidden, api.AuthFailed, nil}, {503, api.Draining, nil}, {500, "", nil},
	} {
		err := error(&client.Error{Status: tt.status, ErrorObject: api.ErrorObject{Message: "m", Data: api.ErrorData{Reason: tt.reason}}})
		got := translate(err)
		if !errors.Is(got, err) {
			t.Errorf("%d %s is translated to %v, which is another error", tt.status, tt.reason, got)
		}
		for _, kind := range kinds {
			if errors.Is(got, kind) != (kind == tt.want) {
				t.Errorf("%d %s is translated to %v, want %v", tt.status, tt.reason, got, tt.want)
			}
		}
	}
	broken := errors.New("broken")
	if got := translate(broken); got != broken { //nolint:errorlint // the same value
		t.Errorf("another error is translated to %v", got)
	}
	if got := translate(nil); got != nil {
		t.Errorf("no error is translated to %v", got)
	}
}

// steps is a server whose messages are fixed.
type steps struct {
	Server
	yields  []client.Event
	fails   error
	stopped chan struct{} // closed when the view has left the messages
}

func (s *steps) Follow(ctx context.Context, _ string, _ *api.Cursor) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		defer close(s.stopped)
		for _, ev := range s.yields {
			if !yield(ev, nil) {
				return
			}
		}
		if s.fails != nil {
			yield(client.Event{}, s.fails)
			return
		}
		<-ctx.Done()
		yield(client.Event{}, ctx.Err())
	}
}

// TestSession_follow checks how a view ends: its events arrive before its error, and Close returns when its goroutine has ended.
func TestSession_follow(t *testing.T) {
	attached := client.Event{Attached: &api.AttachResult{State: "idle", Snapshot: event.Encoded(&event.Conversation{})}}
	notice := client.Event{Events: []event.Event{&event.Notice{Text: "live"}}}
	unreadable := client.Event{Attached: &api.AttachResult{Snapshot: "7"}}
	gone := &client.Error{ErrorObject: api.ErrorObject{Data: api.ErrorData{Reason: api.SessionExpired}}}
	for _, tt := range []struct {
		name   string
		yields []client.Event
		fails  error
		opens  error // of attach
		want   error // at the end of the events
		events int
	}{
		{"the server rejects it", nil, gone, agent.ErrNotFound, nil, 0},
		{"the snapshot is unreadable", []client.Event{unreadable}, nil, agent.ErrClosed, nil, 0},
		{"the session is deleted", []client.Event{attached, notice}, gone, nil, gone, 2},
		{"the next snapshot is unreadable", []client.Event{attached, notice, unreadable, notice}, nil, nil, agent.ErrClosed, 2},
		{"it is closed", []client.Event{attached, notice}, nil, nil, agent.ErrClosed, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &steps{yields: tt.yields, fails: tt.fails, stopped: make(chan struct{})}
			joined, err := (&Provider{Client: s}).attach(t.Context(), "s-1", nil, "")
			if !errors.Is(err, tt.opens) || (err == nil) != (tt.opens == nil) {
				t.Fatalf("attach returns %v, want %v", err, tt.opens)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err == nil {
				events := 0
				for _, err := range joined.Events(ctx) {
					if err != nil {
						if !errors.Is(err, tt.want) {
							t.Errorf("the events end with %v, want %v", err, tt.want)
						}
						break
					}
					if events++; events == tt.events && tt.name == "it is closed" {
						go joined.Close()
					}
				}
				if events != tt.events {
					t.Errorf("there are %d events, want %d", events, tt.events)
				}
				if err := joined.Close(); err != nil {
					t.Errorf("Close returns %v", err)
				}
			}
			select {
			case <-s.stopped:
			case <-ctx.Done():
				t.Error("after the end the view still reads")
			}
		})
	}
	if modes := []string{"a"}; !slices.Equal(newSession(nil, "", modes, "", nil).Modes(), modes) {
		t.Error("the modes are others")
	}
}
