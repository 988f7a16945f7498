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

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestBody checks that a body is taken completely or not at all, whether or not its length is known.
func TestBody(t *testing.T) {
	large := `"` + strings.Repeat("x", 2*smallBody) + `"`
	for name, tt := range map[string]struct {
		text   string
		breaks bool // the connection fails after the text
		length int64
		max    int64
		status int // 0 if the body is taken
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

// TestReadLines checks which lines of a file are read.
func TestReadLines(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		text   string
		r      *api.LineRange
		want   string
		end    int64 // of the range
		breaks bool  // the file cannot be read after the text
		fails  bool
		reason api.Reason
	}{
		"all":                      {text: "a\nb\n", want: "a\nb\n", end: 2},
		"some":                     {text: "a\nb\nc\n", r: &api.LineRange{Start: 2, End: 2}, want: "b\n", end: 2},
		"without an end of line":   {text: "a\nb", r: &api.LineRange{Start: 2, End: 9}, want: "b", end: 2},
		"behind the end":           {text: "a\nb\n", r: &api.LineRange{Start: 4, End: 9}, end: 3},
		"right behind the end":     {text: "a\nb\n", r: &api.LineRange{Start: 3, End: 9}, end: 2},
		"of an empty file":         {end: 0},
		"from 0":                   {text: "a\n", r: &api.LineRange{Start: 0, End: 1}, fails: true, reason: api.InvalidParams},
		"backwards":                {text: "a\n", r: &api.LineRange{Start: 2, End: 1}, fails: true, reason: api.InvalidParams},
		"a broken file":            {text: "a\n", breaks: true, fails: true},
		"a broken file, before it": {text: "a\n", r: &api.LineRange{Start: 3, End: 4}, breaks: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			var in io.Reader = strings.NewReader(tt.text)
			if tt.breaks {
				in = io.MultiReader(in, iotest.ErrReader(broken))
			}
			got, err := readLines(in, api.FilesReadParams{Path: "p", Range: tt.r})
			if tt.fails {
				if tt.reason != "" && session.FailureOf(err).Reason != tt.reason || tt.breaks && !errors.Is(err, broken) || got.Text != "" {
					t.Errorf("the text is %q and the error %v, want no text and an error", got.Text, err)
				}
				return
			}
			start := int64(1)
			if tt.r != nil {
				start = tt.r.Start
			}
			if err != nil || got.Text != tt.want || got.Range.Start != start || got.Range.End != tt.end || got.Path != "p" {
				t.Errorf("lines %+v of %q are %q, %v, want %d to %d: %q", got.Range, got.Path, got.Text, err, start, tt.end, tt.want)
			}
		})
	}
}

// deadlines is a writer that reports the time limits of writes.
type deadlines struct {
	*httptest.ResponseRecorder
	set chan time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set <- at
	return nil
}

// TestHold checks that a response whose token ends has little time left, and one that is released keeps its time.
func TestHold(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(cancel context.CancelCauseFunc, release func())
		ends bool // writes that wait
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
