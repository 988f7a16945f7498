package claudestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// put writes files below a directory.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMirror moves a session between the disks of two machines and back, with its subagents.
func TestMirror(t *testing.T) {
	const (
		project = "-work"
		main    = "projects/-work/" + importedID + ".jsonl"
		sub     = "projects/-work/" + importedID + "/subagents/deep/agent-1"
	)
	store := claudestore.NewMemory()
	m1, m2 := &claudestore.Mirror{Store: store}, &claudestore.Mirror{Store: store}
	one := claudestore.Place{ConfigDir: t.TempDir(), Project: project, SessionID: importedID}
	two := claudestore.Place{ConfigDir: t.TempDir(), Project: project, SessionID: importedID}
	check := func(p claudestore.Place, name, want string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(p.ConfigDir, filepath.FromSlash(name)))
		if err != nil || string(text) != want {
			t.Errorf("%s has %q, %v, want %q", name, text, err, want)
		}
	}
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if err := m2.Fetch(t.Context(), two); !errors.Is(err, claude.ErrNoSession) {
		t.Errorf("fetching a session that was not saved: %v", err)
	}
	do("saving a session without files", m1.Save(t.Context(), one))
	a, b, c := `{"uuid":"a","n":1}`+"\n", `{"type":"summary"}`+"\n", `{"uuid":"c"}`+"\n"
	put(t, one.ConfigDir, map[string]string{main: a + b, sub + ".jsonl": `{"uuid":"s"}` + "\n", sub + ".meta.json": `{"agentType":"x"}`})
	do("saving", m1.Save(t.Context(), one))
	do("saving again", m1.Save(t.Context(), one))
	do("fetching", m2.Fetch(t.Context(), two))
	check(two, main, a+b)
	check(two, sub+".jsonl", `{"uuid":"s"}`+"\n")
	check(two, sub+".meta.json", `{"agentType":"x"}`)

	put(t, two.ConfigDir, map[string]string{main: a + b + c, sub + ".jsonl": `{"uuid":"s"}` + "\n" + `{"uuid":"t"}` + "\n", sub + ".meta.json": `{"agentType":"y"}`})
	do("saving on the other machine", m2.Save(t.Context(), two))
	put(t, one.ConfigDir, map[string]string{main: a + b + `{"uuid":"late"}` + "\n"})
	if err := m1.Save(t.Context(), one); !errors.Is(err, claude.ErrFenced) {
		t.Errorf("saving on a machine whose session another one has fetched: %v", err)
	}
	do("fetching back", m1.Fetch(t.Context(), one))
	check(one, main, a+b+c)
	check(one, main+".replaced", a+b+`{"uuid":"late"}`+"\n")
	check(one, sub+".jsonl", `{"uuid":"s"}`+"\n"+`{"uuid":"t"}`+"\n")
	check(one, sub+".meta.json", `{"agentType":"y"}`)
	do("saving after that", m1.Save(t.Context(), one))

	do("deleting", m1.Delete(t.Context(), importedID))
	do("deleting again", m1.Delete(t.Context(), importedID))
	if err := m2.Fetch(t.Context(), two); !errors.Is(err, claude.ErrNoSession) {
		t.Errorf("fetching a session that was deleted: %v", err)
	}
	bad := claudestore.Place{ConfigDir: t.TempDir(), Project: project, SessionID: "../up"}
	if m1.Save(t.Context(), bad) == nil || m1.Fetch(t.Context(), bad) == nil {
		t.Error("an id that is a path is accepted")
	}
}
