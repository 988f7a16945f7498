package server

import (
	"bytes"
	"context"
	"errors"
	"github.com/seed7221b0f9/parley/server/retention"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestLimits deletes data over a limit, oldest first, and no data in use; without a limit it deletes no data.
func TestLimits(t *testing.T) {
	h := newHarness(t)
	first, second, open := h.connect(), h.connect(), h.connect()
	for _, id := range []string{first, second, open} {
		dir := h.server.uploadDir(id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.png"), bytes.Repeat([]byte{1}, 100_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	looking := h.watch(open)
	h.query(open, "say hello")
	looking.results(1)
	for _, id := range []string{first, second} { // in the order of their last use
		w := h.watch(id)
		h.query(id, "say hello")
		w.results(1)
		w.stop()
	}
	storage := func() map[string]api.StorageKind {
		var r api.ServerStorageResult
		h.call("server.storage", api.Empty{}, &r)
		kinds := map[string]api.StorageKind{}
		for _, k := range r.Kinds {
			kinds[k.Name] = k
		}
		return kinds
	}
	h.server.enforceLimits(h.ctx())
	if k := storage(); k["uploads"].Bytes != 300_000 || k["uploads"].Items != 3 || k["logs"].Items != 3 || k["logs"].Bytes == 0 || k["logs"].LimitBytes != 0 || k["logs"].Oldest == "" {
		t.Fatalf("without a limit: %+v", k)
	}
	eventually(t, "nobody looks at the others", func() bool { return h.info(first).Viewers+h.info(second).Viewers == 0 })
	h.server.opts.Limits = map[string]int64{"logs": storage()["logs"].Bytes - 1}
	h.server.enforceLimits(h.ctx())
	if h.server.sessions.Exists(first) || !h.server.sessions.Exists(second) || !h.server.sessions.Exists(open) {
		t.Errorf("one byte over the limit: the first session exists: %v, the second: %v, the open one: %v, want the first alone deleted",
			h.server.sessions.Exists(first), h.server.sessions.Exists(second), h.server.sessions.Exists(open))
	}
	h.server.opts.Limits = map[string]int64{"logs": 1, "uploads": 1}
	h.server.enforceLimits(h.ctx())
	k := storage()
	if h.server.sessions.Exists(second) || !h.server.sessions.Exists(open) {
		t.Errorf("with a limit of a byte: the second session exists: %v, the open one: %v", h.server.sessions.Exists(second), h.server.sessions.Exists(open))
	}
	if k["uploads"].Bytes != 100_000 || k["uploads"].LimitBytes != 1 {
		t.Errorf("uploads: %+v, want those of the session that someone looks at, and the limit", k["uploads"])
	}
	looking.stop()
	eventually(t, "nobody looks at the last one", func() bool { return h.info(open).Viewers == 0 })
	h.server.opts.Limits = map[string]int64{"uploads": 1}
	h.server.enforceLimits(h.ctx())
	if got := storage()["uploads"].Bytes; got != 0 || !h.server.sessions.Exists(open) {
		t.Errorf("%d bytes of uploads are left; the session exists: %v, want none and true", got, h.server.sessions.Exists(open))
	}
	var rows api.AuditListResult
	h.call("audit.list", api.AuditListParams{}, &rows)
	n := 0
	for _, r := range rows.Rows {
		if r.By == limitCaller && r.Method == "server.storage" {
			n++
		}
	}
	if n != 3 { // two sessions and the uploads of the third
		t.Errorf("the audit has %d deletions, want 3", n)
	}
}

// TestLimits_worktrees removes the worktrees over the limit that contain no work, and keeps the
// branches.
func TestLimits_worktrees(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	clean, _ := r.workspace()
	work, _ := r.workspace()
	edit(t, filepath.Join(work.Path, "a.txt"), "line 5\n", "five\n")
	r.server.opts.Limits = map[string]int64{"worktrees": 1}
	r.server.enforceLimits(r.ctx())
	if _, err := os.Stat(clean.Path); !os.IsNotExist(err) {
		t.Errorf("the worktree without work is left: %v", err)
	}
	if _, err := os.Stat(work.Path); err != nil {
		t.Errorf("the worktree with work is gone: %v", err)
	}
	if out := r.git(r.repo, "branch", "--list", clean.Branch); out == "" {
		t.Error("the branch of the removed worktree is gone")
	}
}

// TestExpire_busy checks that no limit deletes a session that has become active, or its uploads.
func TestExpire_busy(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "wait")
	w.awaitAnswer("I wait.")
	for name, expire := range map[string]func(ctx context.Context, id string) error{"the session": h.server.expireSession, "its uploads": h.server.expireUploads} {
		if err := expire(t.Context(), id); !errors.Is(err, retention.ErrKept) {
			t.Errorf("during a turn %s: %v, want %v", name, err, retention.ErrKept)
		}
	}
	if !h.server.sessions.Exists(id) {
		t.Error("the session is deleted, want it kept")
	}
	h.refused(api.Conflict, "history.delete", api.HistoryRef{Session: h.info(id).AgentID})
	h.call("session.interrupt", api.SessionRef{SessionID: id}, nil)
	w.results(1)
}
