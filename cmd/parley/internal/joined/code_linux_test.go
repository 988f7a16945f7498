package joined

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/workspace"
)

const (
	goodCode = "abcdefghijklmnopqrst_-"
	badCode  = "ABCDEFGHIJKLMNOPQRST_-"
)

// terminal returns a terminal with typed text.
func terminal(t *testing.T, text string) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { must(t, screen.Close()) })
	var number, unlocked int32
	for request, at := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			t.Fatal(errno)
		}
	}
	in, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { must(t, in.Close()) })
	_, err = io.WriteString(screen, text)
	must(t, err)
	return in
}

// piped returns a standard input that contains a text.
func piped(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	_, err = io.WriteString(w, text)
	must(t, errors.Join(err, w.Close()))
	return r
}

// pairing is a server that exchanges goodCode for a token, and counts the codes that it receives.
func pairing(t *testing.T) (address string, codes *[]string) {
	t.Helper()
	codes = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Code string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != join.PairPath {
			t.Errorf("the server gets %s, %v", r.URL, err)
		}
		if *codes = append(*codes, body.Code); body.Code != goodCode {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"token":"of the code"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, codes
}

// A token is read from the file, the environment or the input. A code is exchanged for a token,
// which is saved and used again at the next start.
func TestSettings_credential(t *testing.T) {
	address, codes := pairing(t)
	for name, tt := range map[string]struct {
		file, env, piped, typed, saved string
		token                          string // "" for an error
		kept                           bool
		after                          string // the saved token afterwards
		codes                          int
	}{
		"a file":                              {file: "from the file\n", env: "not this", piped: "nor this\n", token: "from the file"},
		"the environment":                     {env: " from it ", piped: "not this\n", token: "from it"},
		"a line":                              {piped: "from a line\nnot this\n", token: "from a line"},
		"a line without an end":               {piped: "from a line", token: "from a line"},
		"a code in a file":                    {file: goodCode, token: "of the code", kept: true, after: "of the code\n", codes: 1},
		"a code in the environment":           {env: goodCode, token: "of the code", kept: true, after: "of the code\n", codes: 1},
		"a code in a line":                    {piped: goodCode + "\n", token: "of the code", kept: true, after: "of the code\n", codes: 1},
		"another code replaces a saved token": {piped: goodCode + "\n", saved: "old", token: "of the code", kept: true, after: "of the code\n", codes: 1},
		"a code that is refused":              {piped: badCode + "\n", codes: 1},
		"nothing":                             {},
		"nothing, and a saved token":          {saved: "kept\n", token: "kept", kept: true, after: "kept\n"},
		"an empty file, and a saved token":    {file: " \n", saved: "kept\n", after: "kept\n"},
		"no token, and a saved one":           {env: " ", saved: "kept\n", after: "kept\n"},
		"a person types a code":               {typed: goodCode + "\n", token: "of the code", kept: true, after: "of the code\n", codes: 1},
		"a person types a token":              {typed: "a token\n", token: "a token"},
		"a person types a code in vain":       {typed: badCode + "\n", codes: 1},
		"a person, and a saved token":         {typed: goodCode + "\n", saved: " kept \n", token: "kept", kept: true, after: " kept \n"},
		"a person, and a token in the file":   {typed: goodCode + "\n", file: "from the file", saved: "kept", token: "from the file", after: "kept"},
		"a person, and one in the variable":   {typed: goodCode + "\n", env: "from it", saved: "kept", token: "from it", after: "kept"},
	} {
		t.Run(name, func(t *testing.T) {
			*codes = nil
			dir, f := filepath.Join(t.TempDir(), "host"), Settings{}
			if tt.file != "" {
				f.tokenFile = filepath.Join(t.TempDir(), "file")
				must(t, os.WriteFile(f.tokenFile, []byte(tt.file), 0o600))
			}
			if tt.saved != "" {
				must(t, keepToken(dir, strings.TrimSuffix(tt.saved, "\n")))
				must(t, os.WriteFile(filepath.Join(dir, savedToken), []byte(tt.saved), 0o600))
			}
			t.Setenv(tokenVariable, tt.env)
			in := piped(t, tt.piped)
			if tt.typed != "" {
				in = terminal(t, tt.typed)
			}
			var out bytes.Buffer
			token, kept, err := f.credential(t.Context(), address, dir, in, &out)
			if token != tt.token || kept != tt.kept || (err == nil) != (tt.token != "") {
				t.Errorf("the token is %q, kept %v, %v, want %q, kept %v", token, kept, err, tt.token, tt.kept)
			}
			if asked := strings.Contains(out.String(), address); asked != (tt.typed != "" && tt.saved == "" && tt.file == "" && tt.env == "") {
				t.Errorf("it asks for a code: %v", asked)
			}
			if len(*codes) != tt.codes {
				t.Errorf("the server got the codes %q, want %d", *codes, tt.codes)
			}
			path := filepath.Join(dir, savedToken)
			text, err := os.ReadFile(path)
			if string(text) != tt.after || (err == nil) != (tt.after != "") {
				t.Errorf("saved is %q, %v, want %q", text, err, tt.after)
			}
			if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("the saved token has the mode %v, want 0600", info.Mode())
			}
			if names, _ := os.ReadDir(dir); len(names) > 1 {
				t.Errorf("there are also other files: %v", names)
			}
		})
	}
}

// A saved token that others can read, and one that cannot be written, is an error. No other file is
// left.
func TestSettings_credentialFails(t *testing.T) {
	address, _ := pairing(t)
	t.Setenv(tokenVariable, "")
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, savedToken), []byte("kept"), 0o644))
	f := Settings{}
	if token, _, err := f.credential(t.Context(), address, dir, terminal(t, goodCode+"\n"), io.Discard); token != "" || err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a saved token that others can read: %q, %v, want an error", token, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if token, _, err := f.credential(ctx, address, t.TempDir(), terminal(t, ""), io.Discard); token != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("a person who goes away: %q, %v, want %v", token, err, context.Canceled)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(blocked, nil, 0o600))
	if err := keepToken(filepath.Join(blocked, "below"), "t"); err == nil {
		t.Error("a directory that cannot be made is no error")
	}
	dir = t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, savedToken, "below"), 0o700))
	if err := keepToken(dir, "t"); err == nil {
		t.Error("a token that cannot be saved is no error")
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("a failed save leaves %v, want the directory that was there", names)
	}
}

// A saved token that the server refuses is removed; any other failure leaves it.
func TestForgetToken(t *testing.T) {
	for status, forgets := range map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusServiceUnavailable: false} {
		dir := t.TempDir()
		must(t, keepToken(dir, "t"))
		refused := fmt.Errorf("dialing: %w", &join.StatusError{Status: status})
		err := forgetToken(dir, refused)
		if !errors.Is(err, refused) || strings.Contains(err.Error(), "removed") != forgets {
			t.Errorf("status %d: %v, want the refusal", status, err)
		}
		if _, err := os.Stat(filepath.Join(dir, savedToken)); errors.Is(err, fs.ErrNotExist) != forgets {
			t.Errorf("status %d: the saved token: %v, want it removed: %v", status, err, forgets)
		}
	}
	dir := t.TempDir()
	if err := forgetToken(dir, nil); err != nil {
		t.Errorf("without a failure: %v", err)
	}
	refused := &join.StatusError{Status: http.StatusForbidden}
	if err := forgetToken(dir, refused); !errors.Is(err, refused) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a token that is gone: %v, want both errors", err)
	}
}

// The files of a machine are opened at the first call, once, and again after Close. If opening
// fails, the next call tries again.
func TestPolicy_files(t *testing.T) {
	opened, failed := 0, error(nil)
	at := newMachine(t, func(o *Options) {
		open := o.Worktrees
		o.Worktrees = func(ctx context.Context) (*workspace.Manager, error) {
			if opened++; failed != nil {
				return nil, failed
			}
			return open(ctx)
		}
	})
	failed = errors.New("another process has it")
	if _, err := at.Call(t.Context(), "files.list", nil); !errors.Is(err, failed) {
		t.Errorf("a directory that cannot be opened: %v, want %v", err, failed)
	}
	if _, err := at.launch("claude", at.root+"/offered", ``); !errors.Is(err, failed) || len(at.started) > 0 {
		t.Errorf("a start then: %v, want %v", err, failed)
	}
	must(t, at.Close())
	failed = nil
	for range 2 {
		local, err := at.files.get(t.Context())
		if err != nil || !local.Confined || fmt.Sprint(local.Roots) != fmt.Sprint(at.Dirs()) || len(local.Agents) != 1 || local.Manager == nil {
			t.Fatalf("the files are %+v, %v, want those of the machine, confined", local, err)
		}
	}
	if opened != 3 {
		t.Errorf("opened %d times, want twice in vain and once", opened)
	}
	if _, err := at.Call(t.Context(), "no.such.method", nil); err == nil {
		t.Error("an unknown method is no error")
	}
	must(t, at.Close())
	if _, err := at.files.get(t.Context()); err != nil || opened != 4 {
		t.Errorf("after Close it was opened %d times, %v, want again", opened, err)
	}
	o := GitOptions("/data", []string{"A=b"}, []string{"/x/offered", "/y"}, []string{"hash"}, discard)
	if o.Dir != "/data/workspaces" || fmt.Sprint(o.Env) != "[A=b]" || fmt.Sprint(o.Ceilings) != "[/x /]" || o.Logger != discard || o.Trust == nil {
		t.Errorf("the options of git are %+v", o)
	}
}
