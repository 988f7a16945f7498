package transcript_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/transcript"
)

// TestTrash_lastDeletedFirst deletes two sessions of one id: the most recently deleted one is
// restored, and EmptyTrash goes by the time of deletion.
func TestTrash_lastDeletedFirst(t *testing.T) {
	dir, id := newSession(t)
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Delete(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	const second = `{"type":"tag","tag":"second"}` + "\n"
	if err := os.WriteFile(s.Path, []byte(second), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Delete(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	list, err := dir.Trash()
	if err != nil || len(list) != 2 || !list[0].DeletedAt.After(list[1].DeletedAt) {
		t.Fatalf("the trash has %+v, %v", list, err)
	}
	if err := dir.EmptyTrash(list[1].DeletedAt); err != nil { // which is not before itself
		t.Fatal(err)
	}
	if list, err := dir.Trash(); err != nil || len(list) != 2 {
		t.Errorf("after nothing was old enough the trash has %+v, %v", list, err)
	}
	if err := dir.Restore(id); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(s.Path); err != nil || string(text) != second {
		t.Errorf("%.60q came back, %v", text, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir.Path(), "parley-trash")); err != nil || len(left) != 1 {
		t.Errorf("in the trash there is %v, %v", left, err)
	}
	if err := dir.EmptyTrash(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir.Path(), "parley-trash")); err != nil || len(left) != 0 {
		t.Errorf("in the empty trash there is %v, %v", left, err)
	}
}

// TestDeletePermanently deletes all files of a session, including its subagents.
func TestDeletePermanently(t *testing.T) {
	dir, id := newSession(t)
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	agents, err := s.Subagents()
	if err != nil || len(agents) == 0 {
		t.Fatalf("the session has no subagents: %v", err)
	}
	if err := dir.Delete(t.Context(), id, &transcript.DeleteOptions{Permanently: true}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.Path, agents[0].Path, filepath.Dir(filepath.Dir(agents[0].Path))} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v; want errors.Is(err, fs.ErrNotExist)", path, err)
		}
	}
}
