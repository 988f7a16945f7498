package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// errKilled is the error of every call after the simulated kill.
var errKilled = errors.New("killed")

// killer is a file system that fails from a step on, as if the process had been killed there. A
// write can fail halfway.
type killer struct {
	osFiles
	step   int // number of steps begun
	killAt int // the last step, 0 for never
	during bool
	after  bool
}

// begin reports whether the next step may be done, and whether only half of it.
func (k *killer) begin() (half bool, err error) {
	k.step++
	switch {
	case k.killAt == 0 || k.step < k.killAt:
		return false, nil
	case k.step > k.killAt || !k.during && !k.after:
		return false, errKilled
	}
	return k.during, nil
}

// do performs an atomic step; only writes can be half done.
func (k *killer) do(step func() error) error {
	if half, err := k.begin(); half || err != nil {
		return errKilled
	}
	if err := step(); err != nil {
		return err
	}
	if k.step == k.killAt {
		return errKilled
	}
	return nil
}

func (k *killer) Append(path string) (f writeFile, err error) {
	err = k.do(func() error { f, err = k.osFiles.Append(path); return err })
	return &killedFile{f, k}, err
}

func (k *killer) CreateTemp(dir string) (f writeFile, err error) {
	err = k.do(func() error { f, err = k.osFiles.CreateTemp(dir); return err })
	return &killedFile{f, k}, err
}

func (k *killer) Rename(from, to string) error {
	return k.do(func() error { return k.osFiles.Rename(from, to) })
}

func (k *killer) MkdirAll(path string, mode fs.FileMode) error {
	return k.do(func() error { return k.osFiles.MkdirAll(path, mode) })
}

func (k *killer) Remove(path string) error {
	return k.do(func() error { return k.osFiles.Remove(path) })
}

func (k *killer) RemoveAll(path string) error {
	return k.do(func() error { return k.osFiles.RemoveAll(path) })
}

type killedFile struct {
	writeFile
	k *killer
}

func (f *killedFile) Write(p []byte) (n int, err error) {
	half, err := f.k.begin()
	if err != nil {
		return 0, err
	}
	if half {
		p = p[:len(p)/2]
	}
	n, err = f.writeFile.Write(p)
	if f.k.step == f.k.killAt {
		return n, errKilled
	}
	return n, err
}

func (f *killedFile) Sync() error { return f.k.do(f.writeFile.Sync) }

// Close always closes: the operating system closes the files of a killed process.
func (f *killedFile) Close() error {
	err := f.writeFile.Close()
	if f.k.killAt != 0 && f.k.step >= f.k.killAt {
		return errKilled
	}
	return err
}

// allowed lists the changes that an operation may make to existing files: append to the session's
// file, replace a sidecar, move or delete the session's files.
type allowed struct{ appends, replaces, moves, deletes bool }

// changes are all operations that write.
var changes = []struct {
	name    string
	prepare func(t *testing.T, d *Dir, id string)
	change  func(ctx context.Context, d *Dir, id string) error
	done    func(t *testing.T, d *Dir, id string) bool // reports whether the operation is complete
	allowed
}{
	{name: "rename", done: titled("a new title"), allowed: allowed{appends: true}, change: func(ctx context.Context, d *Dir, id string) error { return d.Rename(ctx, id, "a new title", nil) }},
	{name: "tag", done: tagged, allowed: allowed{appends: true}, change: func(ctx context.Context, d *Dir, id string) error { return d.Tag(ctx, id, "tag", nil) }},
	{name: "archive", done: archived(true), change: func(ctx context.Context, d *Dir, id string) error { return d.Archive(ctx, id, nil) }},
	{name: "archive again", done: archived(false), allowed: allowed{replaces: true}, prepare: archiveIt, change: func(ctx context.Context, d *Dir, id string) error { return d.Unarchive(ctx, id, nil) }},
	{name: "fork", done: titled("(fork)"), change: func(ctx context.Context, d *Dir, id string) error { _, err := d.Fork(ctx, id, nil); return err }},
	{name: "delete", done: trashed(1), allowed: allowed{moves: true}, change: func(ctx context.Context, d *Dir, id string) error { return d.Delete(ctx, id, nil) }},
	{name: "restore", done: trashed(0), allowed: allowed{moves: true}, prepare: trashIt, change: func(_ context.Context, d *Dir, id string) error { return d.Restore(id) }},
	{name: "index", done: indexed, allowed: allowed{replaces: true}, prepare: indexIt, change: func(ctx context.Context, d *Dir, _ string) error { return listWithIndex(ctx, d) }},
	{name: "delete permanently", done: trashed(0), allowed: allowed{deletes: true}, change: func(ctx context.Context, d *Dir, id string) error {
		return d.Delete(ctx, id, &DeleteOptions{Permanently: true})
	}},
	{name: "empty trash", done: trashed(0), allowed: allowed{deletes: true}, prepare: trashIt, change: func(_ context.Context, d *Dir, _ string) error {
		return d.EmptyTrash(time.Now().Add(time.Hour))
	}},
}

// titled returns a check that a session's title has a suffix.
func titled(end string) func(t *testing.T, d *Dir, id string) bool {
	return func(t *testing.T, d *Dir, _ string) bool {
		for info, err := range d.Sessions(t.Context(), Filter{}) {
			if err == nil && strings.HasSuffix(info.CustomTitle, end) {
				return true
			}
		}
		return false
	}
}

func tagged(t *testing.T, d *Dir, id string) bool {
	info := infoOf(t, d, id)
	return info.Tag == "tag"
}

func archived(want bool) func(t *testing.T, d *Dir, id string) bool {
	return func(t *testing.T, d *Dir, id string) bool {
		got := infoOf(t, d, id).Archived
		return got != nil && *got == want
	}
}

// trashed returns a check that n sessions are in the trash.
func trashed(n int) func(t *testing.T, d *Dir, id string) bool {
	return func(t *testing.T, d *Dir, _ string) bool {
		list, err := d.Trash()
		return err == nil && len(list) == n
	}
}

func indexed(t *testing.T, d *Dir, id string) bool {
	ix, err := OpenIndex(filepath.Join(d.config, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	r := ix.records[s.Path]
	return r != nil && r.info.CustomTitle == "renamed"
}

func infoOf(t *testing.T, d *Dir, id string) *Info {
	t.Helper()
	s, err := d.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// checkAgain repeats a killed operation. It succeeds or has no work left; either way the final
// state is correct.
func checkAgain(t *testing.T, d *Dir, id string, change func(context.Context, *Dir, string) error, done func(*testing.T, *Dir, string) bool) {
	t.Helper()
	if err := change(t.Context(), d, id); err != nil && !errors.Is(err, ErrNoSession) {
		t.Errorf("once more: %v", err)
	}
	if !done(t, d, id) {
		t.Error("it was done once more, and is not done")
	}
}

func trashIt(t *testing.T, d *Dir, id string) {
	t.Helper()
	if err := d.Delete(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
}

// indexIt lists once and then makes a change, so that the next list writes the index.
func indexIt(t *testing.T, d *Dir, id string) {
	t.Helper()
	if err := listWithIndex(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := d.Rename(t.Context(), id, "renamed", nil); err != nil {
		t.Fatal(err)
	}
}

func listWithIndex(ctx context.Context, d *Dir) error {
	ix, err := OpenIndex(filepath.Join(d.config, "cache"))
	if err != nil {
		return err
	}
	ix.files = d.files
	for _, err := range d.Sessions(ctx, Filter{Index: ix}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func archiveIt(t *testing.T, d *Dir, id string) {
	t.Helper()
	if err := d.Archive(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAnywhere kills every operation that writes before, during and after each of its steps.
// Every file that existed is unchanged, at its old or, if it was being moved, at its new place; the
// session is readable; and a second run succeeds.
func TestKilledAnywhere(t *testing.T) {
	short.SkipQuick(t, "kills many writers")
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			steps := 0
			for killAt := 0; killAt <= steps; killAt += short.Every(5) {
				for _, k := range []*killer{{killAt: killAt}, {killAt: killAt, during: true}, {killAt: killAt, after: true}} {
					d, id, other := twoSessions(t)
					if c.prepare != nil {
						c.prepare(t, d, id)
					}
					before := filesBelow(t, d.config)
					k.root, d.files = d.config, k
					err := c.change(t.Context(), d, id)
					if killAt == 0 {
						steps = k.step
						if err != nil || steps == 0 {
							t.Fatalf("it does not work: %v after %d steps", err, steps)
						}
						continue
					}
					if err == nil && k.step > killAt {
						t.Errorf("killed at step %d of %d and says that it worked", killAt, steps)
					}
					d.files = osFiles{d.config}
					checkKilled(t, d, before, id, c.allowed)
					checkReadable(t, d, other)
					checkAgain(t, d, id, c.change, c.done)
				}
			}
		})
	}
}

// checkKilled checks that the existing files are unchanged.
func checkKilled(t *testing.T, d *Dir, before map[string]string, id string, may allowed) {
	t.Helper()
	now := filesBelow(t, d.config)
	for path, text := range before {
		mine := strings.Contains(path, id)
		got, ok := now[path]
		switch {
		case ok && got == text:
		case ok && may.appends && mine && strings.HasPrefix(got, text):
		case ok && may.replaces && filepath.Base(path) == "archived.json" && json.Valid([]byte(got)):
		case ok && may.replaces && filepath.Base(path) == "sessions.index" && len(got) > len(indexHeader):
		case !ok && mine && may.deletes:
		case !ok && may.moves && (mine || strings.Contains(path, "parley-trash")):
			if filepath.Base(path) != trashNote && !movedTo(now, path, text) {
				t.Errorf("%s is gone", path)
			}
		default:
			t.Errorf("%s has changed", path)
		}
	}
	for path, text := range now {
		if _, ok := before[path]; !ok && !isTemp(filepath.Base(path)) {
			checkNew(t, d, path, text, before)
		}
	}
	if may.moves || may.deletes {
		return
	}
	checkReadable(t, d, id)
}

// checkNew checks that a new file is complete: a file with the name of a session has all of its
// messages and its title.
func checkNew(t *testing.T, d *Dir, path, text string, before map[string]string) {
	t.Helper()
	switch {
	case movedTo(before, path, text): // moved from another place
	case filepath.Ext(path) == ".jsonl":
		s := d.sessionAt(path)
		findings, err := s.Examine(t.Context(), nil)
		if err != nil || len(findings) > 0 || !strings.HasSuffix(text, "\n") || !strings.Contains(text, "(fork)") {
			t.Errorf("%s is new and not whole: %v, %v, %d bytes", path, findings, err, len(text))
		}
		checkReadable(t, d, s.ID)
	case filepath.Ext(path) == ".json":
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is new and not whole", path)
		}
	case filepath.Ext(path) == ".index":
		if _, err := OpenIndex(filepath.Dir(path)); err != nil || !strings.HasPrefix(text, indexHeader) {
			t.Errorf("%s is new and not whole: %v", path, err)
		}
	default:
		t.Errorf("%s is new, and nothing writes such a file", path)
	}
}

// movedTo reports whether a file exists elsewhere with the same name and content.
func movedTo(now map[string]string, path, text string) bool {
	for p, got := range now {
		if p != path && filepath.Base(p) == filepath.Base(path) && got == text {
			return true
		}
	}
	return false
}

func checkReadable(t *testing.T, d *Dir, id string) {
	t.Helper()
	s, err := d.Session(id)
	if err != nil {
		t.Error(err)
		return
	}
	if messages, err := s.Conversation(t.Context(), nil); err != nil || len(messages) == 0 {
		t.Errorf("%s has %d messages, %v", id, len(messages), err)
	}
	if _, err := s.Info(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAgainAfterKill deletes a session again after a killed deletion, and restores it completely.
func TestAgainAfterKill(t *testing.T) {
	for killAt := 1; killAt < 10; killAt++ {
		d, id, _ := twoSessions(t)
		before := filesBelow(t, d.projects())
		d.files = &killer{osFiles: osFiles{d.config}, killAt: killAt, after: true}
		killed := d.Delete(t.Context(), id, nil)
		d.files = osFiles{d.config}
		if err := d.Delete(t.Context(), id, nil); err != nil && !errors.Is(err, ErrNoSession) {
			t.Fatal(err)
		}
		if err := d.Restore(id); err != nil {
			t.Fatalf("killed at %d: %v", killAt, err)
		}
		if !maps.Equal(before, filesBelow(t, d.projects())) {
			t.Errorf("killed at %d: what came back differs", killAt)
		}
		if killed == nil {
			return
		}
	}
	t.Error("a deletion has no end")
}

// twoSessions returns a configuration directory with two sessions, the first with subagents.
func twoSessions(t *testing.T) (d *Dir, id, other string) {
	t.Helper()
	config := t.TempDir()
	for i, name := range []string{"nested", "plain"} {
		from := filepath.Join("..", "testdata", "transcripts", name, "projects")
		if err := os.CopyFS(filepath.Join(config, "projects"), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(from, "*", "*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files is %v, err is %v; want err == nil and len(files) == 1", files, err)
		}
		sid := strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
		if i == 0 {
			id = sid
		} else {
			other = sid
		}
	}
	return Open(config), id, other
}

func filesBelow(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
