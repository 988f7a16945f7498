package rollout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// TestParts copies the parts of each thread to another directory: there it has the same conversation, also if the files are compressed.
func TestParts(t *testing.T) {
	for _, name := range []string{"fork", "revert", "approval_accept"} {
		dir, ok := codexrec.Named(t, name).Home(t)
		if !ok {
			t.Fatal("no files")
		}
		want, _ := content(t, dir)
		for _, compressed := range []bool{false, true} {
			if compressed {
				compress(t, dir, false)
			}
			for thread, turns := range want {
				other := t.TempDir()
				parts, err := rollout.Open(dir).Parts(t.Context(), thread)
				if err != nil || len(parts) == 0 {
					t.Fatalf("%d parts, %v", len(parts), err)
				}
				for _, p := range parts {
					if p.Compressed() != compressed {
						t.Errorf("%s: compressed %v", p.Path, p.Compressed())
					}
					put(t, other, p)
				}
				got, _ := content(t, other)
				if diff := cmp.Diff(turns, got[thread]); diff != "" {
					t.Errorf("%s, thread %s, compressed %v: %s", name, thread, compressed, diff)
				}
			}
		}
	}
	if _, err := rollout.Open(t.TempDir()).Parts(t.Context(), thread); !errors.Is(err, rollout.ErrNoSession) {
		t.Errorf("the parts of no thread: %v", err)
	}
}

// put copies a part to where Codex would create it.
func put(t *testing.T, dir string, p rollout.Part) {
	t.Helper()
	at, exists, err := rollout.Open(dir).Locate(t.Context(), p.Name())
	if err != nil || exists {
		t.Fatalf("%s exists: %v, %v", at.Path, exists, err)
	}
	if err := os.MkdirAll(filepath.Dir(at.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(at.Path)
	if err == nil {
		err = errors.Join(p.Copy(t.Context(), f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLocate finds a file where it is, also an archived or compressed one, and rejects other names.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	name := "rollout-2026-01-02T03-04-05-" + thread + ".jsonl"
	check := func(want string, found bool) {
		t.Helper()
		p, exists, err := rollout.Open(dir).Locate(t.Context(), name)
		if err != nil || exists != found || p.Path != filepath.Join(dir, filepath.FromSlash(want)) || p.Until != -1 {
			t.Errorf("%+v, exists %v, %v; want %s", p, exists, err, want)
		}
	}
	check("sessions/2026/01/02/"+name, false)
	write(t, dir, "archived_sessions/"+name+".zst", "")
	check("archived_sessions/"+name+".zst", true)
	write(t, dir, "archived_sessions/"+name, "")
	check("archived_sessions/"+name, true)
	for _, bad := range []string{"", "../" + name, name + ".zst", "sessions/" + name, "rollout-x.jsonl"} {
		if p, _, err := rollout.Open(dir).Locate(t.Context(), bad); err == nil || rollout.ThreadOf(bad) != "" {
			t.Errorf("%q is at %s", bad, p.Path)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := rollout.Open(dir).Locate(ended, name); err == nil {
		t.Error("a search that was cancelled has found that there is no file")
	}
}

// TestPart_copy omits damaged lines, and reports a line that is too long to copy.
func TestPart_copy(t *testing.T) {
	dir := t.TempDir()
	name := "sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + thread + ".jsonl"
	meta, line := `{"type":"session_meta","payload":{"id":"`+thread+`"}}`, `{"ordinal":1,"type":"x"}`
	write(t, dir, name, meta+"\n{torn\n"+line+"\n{\"ordinal\":2,\"type\":")
	var text strings.Builder
	p := rollout.Part{Path: filepath.Join(dir, filepath.FromSlash(name)), Until: -1}
	if err := p.Copy(t.Context(), &text); err != nil || text.String() != meta+"\n"+line+"\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
	text.Reset()
	p.Until = 1
	if err := p.Copy(t.Context(), &text); err != nil || text.String() != meta+"\n" {
		t.Errorf("up to line 1: %q, %v", text.String(), err)
	}
	p.Path += "x"
	if err := p.Copy(t.Context(), &text); err == nil {
		t.Error("a missing file is copied")
	}
}
