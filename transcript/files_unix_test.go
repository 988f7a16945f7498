//go:build unix

package transcript

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// things create objects other than regular files at a path.
var things = map[string]func(t *testing.T, path string){
	"pipe": func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"directory": func(t *testing.T, path string) {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	},
	"socket": func(t *testing.T, path string) {
		short := filepath.Join(t.TempDir(), "s") // names of sockets have to be short
		l, err := net.Listen("unix", short)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if err := os.Rename(short, path); err != nil {
			t.Fatal(err)
		}
	},
	"link to a device": func(t *testing.T, path string) { symlink(t, "/dev/zero", path) },
	"link to a pipe": func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
			t.Fatal(err)
		}
		symlink(t, path+".pipe", path)
	},
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// TestNeverBlocks puts everything that is not a regular file wherever a file is expected, and runs
// every reader and every writer. A call that blocks exceeds the time limit and fails the test.
func TestNeverBlocks(t *testing.T) {
	short.SkipQuick(t, "opens every kind of file in every place")
	for name, put := range things {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			places := []string{
				"projects/K/S.jsonl", "projects/K/S/subagents/agent-x.jsonl", "projects/K/S/subagents/agent-y.meta.json", "projects/K/S/custom-title.json",
				"projects/K/S/archived.json", "projects/K/S/tool-results/x.txt", "sessions/1.json", "settings.json", "parley-trash/x/deleted.json", "cache/sessions.index",
			}
			for i := 0; i < len(places); i += short.Every(9) {
				where := places[i]
				d, id, _ := twoSessions(t)
				s, err := d.Session(id)
				if err != nil {
					t.Fatal(err)
				}
				path := placed(d, s, where)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				put(t, path)
				runAll(t, d, s)
			}
		})
	}
}

// placed expands K to the project and S to the session in a path.
func placed(d *Dir, s *Session, where string) string {
	path := d.config
	for part := range strings.SplitSeq(where, "/") {
		switch part {
		case "K":
			part = s.ProjectKey
		case "S", "S.jsonl":
			part = s.ID + strings.TrimPrefix(part, "S")
		}
		path = filepath.Join(path, part)
	}
	return path
}

// runAll runs every reader of a directory and ignores the results.
func runAll(t *testing.T, d *Dir, s *Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, read := range readers {
		if err := read(ctx, s); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s waits", name)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	stop()
	for range s.Follow(ctx, nil) {
	}
	_ = listWithIndex(t.Context(), d)
	_, _ = s.Info(t.Context())
	d.Retention()
	d.Live(s.ID)
	_, _ = d.Trash()
	_ = d.EmptyTrash(time.Now())
	_ = d.Rename(t.Context(), s.ID, "title", nil)
	_ = d.Tag(t.Context(), s.ID, "tag", nil)
	_ = d.Archive(t.Context(), s.ID, nil)
	_, _ = s.Repair(t.Context(), nil)
	a := OpenArchive(filepath.Join(d.config, "archive"))
	_, _ = a.Save(t.Context(), d, nil)
	_, _ = a.Restore(t.Context(), d, nil)
	_ = d.Delete(t.Context(), s.ID, nil)
	_ = d.Restore(s.ID)
}

// TestNoLinksForWriting puts a link to an outside directory at every place on the path to a written
// file, and a link to an outside file in place of a session: no outside file changes, and the
// operation returns [ErrLinked].
func TestNoLinksForWriting(t *testing.T) {
	short.SkipQuick(t, "writes many sessions")
	for _, where := range []string{"projects", "projects/K", "projects/K/S", "projects/K/S.jsonl", "parley-trash", "cache"} {
		for i := 0; i < len(changes); i += short.Every(4) {
			c := changes[i]
			d, id, _ := twoSessions(t)
			if c.prepare != nil {
				c.prepare(t, d, id)
			}
			s := d.sessionAt(sessionPath(t, d, id))
			path, outside := placed(d, s, where), filepath.Join(t.TempDir(), "outside")
			switch err := os.Rename(path, outside); {
			case errors.Is(err, fs.ErrNotExist):
				if err := os.Mkdir(outside, 0o700); err != nil {
					t.Fatal(err)
				}
			case err != nil:
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			symlink(t, outside, path)
			before := filesBelow(t, outside)
			err := c.change(t.Context(), d, id)
			after := filesBelow(t, outside)
			for name := range after {
				if before[name] != after[name] {
					t.Errorf("%s through a link at %s has written %s (%v)", c.name, where, name, err)
				}
			}
			if len(before) != len(after) {
				t.Errorf("%s through a link at %s: %d files became %d (%v)", c.name, where, len(before), len(after), err)
			}
		}
	}
}

// sessionPath returns the path of a session, or its path before it went to the trash.
func sessionPath(t *testing.T, d *Dir, id string) string {
	t.Helper()
	if s, err := d.Session(id); err == nil {
		return s.Path
	}
	list, err := d.Trash()
	if err != nil || len(list) == 0 {
		return filepath.Join(d.projects(), "-gone", id+".jsonl")
	}
	return filepath.Join(d.projects(), list[0].ProjectKey, id+".jsonl")
}

// TestLinkedError checks that the error names the link.
func TestLinkedError(t *testing.T) {
	d, id, _ := twoSessions(t)
	s, err := d.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	project, outside := filepath.Dir(s.Path), filepath.Join(t.TempDir(), "outside")
	if err := os.Rename(project, outside); err != nil {
		t.Fatal(err)
	}
	symlink(t, outside, project)
	if _, err := s.Conversation(t.Context(), nil); err != nil {
		t.Errorf("a linked project is read: %v", err)
	}
	for name, change := range map[string]func() error{
		"rename": func() error { return d.Rename(t.Context(), id, "x", nil) },
		"tag":    func() error { return d.Tag(t.Context(), id, "x", nil) },
		"fork":   func() error { _, err := d.Fork(t.Context(), id, nil); return err },
		"mark":   func() error { return d.Archive(t.Context(), id, nil) },
		"delete": func() error { return d.Delete(t.Context(), id, nil) },
	} {
		if err := change(); !errors.Is(err, ErrLinked) {
			t.Errorf("%s in a linked project: %v", name, err)
		}
	}
	a := OpenArchive(t.TempDir())
	whole, other, _ := twoSessions(t)
	if _, err := a.Save(t.Context(), whole, nil); err != nil {
		t.Fatal(err)
	}
	to := Open(t.TempDir())
	if err := os.MkdirAll(to.projects(), 0o700); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	o, err := whole.Session(other)
	if err != nil {
		t.Fatal(err)
	}
	symlink(t, empty, filepath.Join(to.projects(), o.ProjectKey))
	if _, err := a.Restore(t.Context(), to, nil); !errors.Is(err, ErrLinked) {
		t.Errorf("restore into a linked project: %v", err)
	}
	if files := filesBelow(t, empty); len(files) > 0 {
		t.Errorf("restore wrote outside: %v", files)
	}
}
