package claudestore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudestore"
	"github.com/seed7221b0f9/parley/claudetest"
)

func TestMemory(t *testing.T) {
	claudetest.TestSessionStore(t, func(*testing.T) claude.SessionStore { return claudestore.NewMemory() })
}

func newDir(t *testing.T, root string) *claudestore.Dir {
	t.Helper()
	d, err := claudestore.NewDir(root)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDir(t *testing.T) {
	claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore { return newDir(t, t.TempDir()) })
}

// Two stores on one directory are as good as one.
func TestDirShared(t *testing.T) {
	claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore {
		root := t.TempDir()
		return claudetest.AlternateStores(newDir(t, root), newDir(t, root))
	})
}

var key = claude.SessionKey{ProjectKey: "-w", SessionID: "s"}

func entry(uuid string) json.RawMessage { return json.RawMessage(`{"uuid":"` + uuid + `"}`) }

func load(t *testing.T, s claude.SessionStore) (text string) {
	t.Helper()
	entries, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text += string(e)
	}
	return text
}

// A writer that died in the middle of a line leaves no half entry.
func TestDirTornTail(t *testing.T) {
	root := t.TempDir()
	d := newDir(t, root)
	if err := d.Append(t.Context(), key, []json.RawMessage{entry("1")}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(root, "-w", "s.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"uuid":"2`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got := load(t, d); got != `{"uuid":"1"}` {
		t.Errorf("loaded %s", got)
	}
	for _, d := range []*claudestore.Dir{d, newDir(t, root)} {
		if err := d.Append(t.Context(), key, []json.RawMessage{entry("2")}); err != nil {
			t.Fatal(err)
		}
		if got := load(t, d); got != `{"uuid":"1"}{"uuid":"2"}` {
			t.Errorf("loaded %s", got)
		}
	}
}

// What an append that failed was to write can be appended again.
func TestDirFailedAppend(t *testing.T) {
	d := newDir(t, t.TempDir())
	if err := d.Append(t.Context(), key, []json.RawMessage{entry("1"), json.RawMessage("{")}); err == nil {
		t.Error("an entry that is not JSON was stored")
	}
	for range 2 {
		if err := d.Append(t.Context(), key, []json.RawMessage{entry("1")}); err != nil {
			t.Fatal(err)
		}
	}
	if got := load(t, d); got != `{"uuid":"1"}` {
		t.Errorf("loaded %s", got)
	}
}

func TestDirModes(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	d := newDir(t, root)
	sub := key
	sub.Subpath = "subagents/agent-1"
	for _, k := range []claude.SessionKey{key, sub} {
		if err := d.Append(t.Context(), k, []json.RawMessage{entry("1")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Claim(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if err == nil && info.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestKeysThatLeave(t *testing.T) {
	root := t.TempDir()
	for _, s := range []claude.SessionStore{claudestore.NewMemory(), newDir(t, filepath.Join(root, "store"))} {
		for _, k := range []claude.SessionKey{
			{}, {ProjectKey: "p"}, {ProjectKey: "..", SessionID: "x"}, {ProjectKey: "p", SessionID: "../../x"},
			{ProjectKey: "p", SessionID: "s", Subpath: "../../../x"}, {ProjectKey: "p", SessionID: "s", Subpath: "/x"},
			{ProjectKey: "p", SessionID: "s", Subpath: "a//b"}, {ProjectKey: "p", SessionID: "s", Subpath: `a\b`},
			{ProjectKey: "p", SessionID: "s", Subpath: "a\x00"}, {ProjectKey: "p", SessionID: "s", Subpath: "C:x"},
		} {
			if err := s.Append(t.Context(), k, []json.RawMessage{entry("1")}); err == nil {
				t.Errorf("%T takes %+v", s, k)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 1 {
		t.Errorf("something was written outside: %v", left)
	}
}
