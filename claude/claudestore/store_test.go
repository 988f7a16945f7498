package claudestore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/claudetest"
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

// Two stores on one directory behave like one.
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

// A writer that dies in the middle of a line leaves no partial entry.
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

// A transcript that another program truncated continues at its end, and the removed entries can be
// appended again.
func TestDirShortened(t *testing.T) {
	root := t.TempDir()
	d := newDir(t, root)
	if err := d.Append(t.Context(), key, []json.RawMessage{entry("1"), entry("2")}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, "-w", "s.jsonl"), int64(len(entry("1"))+1)); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(t.Context(), key, []json.RawMessage{entry("2"), entry("1"), entry("3")}); err != nil {
		t.Fatal(err)
	}
	if got := load(t, d); got != `{"uuid":"1"}{"uuid":"2"}{"uuid":"3"}` {
		t.Errorf("loaded %q", got)
	}
	// A longer file replaces the transcript.
	other, path := filepath.Join(root, "other"), filepath.Join(root, "-w", "s.jsonl")
	if err := os.WriteFile(other, []byte(`{"uuid":"a name that is longer than all the others together"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(t.Context(), key, []json.RawMessage{entry("1")}); err != nil {
		t.Fatal(err)
	}
	if got := load(t, d); got != `{"uuid":"a name that is longer than all the others together"}{"uuid":"1"}` {
		t.Errorf("after the file was replaced: %q", got)
	}
}

// The entries of a failed append can be appended again.
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

// A deleted session leaves no summary for a new one with the same id, and failing to remove a
// summary is an error.
func TestDelete_summary(t *testing.T) {
	said := func(text string) []json.RawMessage {
		return []json.RawMessage{json.RawMessage(`{"type":"user","message":{"role":"user","content":"` + text + `"}}`)}
	}
	root := t.TempDir()
	d := newDir(t, root)
	for name, s := range map[string]interface {
		claude.SessionStore
		claude.SessionDeleter
		claude.SummaryLister
	}{"memory": claudestore.NewMemory(), "directory": d} {
		for _, text := range []string{"first", "second"} {
			if err := s.Append(t.Context(), key, said(text)); err != nil {
				t.Fatal(err)
			}
			list, err := s.ListSummaries(t.Context(), key.ProjectKey)
			if err != nil || len(list) != 1 || !strings.Contains(string(list[0].Data), `"`+text+`"`) {
				t.Errorf("%s: the summaries are %+v, %v", name, list, err)
			}
			if err := s.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "-w", "s.summary", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(t.Context(), key); err == nil {
		t.Error("a summary that cannot be removed is passed over")
	}
}

// A missing or invalid summary is rebuilt from the whole transcript. Its time is not before that of
// the transcript, or it would look outdated.
func TestDirSummary(t *testing.T) {
	root := t.TempDir()
	d := newDir(t, root)
	path := filepath.Join(root, "-w", "s.summary")
	for i, spoil := range []func() error{
		func() error { return nil },
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path, []byte("{"), 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		prompt := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"prompt %d"}}`, i)
		if err := d.Append(t.Context(), key, []json.RawMessage{json.RawMessage(prompt)}); err != nil {
			t.Fatal(err)
		}
		list, err := d.ListSummaries(t.Context(), key.ProjectKey)
		if err != nil || len(list) != 1 || !strings.Contains(string(list[0].Data), `"prompt 0"`) {
			t.Fatalf("%d: the summaries are %+v, %v", i, list, err)
		}
		sessions, err := d.ListSessions(t.Context(), key.ProjectKey)
		if err != nil || len(sessions) != 1 || list[0].ModTime.Before(sessions[0].ModTime) {
			t.Errorf("%d: the summary is of %v, the sessions are %+v, %v", i, list[0].ModTime, sessions, err)
		}
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

func TestInvalidKeys(t *testing.T) {
	root := t.TempDir()
	for _, s := range []claude.SessionStore{claudestore.NewMemory(), newDir(t, filepath.Join(root, "store"))} {
		for _, k := range []claude.SessionKey{
			{}, {ProjectKey: "p"}, {ProjectKey: "..", SessionID: "x"}, {ProjectKey: "p", SessionID: "../../../x"},
			{ProjectKey: "p", SessionID: "s", Subpath: "../../../../x"}, {ProjectKey: "p", SessionID: "s", Subpath: "/x"},
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
