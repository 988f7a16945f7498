package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// repoChild is a child with a user's repository as the directory for sessions, with a stash,
// changes in the index and the checkout, and an untracked file. Three loops work on it: one creates
// workspaces, one reverts hunks, one commits.
type repoChild struct {
	*child
	repo   string
	before map[string]string // the user's files

	made                []string // ids of acknowledged workspaces
	making              int      // the number of the last requested one
	reverts, commits    api.Workspace
	reverter, committer string         // sessions in them
	edit, reverted      int            // the last edit, and the last one with an acknowledged revert
	written             int            // the last text of a requested commit
	acked               map[int]string // commits by that number
}

func newRepoChild(t *testing.T) *repoChild {
	r := &repoChild{acked: map[int]string{}}
	r.child = newChild(t, "PATH="+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	r.repo = filepath.Join(r.dir, "work")
	writeFile(t, filepath.Join(r.dir, ".gitconfig"), "[user]\n\tname = U\n\temail = u@example.invalid\n[init]\n\tdefaultBranch = main\n")
	r.git("init", "-q")
	for name, text := range map[string]string{"a.txt": numbered(40), "b.txt": numbered(20)} {
		writeFile(t, filepath.Join(r.repo, name), text)
	}
	r.git("add", ".")
	r.git("commit", "-qm", "one")
	writeFile(t, filepath.Join(r.repo, "a.txt"), numbered(41))
	r.git("stash", "-q")
	writeFile(t, filepath.Join(r.repo, "staged.txt"), "staged\n")
	r.git("add", "staged.txt")
	writeFile(t, filepath.Join(r.repo, "b.txt"), numbered(21))
	writeFile(t, filepath.Join(r.repo, "untracked.txt"), "untracked\n")
	r.before = r.fingerprint()
	r.reverts, r.reverter = r.session()
	r.commits, r.committer = r.session()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for _, step := range []func(context.Context) error{r.make, r.revert, r.commit} {
		if err := step(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// session creates a workspace and a session in it.
func (r *repoChild) session() (api.Workspace, string) {
	r.t.Helper()
	var ws api.WorkspaceResult
	r.must("workspace.create", api.WorkspaceCreateParams{Repo: r.repo}, &ws)
	var c api.ConnectResult
	r.must("session.connect", api.ConnectParams{WorkspaceID: ws.Workspace.ID}, &c)
	return ws.Workspace, c.SessionID
}

func (r *repoChild) git(args ...string) string {
	r.t.Helper()
	return r.gitIn(r.repo, args...)
}

func (r *repoChild) gitIn(dir string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// fingerprint returns every file of the user's checkout and repository, except objects and the
// server's files.
func (r *repoChild) fingerprint() map[string]string {
	r.t.Helper()
	own := []string{".git/objects", ".git/worktrees", ".git/refs/parley", ".git/refs/heads/parley", ".git/logs/refs/heads/parley"}
	files := map[string]string{}
	err := filepath.WalkDir(r.repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.repo, path)
		if slices.Contains(own, filepath.ToSlash(rel)) {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[rel] = fmt.Sprintf("%x %s %s", sha256.Sum256(data), info.Mode(), info.ModTime().Format(time.RFC3339Nano))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

// repeat runs a step until ctx ends or the server exits. The server must not reject it.
func (r *repoChild) repeat(ctx context.Context, step func(context.Context) error) {
	for ctx.Err() == nil {
		if err := step(ctx); err != nil {
			if client.Reason(err) != "" {
				r.t.Error(err)
			}
			return
		}
	}
}

// make creates the next workspace.
func (r *repoChild) make(ctx context.Context) error {
	r.making++
	return r.makeAgain(ctx)
}

func (r *repoChild) makeAgain(ctx context.Context) error {
	var ws api.WorkspaceResult
	key := api.Idempotency{Key: strconv.Itoa(r.making)}
	err := r.client.Call(ctx, "workspace.create", api.WorkspaceCreateParams{Repo: r.repo, Setup: "echo set up", Idempotency: key}, &ws)
	if err == nil {
		r.made = append(r.made, ws.Workspace.ID)
	}
	return err
}

// edited returns the file of the reverting loop: with both changes, or only the first.
func (r *repoChild) edited(both bool) string {
	text := strings.Replace(numbered(40), "line 5\n", fmt.Sprintf("five %d\n", r.edit), 1)
	if both {
		text = strings.Replace(text, "line 30\n", fmt.Sprintf("thirty %d\n", r.edit), 1)
	}
	return text
}

// revert changes a file in two places and reverts the second change.
func (r *repoChild) revert(ctx context.Context) error {
	r.edit++
	if err := os.WriteFile(filepath.Join(r.reverts.Path, "a.txt"), []byte(r.edited(true)), 0o600); err != nil {
		return err
	}
	return r.revertAgain(ctx)
}

func (r *repoChild) revertAgain(ctx context.Context) error {
	var d api.WorkspaceDiffResult
	if err := r.client.Call(ctx, "workspace.diff", api.WorkspaceDiffParams{SessionID: r.reverter}, &d); err != nil {
		return err
	}
	if len(d.Files) != 1 || len(d.Files[0].Hunks) != 2 {
		r.t.Errorf("the diff is %+v", d.Files)
		return errors.New("the diff is wrong")
	}
	p := api.WorkspaceRevertParams{SessionID: r.reverter, File: "a.txt", Hunk: d.Files[0].Hunks[1].ID}
	if err := r.client.Call(ctx, "workspace.revert", p, nil); err != nil {
		return err
	}
	r.reverted = r.edit
	return nil
}

// commit writes a file and commits it.
func (r *repoChild) commit(ctx context.Context) error {
	r.written++
	if err := os.WriteFile(filepath.Join(r.commits.Path, "c.txt"), []byte(strconv.Itoa(r.written)), 0o600); err != nil {
		return err
	}
	return r.commitAgain(ctx)
}

func (r *repoChild) commitAgain(ctx context.Context) error {
	name := fmt.Sprintf("commit %d", r.written)
	var done api.WorkspaceCommitResult
	err := r.client.Call(ctx, "workspace.commit", api.WorkspaceCommitParams{SessionID: r.committer, Message: name, Trailer: true, Idempotency: api.Idempotency{Key: name}}, &done)
	if err == nil {
		r.acked[r.written] = done.Commit
	}
	return err
}

// descendants returns the processes below a process, where /proc lists them.
func descendants(pid int) []*os.Process {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // empty on other systems
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has exited
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], id)
		}
	}
	var all []*os.Process
	for level := children[pid]; len(level) > 0; level = level[1:] {
		if p, err := os.FindProcess(level[0]); err == nil {
			all = append(all, p)
		}
		level = append(level, children[level[0]]...)
	}
	return all
}

// killAll kills the server and, with all set, its git processes.
func (r *repoChild) killAll(all bool) (with int) {
	var gits []*os.Process
	if all {
		gits = descendants(r.cmd.Process.Pid)
	}
	r.kill()
	for _, p := range gits {
		if p.Kill() == nil {
			with++
		}
		_ = p.Release()
	}
	return with
}

// load runs the three loops until the server is killed after a time, and returns the number of
// processes killed with it.
func (r *repoChild) load(after time.Duration, all bool) int {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var loops sync.WaitGroup
	for _, step := range []func(context.Context) error{r.make, r.revert, r.commit} {
		loops.Go(func() { r.repeat(ctx, step) })
	}
	timer := time.NewTimer(after)
	<-timer.C
	with := r.killAll(all)
	cancel()
	loops.Wait()
	return with
}

// checkRepo checks the user's repository after a restart.
func (r *repoChild) checkRepo() {
	r.t.Helper()
	if d := cmp.Diff(r.before, r.fingerprint()); d != "" {
		r.t.Errorf("the user's checkout was changed (-before +after):\n%s", d)
	}
	if out := r.git("fsck", "--full", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		r.t.Errorf("git fsck: %s", out)
	}
	for _, dir := range []string{filepath.Join(r.repo, ".git"), filepath.Join(r.dir, "server")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if name := filepath.Base(path); err == nil && (strings.HasSuffix(name, ".lock") && filepath.Base(filepath.Dir(path)) != "index" || strings.HasPrefix(name, ".parley-")) {
				r.t.Errorf("%s is left", path)
			}
			return err
		})
		if err != nil {
			r.t.Error(err)
		}
	}
}

// checkMade checks that the acknowledged workspaces exist, and that git lists as many.
func (r *repoChild) checkMade() {
	r.t.Helper()
	var list api.WorkspaceListResult
	r.must("workspace.list", api.Empty{}, &list)
	have := map[string]bool{}
	for _, w := range list.Workspaces {
		have[w.ID] = true
		if w.ID == r.reverts.ID || w.ID == r.commits.ID {
			continue
		}
		if got := r.gitIn(w.Path, "status", "--porcelain"); got != "" {
			r.t.Errorf("workspace %s has %q", w.ID, got)
		}
	}
	for _, id := range r.made {
		if !have[id] {
			r.t.Errorf("workspace %s was acknowledged and is gone", id)
		}
	}
	trees := strings.Count(r.git("worktree", "list", "--porcelain"), "worktree ") - 1
	branches := strings.Count(r.git("for-each-ref", "refs/heads/parley")+"\n", "refs/heads/parley/")
	if trees != len(have) || branches != len(have) {
		r.t.Errorf("there are %d workspaces, git knows of %d trees and %d branches", len(have), trees, branches)
	}
}

// checkFiles checks the reverted and committed files.
func (r *repoChild) checkFiles() {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.reverts.Path, "a.txt"))
	if err != nil || string(data) != r.edited(false) && (string(data) != r.edited(true) || r.reverted == r.edit) {
		r.t.Errorf("after edit %d, reverted %d, the file is %q, %v", r.edit, r.reverted, data, err)
	}
	data, err = os.ReadFile(filepath.Join(r.commits.Path, "c.txt"))
	if err != nil || string(data) != strconv.Itoa(r.written) {
		r.t.Errorf("after text %d the file has %q, %v", r.written, data, err)
	}
	log := r.gitIn(r.commits.Path, "log", "--format=%H %s", r.commits.Base+"..HEAD") + "\n"
	for n, id := range r.acked {
		if !strings.Contains(log, fmt.Sprintf("%s commit %d\n", id, n)) {
			r.t.Errorf("commit %d, %s, was acknowledged and is gone", n, id)
		}
	}
}

// finish repeats the interrupted operations. All must succeed, with effect once.
func (r *repoChild) finish() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := r.makeAgain(ctx); err != nil {
		r.t.Errorf("making the workspace again: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(r.reverts.Path, "a.txt"))
	if err == nil && string(data) == r.edited(true) {
		err = r.revertAgain(ctx)
	}
	if err != nil {
		r.t.Errorf("reverting again: %v", err)
	}
	// After a commit that was made but not acknowledged there is no change to commit.
	if err := r.commitAgain(ctx); err != nil && client.Reason(err) != api.Conflict {
		r.t.Errorf("committing again: %v", err)
	}
	log := r.gitIn(r.commits.Path, "log", "--format=%s", r.commits.Base+"..HEAD") + "\n"
	if n := strings.Count("\n"+log, fmt.Sprintf("\ncommit %d\n", r.written)); n != 1 {
		r.t.Errorf("commit %d is there %d times", r.written, n)
	}
	if got := r.gitIn(r.commits.Path, "status", "--porcelain"); got != "" {
		r.t.Errorf("after the commit there is %q", got)
	}
	slices.Sort(r.made)
	for _, id := range slices.Compact(r.made) {
		r.must("workspace.remove", api.WorkspaceRemoveParams{ID: id}, nil)
	}
	r.made = nil
}

// TestKill9Workspace kills the server at random points while workspaces are created, hunks are
// reverted and commits are written, every other time with its git processes. The repository stays
// intact, the user's part of it unchanged, and no work is lost.
func TestKill9Workspace(t *testing.T) {
	short.SkipLong(t, "starts servers and git")
	kills := short.Count(1, 10, 200)
	r := newRepoChild(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	gits := 0
	for i := range kills {
		gits += r.load(time.Duration(20+random.IntN(600))*time.Millisecond, i%2 == 1)
		r.start()
		r.checkMade()
		r.checkFiles()
		r.finish()
		r.checkRepo()
		if t.Failed() {
			t.Fatalf("after kill %d\n%s", i+1, r.stderr)
		}
	}
	t.Logf("%d kills with %d processes, %d workspaces, %d reverts, %d commits", kills, gits, r.making, r.reverted, len(r.acked))
}
