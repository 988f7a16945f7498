package codexagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

const (
	threadID = "01a1f3d7-f6f9-7b83-a393-8bc0fdae9eee"
	baseID   = "01a1f3d7-0000-7b83-a393-8bc0fdae9eee"
	current  = "rollout-2026-11-19T12-46-19-" + threadID + ".jsonl"
	baseName = "rollout-2026-11-18T12-46-19-" + baseID + ".jsonl"
)

// onDisk returns a path below the directory of a day.
func onDisk(home, name string) string {
	return filepath.Join(home, "sessions", "2026", "11", name[len("rollout-2026-11-"):len("rollout-2026-11-19")], name)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s has %q, %v, want %q", path, text, err, want)
	}
}

func meta(id, base string) string {
	return `{"ordinal":0,"type":"session_meta","payload":{"id":"` + id + `"` + base + `}}` + "\n"
}

// onBase is the first line of a fork of the first two lines of another thread.
const onBase = `,"history_base":{"thread_id":"` + baseID + `","end_ordinal_exclusive":2}`

// machine is a machine with its files.
type machine struct {
	t    *testing.T
	home string
	*codexagent.Provider
}

func newMachine(t *testing.T, store claudestore.MirrorStore) *machine {
	home := t.TempDir()
	return &machine{t, home, &codexagent.Provider{Options: codex.Options{Home: home}, Copies: &claudestore.Files{Store: store, Project: "codex"}}}
}

func (m *machine) save() error  { return m.Mirror(m.t.Context(), threadID, "") }
func (m *machine) fetch() error { return m.Fetch(m.t.Context(), threadID, "") }

func do(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestMirror moves a thread between the disks of two machines and back: also with an outdated copy, with an incomplete line, and while both write.
func TestMirror(t *testing.T) {
	store := claudestore.NewMemory()
	one, two := newMachine(t, store), newMachine(t, store)
	do(t, "saving a thread without files", one.save())
	if err := two.fetch(); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("fetching a thread that was not saved: %v", err)
	}
	at, there := onDisk(one.home, current), onDisk(two.home, current)
	head, a, b, c := meta(threadID, ""), `{"ordinal":1,"t":"a < b"}`+"\n", `{"ordinal":2}`+"\n", `{"ordinal":3}`+"\n"
	put(t, at, head+a+strings.TrimSuffix(b, "}\n"))
	do(t, "saving", one.save())
	do(t, "fetching", two.fetch())
	checkFile(t, there, head+a)

	do(t, "fetching back", one.fetch()) // the copy is behind
	checkFile(t, at, head+a+strings.TrimSuffix(b, "}\n"))
	put(t, at, head+a+b)
	do(t, "saving the complete line", one.save())
	do(t, "fetching the rest", two.fetch())
	checkFile(t, there, head+a+b)

	late := head + a + b + `{"ordinal":3,"late":true}` + "\n"
	put(t, at, late)
	if err := one.save(); !errors.Is(err, claude.ErrFenced) {
		t.Errorf("saving on a machine whose thread another one has fetched: %v", err)
	}
	put(t, there, head+a+b+c)
	do(t, "saving on the other machine", two.save())
	if err := one.save(); err == nil || errors.Is(err, claude.ErrFenced) {
		t.Errorf("saving other lines: %v", err)
	}
	do(t, "fetching back", one.fetch())
	checkFile(t, at, head+a+b+c)
	checkFile(t, at+".replaced", late)
	if err := one.History().Delete(t.Context(), baseID); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("deleting another thread: %v", err)
	}
	do(t, "saving after that", one.save())
	put(t, there, head+a+b+c+`{"ordinal":4}`+"\n")
	if err := two.save(); !errors.Is(err, claude.ErrFenced) {
		t.Errorf("saving on the other machine: %v", err)
	}
	do(t, "saving again on a machine that still has the thread", two.save())
}

// TestMirror_recordings moves threads with forks and reverts: the other machine has the same conversations, with nothing but the files of the copy.
func TestMirror_recordings(t *testing.T) {
	for _, name := range []string{"fork", "revert", "subagent"} {
		home, ok := codexrec.Named(t, name).Home(t)
		if !ok {
			t.Fatal("no files")
		}
		store := claudestore.NewMemory()
		from := newMachine(t, store)
		from.Options.Home = home
		list, _, err := rollout.Open(home).List(t.Context())
		if err != nil || len(list) == 0 {
			t.Fatalf("%d threads, %v", len(list), err)
		}
		for _, s := range list {
			to := newMachine(t, store)
			do(t, "saving", from.Mirror(t.Context(), s.ThreadID, ""))
			do(t, "saving again", from.Mirror(t.Context(), s.ThreadID, ""))
			do(t, "fetching", to.Fetch(t.Context(), s.ThreadID, ""))
			do(t, "fetching again", to.Fetch(t.Context(), s.ThreadID, ""))
			want, got := turns(t, home, s.ThreadID), turns(t, to.home, s.ThreadID)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, thread %s: %s", name, s.ThreadID, diff)
			}
			do(t, "saving on the other machine", to.Mirror(t.Context(), s.ThreadID, ""))
			do(t, "fetching back", from.Fetch(t.Context(), s.ThreadID, ""))
			if diff := cmp.Diff(want, turns(t, home, s.ThreadID)); diff != "" {
				t.Errorf("%s, thread %s after it was fetched back: %s", name, s.ThreadID, diff)
			}
		}
	}
}

func turns(t *testing.T, home, id string) string {
	t.Helper()
	c, err := rollout.Open(home).Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return string(item.ValueOf([]any{c.Turns, c.Usage, c.Models, c.Preview}))
}

// TestMirror_base fetches the beginning of a fork: it extends the files of the other thread without replacing their lines, and does not change an open
// thread.
func TestMirror_base(t *testing.T) {
	first, second, third := meta(baseID, ""), `{"ordinal":1}`+"\n", `{"ordinal":2}`+"\n"
	store := claudestore.NewMemory()
	one := newMachine(t, store)
	put(t, onDisk(one.home, baseName), first+second+third)
	put(t, onDisk(one.home, current), meta(threadID, onBase))
	do(t, "saving", one.save())
	for _, tt := range []struct {
		name, before, after string
		open, fails         bool
	}{
		{"missing", "", first + second, false, false},
		{"shorter", first, first + second, false, false},
		{"longer", first + second + third, first + second + third, false, false},
		{"another", first + third, first + third, false, true},
		{"open", first, first, true, false},
	} {
		two := newMachine(t, store)
		path := onDisk(two.home, baseName)
		if tt.before != "" {
			put(t, path, tt.before)
		}
		if tt.open {
			defer hold(t, two.home, baseID)()
		}
		if err := two.fetch(); (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.name, err)
		}
		checkFile(t, path, tt.after)
		if _, err := os.Stat(onDisk(two.home, current)); (err != nil) != tt.fails {
			t.Errorf("%s: the file of the thread: %v", tt.name, err)
		}
	}
	two := newMachine(t, store)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	put(t, onDisk(two.home, baseName)+".zst", string(enc.EncodeAll([]byte(first+second), nil)))
	do(t, "fetching with a compressed beginning", two.fetch())
	if _, err := os.Stat(onDisk(two.home, baseName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the compressed file of another thread was decoded: %v", err)
	}
	do(t, "removing the beginning", os.Remove(onDisk(one.home, baseName)))
	if err := one.save(); !errors.Is(err, rollout.ErrMissingBase) {
		t.Errorf("saving without the beginning: %v", err)
	}
}

// hold locks a thread as Codex does, and returns the function that ends that.
func hold(t *testing.T, home, id string) func() {
	t.Helper()
	dir := filepath.Join(home, "thread-writer-locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := filelock.TryLock(filepath.Join(dir, id+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = l.Unlock() }
}

// TestMirror_files does not change an open thread, finds an archived one, and reads a compressed one.
func TestMirror_files(t *testing.T) {
	head, a, b := meta(threadID, ""), `{"ordinal":1}`+"\n", `{"ordinal":2}`+"\n"
	store := claudestore.NewMemory()
	one := newMachine(t, store)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	put(t, onDisk(one.home, current)+".zst", string(enc.EncodeAll([]byte(head+a), nil)))
	do(t, "saving a compressed file", one.save())
	put(t, onDisk(one.home, current), head+a+b)
	do(t, "saving the same file when it grows", one.save())

	two := newMachine(t, store)
	archived := filepath.Join(two.home, "archived_sessions", current)
	put(t, archived, head)
	release := hold(t, two.home, threadID)
	do(t, "fetching a thread that is open", two.fetch())
	checkFile(t, archived, head)
	release()
	do(t, "fetching an archived thread", two.fetch())
	checkFile(t, archived, head+a+b)

	three := newMachine(t, store)
	put(t, onDisk(three.home, current)+".zst", string(enc.EncodeAll([]byte(head+a+b+b), nil)))
	do(t, "fetching what the compressed file has", three.fetch())
	checkFile(t, onDisk(three.home, current), head+a+b+b)
	without := newMachine(t, store)
	without.Copies = nil
	put(t, onDisk(without.home, current), head)
	if err := errors.Join(without.save(), without.fetch()); err != nil {
		t.Errorf("without copies: %v", err)
	}
}

// TestMirror_damage reports a copy that is damaged, and writes no file for it.
func TestMirror_damage(t *testing.T) {
	for _, tt := range []struct{ name, file, line string }{
		{"a name that is a path", "../" + current, `{}`},
		{"another name", "auth.json", `{}`},
		{"a line that is not JSON", current, `{"n":`},
	} {
		store := claudestore.NewMemory()
		m := newMachine(t, raw{store})
		key := claude.SessionKey{ProjectKey: "codex", SessionID: threadID, Subpath: strings.ReplaceAll(tt.file, "..", "up")}
		do(t, "damaging", store.Append(t.Context(), key, []json.RawMessage{json.RawMessage(tt.line)}))
		if err := m.fetch(); err == nil || errors.Is(err, agent.ErrNotFound) {
			t.Errorf("%s: %v", tt.name, err)
		}
		entries, err := os.ReadDir(filepath.Join(m.home))
		if err == nil && len(entries) > 0 {
			_, err = os.Stat(onDisk(m.home, current))
		}
		if len(entries) > 0 && err == nil {
			t.Errorf("%s: the directory has %v, %v", tt.name, entries, err)
		}
	}
	for _, id := range []string{"../up", ""} {
		m := newMachine(t, claudestore.NewMemory())
		release := hold(t, m.home, id)
		if m.Fetch(t.Context(), id, "") == nil {
			t.Errorf("thread %q was fetched", id)
		}
		release()
	}
}

// raw is a store without claims.
type raw struct{ claudestore.MirrorStore }

// TestMirror_program continues a thread with the real program on another machine, then a fork of it, and then the thread on the first machine again: the
// model gets all earlier messages.
func TestMirror_program(t *testing.T) {
	program := codexcli.Require(t, codexcli.Newer)
	api := codextest.NewAPI(t)
	reply := codextest.Say("Hello.")
	reply.Repeat = true
	api.Reply(reply)
	store := claudestore.NewMemory()
	dir := ""
	start := func() (*codexagent.Provider, *codextest.Home) {
		home := codextest.NewHome(t, api, "")
		if dir == "" {
			dir = home.Project
		}
		return &codexagent.Provider{Options: *home.Options(t, program), Copies: &claudestore.Files{Store: store, Project: "codex"}}, home
	}
	run := func(p *codexagent.Provider, id, prompt string, fork bool, want ...string) string {
		t.Helper()
		opts := agent.Options{Dir: dir, Mode: "default", Fork: fork}
		open := p.Open
		if id != "" {
			open = func(ctx context.Context, opts agent.Options) (agent.Session, error) { return p.Resume(ctx, id, opts) }
		}
		s, err := open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		say(t, s, follow(t, s), prompt, prompt)
		do(t, "closing", s.Close())
		do(t, "saving", p.Mirror(t.Context(), s.ID(), dir))
		all := api.Requests()
		for _, text := range append(want, prompt) {
			if !strings.Contains(string(all[len(all)-1].Body), text) {
				t.Errorf("with the prompt %q the model did not get %q", prompt, text)
			}
		}
		return s.ID()
	}
	one, _ := start()
	two, _ := start()
	id := run(one, "", "prompt-alpha", false)
	do(t, "fetching", two.Fetch(t.Context(), id, dir))
	run(two, id, "prompt-beta", false, "prompt-alpha")
	fork := run(two, id, "prompt-gamma", true, "prompt-alpha", "prompt-beta")
	do(t, "fetching back", one.Fetch(t.Context(), id, dir))
	run(one, id, "prompt-delta", false, "prompt-alpha", "prompt-beta")
	three, _ := start()
	do(t, "fetching the fork", three.Fetch(t.Context(), fork, dir))
	run(three, fork, "prompt-epsilon", false, "prompt-alpha", "prompt-beta", "prompt-gamma")
	do(t, "fetching the thread of the fork", three.Fetch(t.Context(), id, dir))
	run(three, id, "prompt-zeta", false, "prompt-alpha", "prompt-beta", "prompt-delta")

	do(t, "deleting", three.History().Delete(t.Context(), id))
	four, _ := start()
	if err := four.Fetch(t.Context(), id, dir); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("fetching a deleted thread: %v", err)
	}
}
