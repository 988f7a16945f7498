package place

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// converse adds a session that ran in a directory to the agent's history and returns its id.
func (w *world) converse(dir, prompt string) string {
	w.Helper()
	id := random.UUID()
	must(w, os.MkdirAll(filepath.Join(w.dir, "home/agent"), 0o700))
	line, err := json.Marshal(map[string]string{"role": "user", "uuid": random.UUID(), "text": prompt, "dir": dir, "time": "2026-01-02T03:04:05Z"})
	must(w, err)
	w.write("home/agent/"+id+".jsonl", string(line)+"\n")
	return id
}

// outside returns directories that the machine does not offer, in several spellings.
func (w *world) outside() []string {
	w.Helper()
	for name, to := range map[string]string{"out": "outside", "up": "..", "git": "repo/.git/.."} {
		must(w, os.Symlink(filepath.Join(w.dir, to), filepath.Join(w.root, name)))
	}
	return []string{
		"", "/", "/etc", ".", "..", "work", w.dir, w.root + "/..", w.root + "/../outside", w.root + "x", w.repo + "/../../outside", filepath.Join(w.root, "out"),
		filepath.Join(w.root, "up", "outside"), w.root + "\x00", "\x00", "-", "--upload-pack=touch x", "~", "file:///etc", filepath.Join(w.dir, "data"), filepath.Join(w.dir, "data", "trees"),
		filepath.Join(w.dir, "data", "trees", ".."), filepath.Join(w.dir, "data", "trees", "w-00000000", ".."), filepath.Join(w.root, "missing"), strings.Repeat("/a", 1<<18),
	}
}

// TestConfined_directories checks that every method of a machine rejects directories that the machine does not offer.
func TestConfined_directories(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t, true)
	before := w.git("for-each-ref")
	for _, dir := range w.outside() {
		calls := map[string]func() error{
			"files.search":     func() error { _, err := w.Search(t.Context(), dir, "", 0); return err },
			"files.read":       func() error { _, err := w.Read(t.Context(), dir, "secret.txt", nil); return err },
			"tree.open":        func() error { _, err := w.Tree(t.Context(), dir, "s-1"); return err },
			"tree.forget":      func() error { return w.Forget(t.Context(), dir, "s-1") },
			"worktrees.create": func() error { _, err := w.Create(t.Context(), workspace.CreateOptions{Repo: dir}); return err },
		}
		if dir != "" { // an empty directory requests a list
			calls["projects"] = func() error { _, err := w.Projects(t.Context(), ProjectsQuery{Path: dir}); return err }
		}
		remote := &remoteTree{w.Place.(Remote), dir, "s-1"}
		for name, f := range ofTreeCalls(t, remote) {
			calls[name] = f
		}
		for name, f := range calls {
			if err := f(); reasonOf(err) != api.AuthFailed && reasonOf(err) != api.InvalidParams {
				t.Errorf("%s of %.60q: %v, want a refusal", name, dir, err)
			}
		}
	}
	if after := w.git("for-each-ref"); after != before {
		t.Errorf("the repository has changed: %s", after)
	}
}

// TestLocal_rootsChange checks that this machine shows and releases the changes of a session in a directory that is no
// longer a root, and reports a missing directory as missing. A confined machine refuses both.
func TestLocal_rootsChange(t *testing.T) {
	w := newWorld(t, false)
	_, err := w.tree().Snapshot(t.Context())
	must(t, err)
	w.write("work/repo/a.txt", "changed\n")
	w.local.Roots = []string{filepath.Join(w.dir, "outside")}
	missing := filepath.Join(w.root, "missing")
	for _, confined := range []bool{true, false} {
		w.local.Confined = confined
		for _, dir := range []string{w.repo, missing} {
			_, treeErr := w.Tree(t.Context(), dir, "s-1")
			for method, err := range map[string]error{"Tree": treeErr, "Forget": w.Forget(t.Context(), dir, "s-1")} {
				refused, gone := confined, !confined && dir == missing
				if (reasonOf(err) == api.AuthFailed) != refused || errors.Is(err, fs.ErrNotExist) != gone || err != nil && !refused && !gone {
					t.Errorf("%s of %s, confined %v: %v", method, dir, confined, err)
				}
			}
		}
	}
	if refs := w.git("for-each-ref", "refs/parley"); refs != "" {
		t.Errorf("snapshots are left: %s", refs)
	}
	d, err := w.tree().Diff(t.Context(), "HEAD", "")
	if err != nil || len(d.Files) != 1 {
		t.Errorf("the diff is %+v, %v, want a file", d, err)
	}
}

// ofTreeCalls returns one call of each method of a tree.
func ofTreeCalls(t *testing.T, tree Tree) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"tree.snapshot": func() error { _, err := tree.Snapshot(ctx); return err },
		"tree.diff":     func() error { _, err := tree.Diff(ctx, "HEAD", ""); return err },
		"tree.commits":  func() error { _, err := tree.Commits(ctx, strings.Repeat("0", 40)); return err },
		"tree.revert": func() error {
			_, err := tree.Revert(ctx, workspace.RevertOptions{From: "HEAD", File: "a.txt"})
			return err
		},
		"tree.commit": func() error { _, err := tree.Commit(ctx, workspace.CommitOptions{Message: "x"}); return err },
		"tree.branch": func() error { _, err := tree.Branch(ctx); return err },
		"tree.merge":  func() error { _, err := tree.Merge(ctx); return err },
		"tree.push":   func() error { _, err := tree.Push(ctx, "x"); return err },
	}
}

// TestConfined_names sends the names that a hostile server could send: paths out of the directory, and options of git.
func TestConfined_names(t *testing.T) {
	short.SkipQuick(t, "tries many paths")
	w := newWorld(t, true)
	w.outside()
	must(t, os.Symlink(filepath.Join(w.dir, "outside"), filepath.Join(w.repo, "link")))
	must(t, os.Symlink(filepath.Join(w.dir, "outside", "secret.txt"), filepath.Join(w.repo, "linked.txt")))
	mark := filepath.Join(w.dir, "mark")
	tree := w.tree()
	// A link itself can be reverted and committed, its name may be a branch, and the repository can be read like a user reads
	// it.
	harmless := map[string]bool{"a revert of linked.txt": true, "a commit of linked.txt": true, "reading .git/config": true}
	for _, branch := range []string{"link/secret.txt", "linked.txt"} {
		harmless["a worktree on "+branch], harmless["a worktree at "+branch] = true, true
	}
	names := []string{
		"../outside/secret.txt", "../../outside/secret.txt", "link/secret.txt", "linked.txt", "/etc/passwd", filepath.Join(w.dir, "outside/secret.txt"), ".git/config",
		"sub/../../../outside/secret.txt", "--upload-pack=touch " + mark, "--output=" + mark, "-c", "", "\x00", "a.txt\x00b", ":(top)..", ":!a.txt", "ext::sh -c touch% " + mark,
		"--exec=touch " + mark, "$(touch " + mark + ")", "`touch " + mark + "`", "; touch " + mark, strings.Repeat("x", 1<<18),
	}
	for _, name := range names {
		for what, f := range map[string]func() error{
			"reading": func() error { _, err := w.Read(t.Context(), w.repo, name, nil); return err },
			"a diff from": func() error {
				return unlessEmpty(name, func() error { _, err := tree.Diff(t.Context(), name, ""); return err })
			},
			"a diff to": func() error {
				return unlessEmpty(name, func() error { _, err := tree.Diff(t.Context(), "HEAD", name); return err })
			},
			"commits since": func() error { _, err := tree.Commits(t.Context(), name); return err },
			"a revert of": func() error {
				_, err := tree.Revert(t.Context(), workspace.RevertOptions{From: "HEAD", File: name})
				return err
			},
			"a revert from": func() error {
				_, err := tree.Revert(t.Context(), workspace.RevertOptions{From: "x" + name, File: "a.txt"})
				return err
			},
			"a commit of": func() error {
				_, err := tree.Commit(t.Context(), workspace.CommitOptions{Message: "m", Files: []string{name}})
				return err
			},
			"a push to":    func() error { _, err := tree.Push(t.Context(), name); return err },
			"a tree of":    func() error { _, err := w.Tree(t.Context(), w.repo, name); return err },
			"a worktree":   func() error { _, err := w.Get(t.Context(), name); return err },
			"a removal of": func() error { return w.Remove(t.Context(), name, workspace.RemoveOptions{Force: true}) },
			"a worktree on": func() error {
				return unlessEmpty(name, func() error {
					_, err := w.Create(t.Context(), workspace.CreateOptions{Repo: w.repo, Branch: name})
					return err
				})
			},
			"a worktree at": func() error {
				return unlessEmpty(name, func() error {
					_, err := w.Create(t.Context(), workspace.CreateOptions{Repo: w.repo, Base: name})
					return err
				})
			},
			"a worktree as": func() error {
				return unlessEmpty(name, func() error {
					_, err := w.Create(t.Context(), workspace.CreateOptions{Repo: w.repo, ID: name})
					return err
				})
			},
			"a set-up": func() error {
				_, err := w.Create(t.Context(), workspace.CreateOptions{Repo: w.repo, Setup: "touch " + mark})
				return err
			},
			"the history of": func() error { _, err := w.history().Load(t.Context(), name, agent.HistoryPage{}); return err },
		} {
			if err := f(); err == nil && !harmless[what+" "+name] {
				t.Errorf("%s %.80q is no error", what, name)
			}
		}
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a program was started")
	}
	if text := w.text("outside/secret.txt"); text != "secret\n" {
		t.Errorf("the file outside is %q", text)
	}
	// The commit of a link has its target as text, with the mode of a link.
	for line := range strings.Lines(w.git("log", "--raw", "--no-abbrev", "--format=", "--all", "--grep=^m$")) {
		if line = strings.TrimSpace(line); line != "" && (!strings.HasPrefix(line, ":000000 120000 ") || !strings.HasSuffix(line, "\tlinked.txt")) {
			t.Errorf("a commit has %q", line)
		}
	}
}

// unlessEmpty returns an error if the name is empty, because an empty name means the default.
func unlessEmpty(name string, f func() error) error {
	if name == "" {
		return errors.New("the default")
	}
	return f()
}

func (w *world) history() agent.History {
	w.Helper()
	all, err := w.Histories(w.Context())
	must(w, err)
	return all[0]
}

// TestConfined_histories checks that every method shows another machine only sessions of the offered directories, and
// changes no session.
func TestConfined_histories(t *testing.T) {
	w := newWorld(t, true)
	mine, secret := w.converse(w.repo, "hello mine"), w.converse(filepath.Join(w.dir, "outside"), "hello secret")
	h := w.history()
	list, _, err := h.List(t.Context(), agent.HistoryQuery{})
	if err != nil || len(list) != 1 || list[0].ID != mine {
		t.Errorf("the sessions are %+v, %v, want %s", list, err, mine)
	}
	hits, _, err := h.Search(t.Context(), agent.HistoryQuery{Query: "hello"})
	if err != nil || len(hits) != 1 || hits[0].ID != mine {
		t.Errorf("the hits are %+v, %v, want %s", hits, err, mine)
	}
	for name, f := range map[string]func(id string) error{
		"metadata": func(id string) error { _, err := h.Metadata(t.Context(), id); return err },
		"load":     func(id string) error { _, err := h.Load(t.Context(), id, agent.HistoryPage{}); return err },
		"export":   func(id string) error { _, err := h.Export(t.Context(), id, "markdown"); return err },
	} {
		if err := f(mine); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f(secret); !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("%s of a session outside: %v, want %v", name, err, agent.ErrNotFound)
		}
	}
	confined, err := w.local.Histories(t.Context())
	must(t, err)
	for _, h := range []agent.History{h, confined[0]} {
		for _, err := range []error{h.Rename(t.Context(), mine, "x"), h.Tag(t.Context(), mine, "x"), h.Delete(t.Context(), mine)} {
			if !errors.Is(err, agent.ErrUnsupported) {
				t.Errorf("a change: %v, want %v", err, agent.ErrUnsupported)
			}
		}
	}
	rows, err := w.Usage(t.Context(), agent.UsageQuery{GroupBy: "day"})
	if want := []agent.Usage{{Group: "2026-01-02", CostUSD: new(0.001), InputTokens: 10, OutputTokens: 5}}; err != nil || len(rows) != 1 || rows[0].InputTokens != want[0].InputTokens || rows[0].Group != want[0].Group {
		t.Errorf("the usage is %+v, %v, want %+v", rows, err, want)
	}
	rows, err = w.Usage(t.Context(), agent.UsageQuery{GroupBy: "project"})
	if err != nil || len(rows) != 1 || rows[0].Group != w.repo {
		t.Errorf("the usage by project is %+v, %v, want that of %s", rows, err, w.repo)
	}
}

// TestServe_hostile checks calls that no server makes: they return an error or a fault and do not panic.
func TestServe_hostile(t *testing.T) {
	w := newWorld(t, true)
	for _, name := range []string{"", "tree", "tree.exec", "worktrees", "../files.read"} {
		if text, err := Serve(t.Context(), w.local, name, json.RawMessage(`{}`)); err == nil {
			t.Errorf("method %q answers %s", name, text)
		}
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range methods {
			if !yield(name) {
				return
			}
		}
	}) {
		for _, params := range []string{"", "null", "{", `"x"`, "[]", "1e999", `{"Dir":1}`, `{"Dir":null,"Params":null}`, strings.Repeat("[", 100_000)} {
			text, err := Serve(t.Context(), w.local, name, json.RawMessage(params))
			if err == nil && !json.Valid(text) {
				t.Errorf("%s with %.20q answers %s", name, params, text)
			}
		}
	}
}
