package workspace

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// evil are settings that make git create a file if it runs the program. PROG is replaced by a
// script and the key.
var evil = map[string]string{
	"filter.e=v.il.clean": "PROG; cat", "filter.e=v.il.smudge": "PROG; cat", "filter.proc.process": "PROG; false", "filter.proc.required": "true",
	"core.fsmonitor": "PROG; false", "diff.external": "PROG", "diff.e=v.il.command": "PROG; true", "diff.e=v.il.textconv": "PROG; cat",
	"merge.e=v.il.driver": "PROG", "credential.helper": "!PROG", "core.sshCommand": "PROG", "core.askPass": "PROG", "core.pager": "PROG", "core.editor": "PROG", "sequence.editor": "PROG",
	"gpg.program": "PROG", "gpg.ssh.program": "PROG", "trailer.sign.command": "PROG", "trailer.Parley-Session.command": "PROG", "core.gitProxy": "PROG",
	"status.submoduleSummary": "true", "core.alternateRefsCommand": "PROG", "remote.origin.receivepack": "PROG; git-receive-pack", "remote.origin.uploadpack": "PROG; git-upload-pack", "uploadpack.packObjectsHook": "PROG", "gc.recentObjectsHook": "PROG", "log.showSignature": "true", "commit.verbose": "true", "submodule.recurse": "true",
}

// plant adds a program to a repository in every way that git supports, in a settings file, and adds hooks.
func (w *world) plant(config string, hooks string) {
	w.Helper()
	prog := filepath.Join(w.dir, "prog")
	w.write("prog", "#!/bin/sh\ntouch '"+w.dir+"/ran/'\"$1\"\n")
	for _, dir := range []string{"ran", "hooks"} {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o700); err != nil {
			w.Fatal(err)
		}
	}
	if err := os.Chmod(prog, 0o700); err != nil {
		w.Fatal(err)
	}
	for key, value := range evil {
		w.git("config", "--file", config, key, strings.ReplaceAll(value, "PROG", prog+" '"+key+"'"))
	}
	for _, name := range []string{"pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "prepare-commit-msg", "commit-msg", "fsmonitor-watchman"} {
		path := filepath.Join(hooks, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+prog+" hook-"+name+"\n"), 0o700); err != nil {
			w.Fatal(err)
		}
	}
}

// ran returns the programs run since the last call.
func (w *world) ran() []string {
	w.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, "ran"))
	if err != nil {
		w.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if err := os.Remove(filepath.Join(w.dir, "ran", e.Name())); err != nil {
			w.Fatal(err)
		}
	}
	return names
}

// operations runs all operations of the package in a repository.
func (w *world) operations(t *Tree) {
	w.Helper()
	before, err := t.Snapshot(w.ctx())
	if err != nil {
		w.Errorf("Snapshot: %v", err)
	}
	w.put(t, "a.txt", lines(50))
	w.put(t, "c.flt", "new\n")
	if _, err := t.Diff(w.ctx(), before.Tree, ""); err != nil {
		w.Errorf("Diff: %v", err)
	}
	if _, err := t.Revert(w.ctx(), RevertOptions{From: before.Tree, File: "a.txt"}); err != nil {
		w.Errorf("Revert: %v", err)
	}
	w.put(t, "a.txt", lines(51))
	if _, err := t.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"a.txt"}, Session: "s-1"}); err != nil {
		w.Errorf("Commit: %v", err)
	}
	if _, err := t.Commits(w.ctx(), w.gitIn(w.repo, "rev-parse", "HEAD~1")); err != nil {
		w.Errorf("Commits: %v", err)
	}
	ws, err := w.Create(w.ctx(), CreateOptions{Repo: w.repo})
	if err != nil {
		w.Fatalf("Create: %v", err)
	}
	w.mergeAndPush(ws)
	w.write(filepath.Join("data", treesDir, ws.ID, "c.flt"), "changed\n")
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{}); !errors.Is(err, ErrLoss) {
		w.Errorf("Remove: %v, want ErrLoss", err)
	}
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{Force: true}); err != nil {
		w.Errorf("Remove by force: %v", err)
	}
	if err := w.Forget(w.ctx(), w.repo, "s-1"); err != nil {
		w.Errorf("Forget: %v", err)
	}
}

// mergeAndPush commits a hunk in a workspace, merges it and pushes it to a repository of the same directory.
func (w *world) mergeAndPush(ws Workspace) {
	w.Helper()
	t, err := w.Tree(w.ctx(), ws.Path, "s-1")
	if err != nil {
		w.Fatal(err)
	}
	w.put(t, "a.txt", "first\n"+lines(51)+"last\n")
	d := w.diff(t, "HEAD", "")
	if _, err := t.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"a.txt"}, Hunks: map[string][]string{"a.txt": {d.Files[0].Hunks[0].ID}}}); err != nil {
		w.Errorf("Commit of a hunk: %v", err)
	}
	if _, err := t.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"a.txt"}}); err != nil {
		w.Errorf("Commit of the rest: %v", err)
	}
	if _, err := t.Merge(w.ctx()); err != nil {
		w.Errorf("Merge: %v", err)
	}
	url := filepath.Join(w.dir, "remote.git")
	w.gitIn(w.dir, "init", "-q", "--bare", url)
	w.git("config", "remote.origin.url", url)
	if _, err := t.Push(w.ctx(), url); err != nil {
		w.Errorf("Push: %v", err)
	}
}

// TestPrograms checks that no operation runs a program that only the repository has configured, in
// any setting, until it is trusted.
func TestPrograms(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	plants := map[string]func(*world){
		"config": func(w *world) { w.plant(".git/config", filepath.Join(w.repo, ".git/hooks")) },
		"worktree": func(w *world) {
			w.git("config", "extensions.worktreeConfig", "true")
			w.plant(".git/config.worktree", filepath.Join(w.repo, ".git/hooks"))
		},
		"included": func(w *world) {
			w.plant("../more", filepath.Join(w.repo, ".git/hooks"))
			w.git("config", "include.path", "../../more")
		},
		"included if": func(w *world) {
			w.plant("../more", filepath.Join(w.repo, ".git/hooks"))
			w.git("config", "includeIf.gitdir:**.path", "../../more")
		},
		"included in worktrees": func(w *world) {
			w.plant("../more", filepath.Join(w.repo, ".git/hooks"))
			w.write("between", "[includeIf \"gitdir:**/worktrees/**\"]\n\tpath = more\n")
			w.git("config", "includeIf.onbranch:**.path", "../../between")
		},
		"hooks elsewhere": func(w *world) {
			w.git("config", "core.hooksPath", filepath.Join(w.dir, "hooks"))
			if err := os.MkdirAll(filepath.Join(w.dir, "hooks"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.plant(".git/config", filepath.Join(w.dir, "hooks"))
		},
		"submodule": func(w *world) {
			w.gitIn(w.dir, "init", "-q", "repo/mod")
			w.write("repo/mod/.gitattributes", "*.flt filter=e=v.il\n*.prc filter=proc\n")
			w.write("repo/mod/x.flt", "x\n")
			w.write("repo/mod/x.prc", "x\n")
			w.gitIn(filepath.Join(w.repo, "mod"), "add", ".")
			w.gitIn(filepath.Join(w.repo, "mod"), "commit", "-qm", "one")
			w.git("-c", "advice.addEmbeddedRepo=false", "add", "mod")
			w.git("commit", "-qm", "a submodule")
			w.plant("mod/.git/config", filepath.Join(w.repo, "mod/.git/hooks"))
			w.write("repo/mod/x.flt", "y\n")
			w.write("repo/mod/x.prc", "y\n")
		},
	}
	names := slices.Sorted(maps.Keys(plants))
	for i := 0; i < len(names); i += short.Every(4) {
		name, plant := names[i], plants[names[i]]
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("repo/.gitattributes", "*.flt filter=e=v.il diff=e=v.il merge=e=v.il\n*.prc filter=proc\n")
			w.write("repo/b.flt", "b\n")
			w.write("repo/b.prc", "b\n")
			w.git("add", ".")
			w.git("commit", "-qm", "two")
			plant(w)
			w.write("repo/b.flt", "changed\n")
			w.write("repo/b.prc", "changed\n")
			tree, err := w.Tree(w.ctx(), w.repo, "s-1")
			if err != nil {
				t.Fatal(err)
			}
			w.ran()
			w.operations(tree)
			if ran := w.ran(); len(ran) > 0 {
				t.Errorf("git ran %q, want nothing", ran)
			}
			p, err := tree.Programs(w.ctx())
			if err != nil || p.Hash == "" || len(p.Settings) == 0 || p.Trusted {
				t.Errorf("Programs: %+v, %v", p, err)
			}
			w.trusted.Store(true)
			w.write("repo/b.flt", "changed again\n")
			if err := os.Remove(filepath.Join(w.repo, "b.prc")); err != nil { // its filter fails
				t.Fatal(err)
			}
			w.ran()
			if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"b.flt"}}); name != "submodule" && name != "included in worktrees" {
				ran := w.ran()
				if err != nil || !slices.Contains(ran, "filter.e=v.il.clean") || !slices.Contains(ran, "hook-pre-commit") {
					t.Errorf("trusted, git ran %q, %v", ran, err)
				}
			}
		})
	}
}

// TestPrograms_signer checks that a commit is signed by the signer of the user and not by that of the repository, unless it is trusted.
func TestPrograms_signer(t *testing.T) {
	w := newWorld(t)
	signer := func(name string) string {
		w.write(name, "#!/bin/sh\ncat >/dev/null\nprintf '\\n[GNUPG:] SIG_CREATED x\\n' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n\\n"+name+"\\n-----END PGP SIGNATURE-----\\n'\n")
		path := filepath.Join(w.dir, name)
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	w.gitIn(w.dir, "config", "--global", "gpg.program", signer("ours"))
	w.git("config", "gpg.program", signer("theirs"))
	w.git("config", "commit.gpgSign", "true")
	tree, err := w.Tree(w.ctx(), w.repo, "s-1")
	if err != nil {
		t.Fatal(err)
	}
	for trusted, want := range map[bool]string{false: "ours", true: "theirs"} {
		w.trusted.Store(trusted)
		w.put(tree, "a.txt", want+"\n")
		if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"a.txt"}}); err != nil {
			t.Fatal(err)
		}
		if got := w.git("cat-file", "commit", "HEAD"); !strings.Contains(got, "\n "+want+"\n") {
			t.Errorf("trusted %v: the commit is not signed by %s:\n%s", trusted, want, got)
		}
	}
}

// TestPrograms_merge merges two changes of one file whose merge driver the repository names: git does not run it, unless it is trusted.
func TestPrograms_merge(t *testing.T) {
	w := newWorld(t)
	w.write("repo/.gitattributes", "*.mrg merge=e=v.il\n")
	w.write("repo/m.mrg", lines(20))
	w.git("add", ".")
	w.git("commit", "-qm", "two")
	_, tree := w.create(CreateOptions{})
	w.put(tree, "m.mrg", "first\n"+lines(20))
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"m.mrg"}}); err != nil {
		t.Fatal(err)
	}
	w.write("repo/m.mrg", lines(20)+"last\n")
	w.git("commit", "-qam", "three")
	w.plant(".git/config", filepath.Join(w.repo, ".git/hooks"))
	w.ran()
	for _, trusted := range []bool{false, true} {
		w.trusted.Store(trusted)
		_, err := tree.Merge(w.ctx())
		_, conflict := errors.AsType[*ConflictError](err)
		if ran := w.ran(); slices.Contains(ran, "merge.e=v.il.driver") != trusted || !trusted && (len(ran) > 0 || !conflict) {
			t.Errorf("trusted %v: git ran %q, and the merge ended with %v; want the driver: %v", trusted, ran, err, trusted)
		}
	}
}

// TestPrograms_push pushes to a server that requires a password: git asks the credential helper of the user, and neither the helper nor
// the askpass program of the repository.
func TestPrograms_push(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		out.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	w.plant(".git/config", filepath.Join(w.repo, ".git/hooks"))
	w.git("config", "remote.origin.url", server.URL+"/r.git")
	w.gitIn(w.dir, "config", "--global", "http.sslVerify", "false")
	ws, err := w.Create(w.ctx(), CreateOptions{Repo: w.repo})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := w.Tree(w.ctx(), ws.Path, "s-1")
	if err != nil {
		t.Fatal(err)
	}
	w.put(tree, "a.txt", "x\n")
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"a.txt"}}); err != nil {
		t.Fatal(err)
	}
	w.gitIn(w.dir, "config", "--global", "credential.helper", "!"+filepath.Join(w.dir, "prog")+" own")
	w.ran()
	_, err = tree.Push(w.ctx(), server.URL+"/r.git")
	if ran := w.ran(); err == nil || !slices.Equal(ran, []string{"own"}) {
		t.Errorf("git ran %q, and the push ended with %v; want the helper of the user alone, and an error", ran, err)
	}
}

// TestPrograms_filter checks that a file that needs a filter of the repository is listed by a diff
// and rejected by commit and revert, and that a user's filter is used, also instead of the
// repository's.
func TestPrograms_filter(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	w.write("repo/.gitattributes", "*.big filter=big\n")
	w.git("config", "filter.big.clean", "tr a-z A-Z")
	w.git("config", "filter.big.smudge", "tr A-Z a-z")
	w.git("config", "filter.big.required", "true")
	w.write("repo/x.big", "x\n")
	w.write("repo/gone.big", "x\n")
	w.git("add", ".")
	w.git("commit", "-qm", "two")
	w.write("repo/x.big", "changed\n")
	w.write("repo/other.txt", "other\n")
	if err := os.Remove(filepath.Join(w.repo, "gone.big")); err != nil {
		t.Fatal(err)
	}
	tree, err := w.Tree(w.ctx(), w.repo, "s-1")
	if err != nil {
		t.Fatal(err)
	}
	d := w.diff(tree, "HEAD", "")
	if i := slices.IndexFunc(d.Left, func(l LeftOut) bool { return l.Path == "x.big" && l.Why == NeedsFilter && l.Size == 8 }); i < 0 || len(d.Left) != 1 {
		t.Errorf("Left is %+v, want x.big alone", d.Left)
	}
	for _, files := range [][]string{nil, {"x.big"}, {"x.big", "other.txt"}} {
		if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: files}); !errors.Is(err, ErrFilter) {
			t.Errorf("Commit of %q: %v, want ErrFilter", files, err)
		}
	}
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"other.txt", "gone.big"}}); err != nil {
		t.Errorf("Commit of files without the filter: %v", err)
	}
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: w.git("rev-parse", "HEAD~1"), File: "gone.big"}); !errors.Is(err, ErrFilter) {
		t.Errorf("Revert: %v, want ErrFilter", err)
	}
	w.gitIn(w.dir, "config", "--global", "filter.big.clean", "tr a-z 0")
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"x.big"}}); err != nil {
		t.Fatalf("Commit with the user's filter: %v", err)
	}
	if got := w.git("show", "HEAD:x.big"); got != "0000000" {
		t.Errorf("git has %q, want that of the user's filter", got)
	}
}

// TestPrograms_hash checks that the hash changes with every setting and hook, and with no other change.
func TestPrograms_hash(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	tree, err := w.Tree(w.ctx(), w.repo, "s-1")
	if err != nil {
		t.Fatal(err)
	}
	hash := func() string {
		t.Helper()
		p, err := tree.Programs(w.ctx())
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	if got := hash(); got != "" {
		t.Errorf("the hash of nothing is %q", got)
	}
	seen := map[string]string{"": "nothing"}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a filter", func() { w.git("config", "filter.a.clean", "cat") }},
		{"another value", func() { w.git("config", "filter.a.clean", "cat -") }},
		{"another name", func() { w.git("config", "--rename-section", "filter.a", "filter.b") }},
		{"a hook", func() { w.hook("pre-commit", "exit 0") }},
		{"another hook", func() { w.hook("pre-commit", "exit 1") }},
	} {
		step.do()
		got := hash()
		if before, ok := seen[got]; ok {
			t.Errorf("%s has the hash of %s", step.name, before)
		}
		seen[got] = step.name
	}
	before := hash()
	w.git("config", "user.name", "V")
	w.gitIn(w.dir, "config", "--global", "filter.c.clean", "cat")
	if got := hash(); got != before {
		t.Error("the hash changes with a setting that names no program, or with the user's")
	}
	w.write("repo/.git/hooks/pre-push", "#!/bin/sh\n"+strings.Repeat("#", maxHookSize))
	if err := os.Chmod(filepath.Join(w.repo, ".git/hooks/pre-push"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := hash(); got != "" {
		t.Errorf("the hash of a hook that is too long is %q, want none", got)
	}
}

// TestRun_needsGuard checks that a command that may run a program is rejected without a guard.
func TestRun_needsGuard(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"add", "."}, {"commit", "-m", "m"}, {"status"}, {"checkout", "."}, {"update-index", "--refresh"}, {"merge", "x"}, {"push"}, {"fetch"},
		{"worktree", "add", "x"}, {"cat-file", "--filters", "HEAD:a.txt"}, {"ls-files", "--modified"}, {"-c", "a.b=c", "diff"},
	} {
		if _, err := w.Manager.git.run(w.ctx(), command{dir: w.repo, args: args}); err == nil || !strings.Contains(err.Error(), "no guard") {
			t.Errorf("git %q: %v, want a refusal", args, err)
		}
	}
}

func TestOverride(t *testing.T) {
	got := environment(override([]setting{
		{scope: "system", key: "credential.helper", value: "sys"}, {scope: "global", key: "credential.helper", value: "mine"}, {scope: "global", key: "filter.lfs.clean", value: "lfs %f"}, {scope: "global", key: "diff.external", value: "mine"},
		{scope: "local", key: "credential.helper", value: "evil"}, {scope: "local", key: "filter.lfs.clean", value: "evil"}, {scope: "local", key: "filter.a=b.process", value: "evil"}, {scope: "local", key: "filter.a=b.process", value: "evil 2"},
		{scope: "local", key: "user.name", value: "U"}, {scope: "worktree", key: "gpg.program", value: "evil"}, {scope: "local", key: "lfs.extension.e.clean", value: "evil"}, {scope: "local", key: "filter.A.B.required", value: "true"},
	}))
	want := []string{"GIT_CONFIG_COUNT=8"}
	for i, kv := range [][2]string{{"credential.helper", ""}, {"credential.helper", "sys"}, {"credential.helper", "mine"}, {"filter.lfs.clean", "lfs %f"}, {"filter.a=b.process", ""},
		{"gpg.program", "gpg"}, {"lfs.extension.e.clean", ""}, {"filter.A.B.required", "false"}} {
		n := string(rune('0' + i))
		want = append(want, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("override is %q, want %q", got, want)
	}
}

// Every operation refuses a repository that names another directory as its working tree.
func TestPrograms_worktree(t *testing.T) {
	w := newWorld(t)
	w.write("other/secret", "x\n")
	tree, err := w.Tree(w.ctx(), w.repo, "s-1")
	if err != nil {
		t.Fatal(err)
	}
	w.git("config", "core.worktree", filepath.Join(w.dir, "other"))
	for name, do := range map[string]func() error{
		"Snapshot": func() error { _, err := tree.Snapshot(w.ctx()); return err },
		"Diff":     func() error { _, err := tree.Diff(w.ctx(), "HEAD", ""); return err },
		"Commit": func() error {
			_, err := tree.Commit(w.ctx(), CommitOptions{Message: "m", Files: []string{"secret"}})
			return err
		},
		"Revert":   func() error { _, err := tree.Revert(w.ctx(), RevertOptions{From: "HEAD", File: "a.txt"}); return err },
		"Programs": func() error { _, err := tree.Programs(w.ctx()); return err },
		"Create":   func() error { _, err := w.Create(w.ctx(), CreateOptions{Repo: w.repo}); return err },
	} {
		if err := do(); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v, want ErrUnsafe", name, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(w.dir, "other")); err != nil || len(entries) != 1 {
		t.Errorf("the other directory has %v, %v", entries, err)
	}
}
