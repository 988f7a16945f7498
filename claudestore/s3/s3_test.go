package s3_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudestore/s3"
	"github.com/seed7221b0f9/parley/claudetest"
	"github.com/seed7221b0f9/parley/internal/e2e"
)

func TestMain(m *testing.M) { e2e.VerifyMain(m) }

// startServer runs an S3 server of its own and returns how its bucket is opened.
// wrap, unless nil, stands before it.
func startServer(t *testing.T, wrap func(http.Handler) http.Handler) s3.Config {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("agents"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return s3.Config{Endpoint: server.URL, Bucket: "agents", Prefix: "a/b", Client: server.Client(),
		Credentials: s3.Credentials{AccessKey: "id", SecretKey: "secret"}}
}

func open(t *testing.T, cfg s3.Config) *s3.Store {
	t.Helper()
	s, err := s3.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore { return open(t, startServer(t, nil)) })
}

// Stores of several machines are as good as one.
func TestShared(t *testing.T) {
	claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore {
		cfg := startServer(t, nil)
		return claudetest.AlternateStores(open(t, cfg), open(t, cfg), open(t, cfg))
	})
}

var key = claude.SessionKey{ProjectKey: "-w", SessionID: "s"}

func appendOne(t *testing.T, s claude.SessionStore, text string) error {
	return s.Append(t.Context(), key, []json.RawMessage{json.RawMessage(text)})
}

func load(t *testing.T, s claude.SessionStore) string {
	t.Helper()
	entries, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(func() (b [][]byte) {
		for _, e := range entries {
			b = append(b, e)
		}
		return b
	}(), nil))
}

// An append whose answer is lost, or that fails for a while, is there once, also
// without a uuid.
func TestLostAnswers(t *testing.T) {
	var calls atomic.Int32
	s := open(t, startServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/main/") {
				next.ServeHTTP(w, r)
				return
			}
			switch calls.Add(1) % 3 {
			case 1: // done, but nobody is told
				next.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			case 2:
				http.Error(w, "", http.StatusServiceUnavailable)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}))
	want := ""
	for i := range 5 {
		text := fmt.Sprintf(`{"n":%d}`, i)
		want += text
		if err := appendOne(t, s, text); err != nil {
			t.Fatal(err)
		}
	}
	if got := load(t, s); got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
}

// More objects than one page of a listing has.
func TestManyParts(t *testing.T) {
	cfg := startServer(t, nil)
	s := open(t, cfg)
	const n = 1100
	var want strings.Builder
	for i := range n {
		text := fmt.Sprintf(`{"n":%d}`, i)
		want.WriteString(text)
		if err := appendOne(t, s, text); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, cfg)
	if err := appendOne(t, again, `{"last":1}`); err != nil {
		t.Fatal(err)
	}
	if got := load(t, again); got != want.String()+`{"last":1}` {
		t.Errorf("loaded %d bytes, want %d", len(got), want.Len())
	}
}

func TestOpenRefuses(t *testing.T) {
	cfg := startServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-None-Match")
			next.ServeHTTP(w, r)
		})
	})
	if _, err := s3.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("a server without conditional writes: %v", err)
	}
	cfg = startServer(t, nil)
	cfg.Bucket = "none"
	_, err := s3.Open(t.Context(), cfg)
	if e, ok := errors.AsType[*s3.Error](err); !ok || e.Code != "NoSuchBucket" {
		t.Errorf("a bucket that is not there: %v", err)
	}
	cfg.Endpoint = "nowhere"
	if _, err := s3.Open(t.Context(), cfg); err == nil {
		t.Error("an endpoint that is no URL is taken")
	}
	failed := errors.New("no credentials")
	cfg = startServer(t, nil)
	cfg.Renew = func(context.Context) (s3.Credentials, error) { return s3.Credentials{}, failed }
	if _, err := s3.Open(t.Context(), cfg); !errors.Is(err, failed) {
		t.Errorf("credentials that cannot be had: %v", err)
	}
}
