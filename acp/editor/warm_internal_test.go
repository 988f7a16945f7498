package editor

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
)

// spare is a session that counts how often it was closed.
type spare struct {
	agent.Session
	closed int
}

func (s *spare) Close() error {
	s.closed++
	return nil
}

// A session that was opened in advance is used once, for a request with its directory and no other
// settings. Other requests do not affect it.
func TestTakeWarm(t *testing.T) {
	for name, tt := range map[string]struct {
		request sessionRequest
		fits    bool
	}{
		"its directory":     {sessionRequest{cwd: "/d"}, true},
		"written otherwise": {sessionRequest{cwd: "/d/./x/.."}, true},
		"another directory": {sessionRequest{cwd: "/e"}, false},
		"a tool server":     {sessionRequest{cwd: "/d", servers: make([]acp.MCPServer, 1)}, false},
		"more directories":  {sessionRequest{cwd: "/d", directories: []string{"/e"}}, false},
		"a system prompt":   {sessionRequest{cwd: "/d", prompt: acp.Some(acp.SystemPrompt{})}, false},
		"more about it":     {sessionRequest{cwd: "/d", meta: map[string]json.RawMessage{"a": nil}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			live := &spare{}
			w := &warm{dir: "/d", ready: make(chan struct{}), live: live, stop: func() {}}
			close(w.ready)
			s := &server{warm: w}
			got, err := s.takeWarm(t.Context(), &tt.request)
			if err != nil || (got == w) != tt.fits || (s.warm == nil) != tt.fits {
				t.Errorf("the request has %v, %v, and it is kept: %v, want it given: %v", got, err, s.warm != nil, tt.fits)
			}
			if live.closed != 0 {
				t.Error("the session was closed")
			}
			if tt.fits {
				if again, err := s.takeWarm(t.Context(), &tt.request); again != nil || err != nil {
					t.Errorf("the next request has %v, %v, want nothing", again, err)
				}
			}
		})
	}
}

// An unused session that was opened in advance is closed, even if its request ends before it is
// open. A session that failed to open is ignored.
func TestTakeWarm_ends(t *testing.T) {
	live, stopped := &spare{}, false
	w := &warm{dir: "/d", ready: make(chan struct{}), live: live, stop: func() { stopped = true }}
	s := &server{warm: w}
	why := errors.New("the client has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if got, err := s.takeWarm(ctx, &sessionRequest{cwd: "/d"}); got != nil || !errors.Is(err, why) {
		t.Errorf("the request has %v, %v, want %v", got, err, why)
	}
	close(w.ready)
	s.work.Wait()
	if !stopped || live.closed != 1 {
		t.Errorf("the start was stopped: %v, the session was closed %d times, want once", stopped, live.closed)
	}
	failed := &warm{dir: "/d", ready: make(chan struct{}), err: errors.New("no"), stop: func() {}}
	close(failed.ready)
	s.warm = failed
	if got, err := s.takeWarm(t.Context(), &sessionRequest{cwd: "/d"}); got != nil || err != nil {
		t.Errorf("one that could not be opened: %v, %v, want neither", got, err)
	}
	failed.close()
}
