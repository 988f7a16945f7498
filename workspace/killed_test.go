package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

const killedID = "w-0123456789ab"

// runKilled performs one operation in a separate process, which is killed at a certain point.
func runKilled(dir string) {
	point := os.Getenv("PARLEY_TEST_POINT")
	step = func(p string) {
		if p == point {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	}
	ctx := context.Background()
	err := os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600)
	m, openErr := Open(ctx, Options{Dir: filepath.Join(dir, "data"), Env: os.Environ(), Trust: func(Programs) bool { return true }})
	if err = errors.Join(err, openErr); err == nil {
		err = killedOp(ctx, m, dir, os.Getenv("PARLEY_TEST_OP"))
	}
	fmt.Println("not killed:", err)
	os.Exit(1)
}

func killedOp(ctx context.Context, m *Manager, dir, op string) error {
	if op == "create" {
		_, err := m.Create(ctx, CreateOptions{Repo: filepath.Join(dir, "repo"), ID: killedID, Setup: "touch set-up"})
		return err
	}
	ws, err := m.Get(killedID)
	if err != nil {
		return err
	}
	t, err := m.Tree(ctx, ws.Path, "s-1")
	if err != nil {
		return err
	}
	switch op {
	case "revert":
		d, err := t.Diff(ctx, ws.Base, "")
		if err != nil {
			return err
		}
		_, err = t.Revert(ctx, RevertOptions{From: ws.Base, File: "a.txt", Hunk: d.Files[0].Hunks[1].ID})
		return err
	case "commit":
		_, err = t.Commit(ctx, CommitOptions{Message: "killed"})
		return err
	case "remove":
		return m.Remove(ctx, killedID, RemoveOptions{})
	}
	return errors.New("no such thing to do")
}

// kill runs an operation in a process that is killed at a certain point; "" means a kill from
// outside. Then it opens the data directory again.
func (w *world) kill(op, point string) {
	w.Helper()
	w.killed(op, point)
	w.open()
}

// killed is like kill but does not open the directory.
func (w *world) killed(op, point string) {
	w.Helper()
	if err := w.Manager.Close(); err != nil {
		w.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.ctx(), self)
	cmd.Env = append([]string{"GORACE=atexit_sleep_ms=0", "PARLEY_TEST_KILLED=" + w.dir, "PARLEY_TEST_POINT=" + point, "PARLEY_TEST_OP=" + op}, w.env...)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
		w.Fatalf("%s, %s: the process was not killed: %v\n%s", op, point, err, out)
	}
}

const editedOnce, editedTwice = "THREE", "TWENTY"

// killedWorld has a workspace with two hunks in a.txt and an untracked file.
func killedWorld(t *testing.T) (*world, Workspace, *Tree) {
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{ID: killedID})
	w.put(tree, "a.txt", strings.NewReplacer("line 3\n", editedOnce+"\n", "line 20\n", editedTwice+"\n").Replace(lines(40)))
	w.put(tree, "new.txt", "new\n")
	return w, ws, tree
}

func TestKilledCreate(t *testing.T) {
	short.Skip(t, "itself, and git again and again")
	for _, point := range []string{"worktree recorded", "worktree added", "setup begins"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			same := w.untouched()
			w.kill("create", point)
			same()
			w.consistent()
			if _, err := w.Get(killedID); err != nil && point == "setup begins" || err == nil && point != "setup begins" {
				t.Errorf("after the kill: %v", err)
			}
			if point != "setup begins" {
				if got := w.git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
					t.Errorf("git knows of %s", got)
				}
			}
			ws, _ := w.create(CreateOptions{ID: killedID})
			if got := w.gitIn(ws.Path, "status", "--porcelain"); got != "" {
				t.Errorf("the status is %q", got)
			}
			if err := w.Remove(w.ctx(), killedID, RemoveOptions{}); err != nil {
				t.Error(err)
			}
			same()
		})
	}
}

func TestKilledRevert(t *testing.T) {
	short.Skip(t, "itself, and git again and again")
	for point, reverted := range map[string]bool{"file noted": false, "file written": false, "file replaced": true} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w, ws, tree := killedWorld(t)
			same := w.untouched()
			w.kill("revert", point)
			got := w.get(tree, "a.txt")
			if !strings.Contains(got, editedOnce) || strings.Contains(got, editedTwice) == reverted || strings.Count(got, "\n") != 40 {
				t.Errorf("the file is\n%s", got)
			}
			if got := w.gitIn(ws.Path, "status", "--porcelain"); got != " M a.txt\n?? new.txt" {
				t.Errorf("the status is %q", got)
			}
			same()
			w.consistent()
		})
	}
}

func TestKilledCommit(t *testing.T) {
	short.SkipLong(t, "starts itself, and git again and again")
	for point, made := range map[string]bool{"commit noted": false, "files staged": false, "commit made": true} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w, ws, _ := killedWorld(t)
			same := w.untouched()
			w.kill("commit", point)
			w.committed(ws, made)
			same()
		})
	}
}

// committed checks whether a commit was made, that no work is lost, and that the next commit works.
func (w *world) committed(ws Workspace, made bool) {
	w.Helper()
	w.consistent()
	if got := w.gitIn(ws.Path, "log", "-1", "--format=%s") == "killed"; got != made {
		w.Errorf("a commit was made: %t, want %t", got, made)
	}
	for name, want := range map[string]string{"a.txt": editedTwice, "new.txt": "new"} {
		if data, err := os.ReadFile(filepath.Join(ws.Path, name)); err != nil || !strings.Contains(string(data), want) {
			w.Errorf("%s: %q, %v; want err == nil and strings.Contains(string(data), want)", name, data, err)
		}
	}
	t, err := w.Tree(w.ctx(), ws.Path, "s-1")
	if err != nil {
		w.Fatal(err)
	}
	w.put(t, "next.txt", "next\n")
	if _, err := t.Commit(w.ctx(), CommitOptions{Message: "next"}); err != nil {
		w.Error(err)
	}
	if got := w.gitIn(ws.Path, "ls-tree", "-r", "--name-only", "HEAD"); !strings.Contains(got, "new.txt\nnext.txt") {
		w.Errorf("the commit has %q", got)
	}
}

// TestKilledGitGoesOn checks that Open waits for a git that outlives its manager.
func TestKilledGitGoesOn(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w, ws, _ := killedWorld(t)
	release := filepath.Join(w.dir, "release")
	// It ends when the test allows it, or after a minute.
	w.hook("pre-commit", fmt.Sprintf("test -e %[1]s || exit 0; pid=$(cat %[1]s); rm %[1]s; kill -9 $pid; n=0; while ! test -e %[2]s && test $n -lt 1200; do n=$((n+1)); sleep 0.05; done",
		filepath.Join(w.dir, "pid"), release))
	same := w.untouched()
	w.killed("commit", "")
	opts := w.opts
	opts.Timeout = 200 * time.Millisecond
	if m, err := Open(w.ctx(), opts); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the directory was opened while git runs: %v, %v", m, err)
	}
	w.write("release", "")
	w.open()
	w.committed(ws, true)
	same()
}

// TestKilledInGit checks that the lock of a git that was killed with its manager is removed.
func TestKilledInGit(t *testing.T) {
	short.Skip(t, "itself, and git again and again")
	t.Run("commit", func(t *testing.T) {
		t.Parallel()
		w, ws, _ := killedWorld(t)
		w.hook("pre-commit", fmt.Sprintf("test -e %[1]s || exit 0; pid=$(cat %[1]s); rm %[1]s; kill -9 $pid; kill -9 $PPID", filepath.Join(w.dir, "pid")))
		same := w.untouched()
		w.kill("commit", "")
		w.committed(ws, false)
		same()
	})
	t.Run("worktree", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.hook("post-checkout", fmt.Sprintf("test -e %[1]s || exit 0; pid=$(cat %[1]s); rm %[1]s; kill -9 $pid; kill -9 $PPID", filepath.Join(w.dir, "pid")))
		same := w.untouched()
		w.kill("create", "")
		same()
		w.consistent()
		if ws, _ := w.create(CreateOptions{ID: killedID}); w.gitIn(ws.Path, "status", "--porcelain") != "" {
			t.Error("the worktree has changes")
		}
	})
}

// TestKilledInRefLock checks that the lock of a ref is removed after git was killed. The hook runs
// while git has the lock.
func TestKilledInRefLock(t *testing.T) {
	short.Skip(t, "itself, and git again and again")
	for _, op := range []string{"commit", "create"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			w, ws := newWorld(t), Workspace{}
			if op == "commit" {
				w, ws, _ = killedWorld(t)
			}
			w.hook("reference-transaction", fmt.Sprintf("test $1 = prepared || exit 0; test -e %[1]s || exit 0; pid=$(cat %[1]s); rm %[1]s; kill -9 $pid; kill -9 $PPID", filepath.Join(w.dir, "pid")))
			same := w.untouched()
			w.killed(op, "")
			lock := filepath.Join(w.repo, ".git", "refs", "heads", "parley", strings.TrimPrefix(killedID, "w-")+".lock")
			if _, err := os.Stat(lock); err != nil {
				t.Errorf("git has left no lock: %v", err)
			}
			w.open()
			if op == "commit" {
				w.committed(ws, false)
			} else if ws, _ := w.create(CreateOptions{ID: killedID}); w.gitIn(ws.Path, "status", "--porcelain") != "" {
				t.Error("the worktree has changes")
			}
			same()
			w.consistent()
		})
	}
}

// TestKilledInSnapshot checks that the lock of a snapshot's ref from a killed git does not block the next snapshot.
func TestKilledInSnapshot(t *testing.T) {
	short.SkipQuick(t, "kills many snapshots")
	w, ws, tree := killedWorld(t)
	s, err := tree.Snapshot(w.ctx())
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join("repo", ".git", filepath.FromSlash(refPrefix(ws.ID)+s.Tree)+".lock")
	w.git("update-ref", "-d", refPrefix(ws.ID)+s.Tree)
	w.write(lock, "")
	if err := w.Manager.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	if tree, err = w.Tree(w.ctx(), ws.Path, "s-1"); err != nil {
		t.Fatal(err)
	}
	if again, err := tree.Snapshot(w.ctx()); err != nil || again.Tree != s.Tree {
		t.Errorf("the snapshot is %+v, %v", again, err)
	}
	w.write(lock, "")
	if err := w.Manager.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{Force: true}); err != nil {
		t.Error(err)
	}
}

func TestKilledRemove(t *testing.T) {
	short.Skip(t, "itself, and git again and again")
	for point, gone := range map[string]bool{"removal recorded": false, "worktree in the trash": true, "worktree dropped": true} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ws, _ := w.create(CreateOptions{ID: killedID})
			same := w.untouched()
			w.kill("remove", point)
			if _, err := w.Get(killedID); errors.Is(err, ErrNotFound) != gone {
				t.Errorf("after the kill: %v", err)
			}
			if _, err := os.Stat(ws.Path); errors.Is(err, os.ErrNotExist) != gone {
				t.Errorf("the directory: %v", err)
			}
			if got := w.git("for-each-ref", "refs/heads/parley", "refs/parley"); (got == "") != gone {
				t.Errorf("refs: %q", got)
			}
			same()
			w.consistent()
		})
	}
}
