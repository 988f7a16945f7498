package transcript_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/transcript"
)

// words are titles and tags that a user might choose.
var words = []string{
	"plain", "  trimmed  ", `"quoted" \ and <tag> & more`, "日本語のタイトル", "👩‍👩‍👧 family", "ｆｕｌｌｗｉｄｔｈ ①",
	"e\u0301 combined", "zero\u200bwidth\u200djoin", "private\ue000use", "right\u202eto left", "line\nfeed",
}

// TestChangesAreRead changes a session with this package and reads it with the official SDK, then
// the other way round. Both must return the same and write the same lines.
func TestChangesAreRead(t *testing.T) {
	o := startOfficial(t)
	id := putSession(t, o.config)
	dir := transcript.Open(o.config)
	for _, word := range words {
		o.must(nil, "renameSession", id, word)
		o.must(nil, "tagSession", id, word)
		theirs := lastLines(t, dir, id, 2)
		compareInfo(t, o, dir, id)
		o.must(nil, "tagSession", id, nil)
		compareInfo(t, o, dir, id)

		if err := dir.Rename(t.Context(), id, word, nil); err != nil {
			t.Fatal(err)
		}
		if err := dir.Tag(t.Context(), id, word, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(theirs, lastLines(t, dir, id, 2)); diff != "" {
			t.Errorf("%q is written in another way (-official +ours):\n%s", word, diff)
		}
		compareInfo(t, o, dir, id)
		if err := dir.Tag(t.Context(), id, "", nil); err != nil {
			t.Fatal(err)
		}
		compareInfo(t, o, dir, id)
	}
	for _, bad := range []string{"", "  "} {
		if o.ask(nil, "renameSession", id, bad) == nil || dir.Rename(t.Context(), id, bad, nil) == nil {
			t.Errorf("the title %q is taken", bad)
		}
	}
	if o.ask(nil, "tagSession", id, "\u200b") == nil || dir.Tag(t.Context(), id, "\u200b", nil) == nil {
		t.Error("a tag that cannot be seen is taken")
	}
}

func TestArchiveIsRead(t *testing.T) {
	o := startOfficial(t)
	id := putSession(t, o.config)
	dir := transcript.Open(o.config)
	steps := []struct {
		name     string
		do       func() error
		archived bool
	}{
		{"ours", func() error { return dir.Archive(t.Context(), id, nil) }, true},
		{"theirs off", func() error { return o.ask(nil, "unarchiveSession", id) }, false},
		{"theirs", func() error { return o.ask(nil, "archiveSession", id) }, true},
		{"ours off", func() error { return dir.Unarchive(t.Context(), id, nil) }, false},
		{"ours again", func() error { return dir.Archive(t.Context(), id, nil) }, true},
		{"a later prompt", func() error { return appendPrompt(t, dir, id, time.Now().Add(time.Hour)) }, false},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("step.name is %v, err is %v; want err == nil", step.name, err)
		}
		compareInfo(t, o, dir, id)
		if info := infoOf(t, dir, id); info.Archived == nil || *info.Archived != step.archived {
			t.Errorf("%s: archived is %v", step.name, info.Archived)
		}
	}
}

func TestDeleteIsSeen(t *testing.T) {
	o := startOfficial(t)
	id := putSession(t, o.config)
	dir := transcript.Open(o.config)
	before := tree(t, filepath.Join(o.config, "projects"))
	listed := func() (n int) {
		var list []any
		o.must(&list, "listSessions")
		return len(list)
	}
	if err := dir.Delete(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	if listed() != 0 {
		t.Error("the official SDK still sees a session in the trash")
	}
	if err := dir.Delete(t.Context(), id, nil); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("deleting twice: %v", err)
	}
	trash, err := dir.Trash()
	if err != nil || len(trash) != 1 || trash[0].SessionID != id {
		t.Fatalf("the trash has %v, %v", trash, err)
	}
	if err := dir.Restore(id); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, filepath.Join(o.config, "projects"))); diff != "" {
		t.Errorf("what came back differs:\n%s", diff)
	}
	if listed() != 1 {
		t.Error("the official SDK does not see the session that came back")
	}
	if err := dir.Restore(id); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("restoring twice: %v", err)
	}
	o.must(nil, "deleteSession", id)
	if _, err := dir.Session(id); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("a session that the official SDK deleted: %v", err)
	}
}

func TestRestoreOverwritesNothing(t *testing.T) {
	dir, id := newSession(t)
	s, _ := dir.Session(id)
	if err := dir.Delete(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Restore(id); !errors.Is(err, fs.ErrExist) {
		t.Errorf("restoring over a file: %v", err)
	}
	if err := dir.EmptyTrash(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if trash, err := dir.Trash(); len(trash) != 0 || err != nil {
		t.Errorf("the empty trash has %v, %v", trash, err)
	}
}

// TestLiveSession rejects changes to a session that a running process has open, unless Live is set.
func TestLiveSession(t *testing.T) {
	dir, id := newSession(t)
	notes := filepath.Join(dir.Path(), "sessions")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	note := func(pid int, procStart string) {
		t.Helper()
		text := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"status":"busy","startedAt":1794725433396,"procStart":%q}`, pid, id, procStart)
		if err := os.WriteFile(filepath.Join(notes, "1.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note(os.Getpid(), "")
	before := tree(t, filepath.Join(dir.Path(), "projects"))
	var live *transcript.LiveError
	for name, err := range map[string]error{
		"rename":  dir.Rename(t.Context(), id, "x", nil),
		"tag":     dir.Tag(t.Context(), id, "x", nil),
		"archive": dir.Archive(t.Context(), id, nil),
		"delete":  dir.Delete(t.Context(), id, nil),
	} {
		if !errors.Is(err, transcript.ErrLive) || !errors.As(err, &live) || live.PID != os.Getpid() {
			t.Errorf("%s of a live session: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, filepath.Join(dir.Path(), "projects"))); diff != "" {
		t.Errorf("a live session was changed:\n%s", diff)
	}
	if err := dir.Rename(t.Context(), id, "x", &transcript.ChangeOptions{Live: true}); err != nil {
		t.Error(err)
	}
	note(1<<30, "") // no such process
	if err := dir.Rename(t.Context(), id, "y", nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		note(os.Getpid(), "1") // an earlier process with this pid
		if err := dir.Rename(t.Context(), id, "z", nil); err != nil {
			t.Error(err)
		}
	}
}

// TestAppendAfterTornLine renames a session that ends with a torn line: the title is written on a
// new line.
func TestAppendAfterTornLine(t *testing.T) {
	dir, id := newSession(t)
	s, _ := dir.Session(id)
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	torn := text[:len(text)-20]
	if err := os.WriteFile(s.Path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Rename(t.Context(), id, "new", nil); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if rest, ok := strings.CutPrefix(string(now), string(torn)+"\n{"); !ok || !strings.HasSuffix(rest, "}\n") {
		t.Errorf("behind the torn line: %q", now[len(torn):])
	}
	if info := infoOf(t, dir, id); info.CustomTitle != "new" {
		t.Errorf("the title is %q", info.CustomTitle)
	}
}

// putSession copies a session of the corpus into a configuration directory.
func putSession(t *testing.T, config string) (id string) {
	t.Helper()
	dir, id := newSession(t)
	if err := os.CopyFS(filepath.Join(config, "projects"), os.DirFS(filepath.Join(dir.Path(), "projects"))); err != nil {
		t.Fatal(err)
	}
	return id
}

func infoOf(t *testing.T, dir *transcript.Dir, id string) *transcript.Info {
	t.Helper()
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// compareInfo compares the info of a session with the official one, including size and time.
func compareInfo(t *testing.T, o *officialSDK, dir *transcript.Dir, id string) {
	t.Helper()
	var want map[string]any
	o.must(&want, "getSessionInfo", id)
	info := infoOf(t, dir, id)
	if size := want["fileSize"].(float64); int64(size) != info.FileSize {
		t.Errorf("the size is %d, want %v", info.FileSize, size)
	}
	delete(want, "fileSize")
	if diff := cmp.Diff(want, infoAnswer(t, info)); diff != "" {
		t.Errorf("info differs (-official +ours):\n%s", diff)
	}
}

func lastLines(t *testing.T, dir *transcript.Dir, id string, n int) []string {
	t.Helper()
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	return lines[len(lines)-1-n:]
}

func appendPrompt(t *testing.T, dir *transcript.Dir, id string, at time.Time) error {
	t.Helper()
	s, err := dir.Session(id)
	if err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{
		"parentUuid": nil, "type": "user", "uuid": "22222222-0000-4000-8000-000000000001", "sessionId": id,
		"timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z"), "message": map[string]any{"role": "user", "content": "still there?"},
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	return err
}

// tree returns every file below a directory with its content.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
