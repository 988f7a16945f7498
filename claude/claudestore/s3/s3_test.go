package s3_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore/s3"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestMain removes all configuration of the caller that the AWS SDK could find.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{
		"HOME": os.DevNull, "USERPROFILE": os.DevNull, "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		os.Setenv(name, value)
	}
	e2e.VerifyMain(m)
}

// startServer runs an S3 server and returns the config of its bucket. wrap, unless nil,
// wraps its handler.
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
	return s3.Config{Endpoint: server.URL, Bucket: "agents", Prefix: "a/b", Client: server.Client(), AWS: &aws.Config{
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		},
	}}
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

// Stores of several machines behave like one.
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

// An append with a lost answer, or with temporary failures, is stored once, also without
// a uuid.
func TestLostAnswers(t *testing.T) {
	var calls atomic.Int32
	s := open(t, startServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/main/") {
				next.ServeHTTP(w, r)
				return
			}
			switch calls.Add(1) % 3 {
			case 1: // stored, but without an answer
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

// A transcript with more objects than one page of a listing.
func TestManyParts(t *testing.T) {
	cfg := startServer(t, nil)
	s := open(t, cfg)
	n := short.Count(60, 1100, 1100)
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
	cfg.AWS.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, failed })
	if _, err := s3.Open(t.Context(), cfg); !errors.Is(err, failed) {
		t.Errorf("credentials that cannot be had: %v", err)
	}
}

// signed returns the part of a request's signature that names the key and the region.
func signed(t *testing.T, cfg func(*s3.Config)) string {
	t.Helper()
	var scope atomic.Value
	c := startServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
			who, _, _ := strings.Cut(rest, ",")
			parts := strings.Split(who, "/")
			if len(parts) != 5 || r.Header.Get("X-Amz-Content-Sha256") == "UNSIGNED-PAYLOAD" {
				t.Errorf("signed with %q", r.Header)
				parts = make([]string, 5)
			}
			scope.Store(parts[0] + " " + parts[2] + " " + r.Header.Get("X-Amz-Security-Token"))
			next.ServeHTTP(w, r)
		})
	})
	cfg(&c)
	if err := appendOne(t, open(t, c), `{"n":1}`); err != nil {
		t.Fatal(err)
	}
	return scope.Load().(string)
}

// The credentials and the region come from the AWS SDK's default chain.
func TestCredentialChain(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	chain := func(c *s3.Config) { c.AWS = nil }
	t.Setenv("AWS_CONFIG_FILE", write("config", "[default]\nregion = eu-north-1\n[profile other]\nregion = ap-south-1\n"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key = x\n"+
		"[other]\naws_access_key_id = OTHER\naws_secret_access_key = x\naws_session_token = token\n"))
	if got := signed(t, chain); got != "FILE eu-north-1 " {
		t.Errorf("from files: %q", got)
	}
	t.Setenv("AWS_PROFILE", "other")
	if got := signed(t, chain); got != "OTHER ap-south-1 token" {
		t.Errorf("of a profile: %q", got)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "ENV")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	t.Setenv("AWS_REGION", "eu-west-3")
	if got := signed(t, chain); got != "ENV eu-west-3 " {
		t.Errorf("from the environment: %q", got)
	}
	if got := signed(t, func(c *s3.Config) { c.AWS, c.Region = nil, "sa-east-1" }); got != "ENV sa-east-1 " {
		t.Errorf("with a region: %q", got)
	}
	if got := signed(t, func(*s3.Config) {}); got != "id us-east-1 " {
		t.Errorf("with a config, nothing of the environment counts: %q", got)
	}
}

// A server that does not answer blocks a call only until its context ends.
func TestEndsWithContext(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	cfg := startServer(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		})
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s3.Open(ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that does not answer: %v", err)
	}
}

// An object is read again if its content breaks off.
func TestBrokenContent(t *testing.T) {
	var broken atomic.Int32
	s := open(t, startServer(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/main/") && broken.Add(1) == 1 {
				w.Header().Set("Content-Length", "100")
				fmt.Fprint(w, `{"n":`)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}))
	if err := appendOne(t, s, `{"n":1}`); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s); got != `{"n":1}` || broken.Load() != 2 {
		t.Errorf("loaded %s after %d requests", got, broken.Load())
	}
}
