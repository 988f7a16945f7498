package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/web"
)

func TestAuditMatches_time(t *testing.T) {
	row := api.AuditRow{TS: "2026-01-02T00:00:00Z"}
	for _, tt := range []struct {
		since, until string
		want         bool
	}{
		{"", "", true}, {row.TS, "", true}, {"2026-01-02T00:00:01Z", "", false}, {"2026-01-01T00:00:00Z", "", true},
		{"", row.TS, false}, {"", "2026-01-02T00:00:01Z", true}, {row.TS, row.TS, false},
	} {
		if got := auditMatches(row, api.AuditListParams{Since: tt.since, Until: tt.until}); got != tt.want {
			t.Errorf("since %q until %q: %v, want %v", tt.since, tt.until, got, tt.want)
		}
	}
}

// TestReadOn checks that a log that another server trimmed is restarted from its snapshot. Every other failure is returned.
func TestReadOn(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name            string
		reads           []error
		restore         error
		want            error
		wantR, wantRead int
	}{
		{"all is well", []error{nil}, broken, nil, 0, 1},
		{"broken", []error{broken}, nil, broken, 0, 1},
		{"trimmed", []error{fmt.Errorf("x: %w", eventlog.ErrTrimmed), nil}, nil, nil, 1, 2},
		{"trimmed and broken", []error{eventlog.ErrTrimmed, broken}, nil, broken, 1, 2},
		{"trimmed twice", []error{eventlog.ErrTrimmed, eventlog.ErrTrimmed}, nil, eventlog.ErrTrimmed, 1, 2},
		{"no snapshot", []error{eventlog.ErrTrimmed, nil}, broken, broken, 1, 1},
	} {
		reads, restores := 0, 0
		err := readOn(t.Context(), func(context.Context) error {
			reads++
			return tt.reads[reads-1]
		}, func(context.Context) error {
			restores++
			return tt.restore
		})
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) || reads != tt.wantRead || restores != tt.wantR {
			t.Errorf("%s: %v after %d reads and %d restores, want %v after %d and %d", tt.name, err, reads, restores, tt.want, tt.wantRead, tt.wantR)
		}
	}
}

// TestPrivateDir checks that only the owner can access the data directory, and that an invalid one is an error.
func TestPrivateDir(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	writeFile(t, file, "x")
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{"": false, file: false, filepath.Join(file, "below"): false, open: true, filepath.Join(dir, "a", "b"): true} {
		err := privateDir(path)
		if (err == nil) != ok {
			t.Errorf("privateDir(%q) = %v, want it to work: %v", path, err, ok)
		}
		if info, serr := os.Stat(path); ok && (serr != nil || info.Mode() != fs.ModeDir|0o700) {
			t.Errorf("%q is %v, %v", path, info.Mode(), serr)
		}
	}
}

// TestBackup_access checks that only an admin gets a backup. The page and its worker have a policy.
func TestBackup_access(t *testing.T) {
	h := newHarness(t)
	get := func(path, token string) (int, http.Header, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		status, header, body := h.do(req)
		return status, header, string(body)
	}
	create := func(p api.TokensCreateParams) string {
		t.Helper()
		var tk api.TokensCreateResult
		h.call("tokens.create", p, &tk)
		return tk.Token
	}
	for name, tt := range map[string]struct {
		token string
		want  int
	}{
		"the owner":   {h.token, http.StatusOK},
		"an admin":    {create(api.TokensCreateParams{Role: "admin"}), http.StatusOK},
		"an operator": {create(api.TokensCreateParams{Role: "operator"}), http.StatusForbidden},
		"a viewer":    {create(api.TokensCreateParams{Role: "viewer"}), http.StatusForbidden},
		"a tenant":    {create(api.TokensCreateParams{Role: "operator", Tenant: "acme"}), http.StatusForbidden},
		"nobody":      {"none", http.StatusUnauthorized},
	} {
		if status, _, body := get("/v1/backup", tt.token); status != tt.want {
			t.Errorf("%s: status %d, want %d: %.200s", name, status, tt.want, body)
		}
	}
	page, worker := "", ""
	_, header, _ := get("/", h.token)
	page = header.Get("Content-Security-Policy")
	_, header, _ = get("/"+web.Worker, h.token)
	worker = header.Get("Content-Security-Policy")
	if page == worker || worker != workerPolicy || !strings.Contains(page, "default-src") {
		t.Errorf("the policy of the page is %q, that of the worker %q, want %q", page, worker, workerPolicy)
	}
}

// TestTokens_unsaved checks that a change of the tokens that cannot be stored is an error: no token is created, but tokens end.
func TestTokens_unsaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tk, err := openTokens(filepath.Join(dir, tokensName))
	if err != nil {
		t.Fatal(err)
	}
	kept, value, err := tk.create(token{Name: "kept", Role: "viewer", Session: "s-1"}, 0)
	if err != nil || value == "" {
		t.Fatalf("create = %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, value, err := tk.create(token{Name: "new", Role: "admin"}, 0); err == nil || value != "" {
		t.Errorf("create = %q, %v, want an error", value, err)
	}
	if err := tk.revoke(kept.ID); err == nil {
		t.Error("revoke succeeds")
	}
	if err := tk.forget("s-1"); err == nil {
		t.Error("forget succeeds")
	}
	if err := tk.forget("s-2"); err != nil {
		t.Errorf("forget of nothing: %v", err)
	}
	if err := tk.revoke("none"); session.FailureOf(err).Reason != api.Conflict {
		t.Errorf("revoke of nothing: %v, want a refusal", err)
	}
	if len(tk.all) != 0 {
		t.Errorf("the tokens are %+v, want none", tk.all)
	}
}

// TestReadTokens checks the result for a missing file, a file with its mode, and something that is not a file.
func TestReadTokens(t *testing.T) {
	dir := t.TempDir()
	if f, err := ReadTokens(dir); err != nil || f != (TokenFile{}) {
		t.Errorf("without a file: %+v, %v", f, err)
	}
	path := filepath.Join(dir, tokensName)
	tk, err := openTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []token{{Name: "a", Role: "viewer"}, {Name: "b", Role: "viewer", Expires: time.Now().Add(time.Hour)}} {
		if _, _, err := tk.create(one, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := tk.save(append(tk.all, token{ID: "old", Hash: "x", Expires: time.Unix(1, 0)})); err != nil {
		t.Fatal(err)
	}
	if f, err := ReadTokens(dir); err != nil || f.Path != path || f.Valid != 2 || f.Expired != 1 || f.Mode.Perm()&0o077 != 0 {
		t.Errorf("with a file: %+v, %v", f, err)
	}
	for name, make := range map[string]func() error{
		"a directory": func() error { return os.Mkdir(path, 0o700) },
		"no JSON":     func() error { return os.WriteFile(path, []byte("x"), 0o600) },
		"a link":      func() error { return os.Symlink(filepath.Join(dir, "elsewhere"), path) },
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if f, err := ReadTokens(dir); err == nil || f != (TokenFile{}) {
			t.Errorf("%s: %+v, %v, want an error", name, f, err)
		}
	}
}
