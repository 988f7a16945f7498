package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestBody checks that a body is accepted completely or not at all, with a known and an unknown
// length.
func TestBody(t *testing.T) {
	large := `"` + strings.Repeat("x", 2*smallBody) + `"`
	for name, tt := range map[string]struct {
		text   string
		breaks bool // the connection fails after the text
		length int64
		max    int64
		status int // 0 if the body is accepted
	}{
		"small":                          {text: `{}`, length: 2, max: 2},
		"empty":                          {max: 1},
		"of unknown length":              {text: `{}`, length: -1, max: 2},
		"large":                          {text: large, length: int64(len(large)), max: int64(len(large))},
		"large, of unknown length":       {text: large, length: -1, max: int64(len(large))},
		"too long":                       {text: `{}`, length: 2, max: 1, status: http.StatusRequestEntityTooLarge},
		"too long, of unknown length":    {text: `{}`, length: -1, max: 1, status: http.StatusRequestEntityTooLarge},
		"cut off":                        {text: `{}`, breaks: true, length: 3, max: 9, status: http.StatusRequestTimeout},
		"cut off, of unknown length":     {text: `{}`, breaks: true, length: -1, max: 9, status: http.StatusRequestTimeout},
		"large, cut off at the end":      {text: large, breaks: true, length: int64(len(large)) + 1, max: 1 << 30, status: http.StatusRequestTimeout},
		"large, cut off in its first kB": {text: large[:smallBody-1], breaks: true, length: int64(len(large)), max: 1 << 30, status: http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			var in io.Reader = strings.NewReader(tt.text)
			if tt.breaks {
				in = io.MultiReader(in, iotest.ErrReader(errors.New("reset")))
			}
			r := httptest.NewRequest(http.MethodPost, "/", in)
			r.ContentLength = tt.length
			r.Header.Set("Content-Type", "application/json")
			got, err := (&Server{}).body(httptest.NewRecorder(), r, tt.max)
			if tt.status == 0 {
				if err != nil || string(got) != tt.text {
					t.Errorf("the body has %d bytes, %v, want %d", len(got), err, len(tt.text))
				}
				return
			}
			var failed *httpError
			if !errors.As(err, &failed) || failed.status != tt.status || len(got) != 0 {
				t.Errorf("the body has %d bytes, and the error is %v, want none and the status %d", len(got), err, tt.status)
			}
		})
	}
}

// deadlines is a writer that reports its write deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	set chan time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set <- at
	return nil
}

// TestHold checks that a response has little time left when its token ends, and keeps its time when it is
// released.
func TestHold(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(cancel context.CancelCauseFunc, release func())
		ends bool // waiting writes get a near deadline
	}{
		"the token ends":    {func(cancel context.CancelCauseFunc, _ func()) { cancel(errToken) }, true},
		"the client leaves": {func(cancel context.CancelCauseFunc, _ func()) { cancel(nil) }, false},
		"released":          {func(_ context.CancelCauseFunc, release func()) { release() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := &deadlines{httptest.NewRecorder(), make(chan time.Time, 10)}
			s := &Server{tokens: newTokens("")}
			s.tokens.set([]token{{ID: "t"}})
			out := &response{ResponseWriter: d, rc: http.NewResponseController(d), timeout: time.Hour}
			ctx, cancel := context.WithCancelCause(t.Context())
			held, release := s.hold(out, httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx), &caller{principal: &principal{id: "t"}})
			tt.end(cancel, release)
			<-held.Done()
			if tt.ends {
				select {
				case at := <-d.set:
					if left := time.Until(at); left > closeTimeout {
						t.Errorf("the response has %v, want at most %v", left, closeTimeout)
					}
				case <-time.After(10 * time.Second):
					t.Error("the response keeps its time, want it to end with the token")
				}
			}
			release()
			out.arm()
			if left := time.Until(<-d.set); !tt.ends && left < closeTimeout {
				t.Errorf("the next write has %v, want the time of a write", left)
			}
			if len(s.tokens.held) != 0 {
				t.Error("a released response is still held")
			}
			plain, letGo := s.hold(d, httptest.NewRequest(http.MethodGet, "/", nil), &caller{principal: &principal{id: "t"}})
			if letGo(); plain.Err() == nil || len(s.tokens.held) != 0 {
				t.Error("a response without time limits is still held")
			}
		})
	}
}
