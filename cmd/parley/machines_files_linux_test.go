package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// gitOf runs git with the environment of the machine.
func (w *machineWorld) gitOf(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestMachines_files uses the files, the worktrees and the history of a session of the real CLI on
// another machine: one that has joined, and one that the server reaches over ssh. While the machine
// is unreachable, the calls fail with that reason.
func TestMachines_files(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, ...claudetest.Reply) *machineWorld{"joined": newMachineWorld, "ssh": newSSHWorld} {
		t.Run(name, func(t *testing.T) {
			begin(t, claudetest.Use("Bash", map[string]any{"command": "echo two >> kept.txt; echo new > new.txt", "description": "Write files"}),
				claudetest.Say("It is written."), claudetest.Say("In a worktree.")).files()
		})
	}
}

// repository makes the directory of the machine a repository with a commit.
func (w *machineWorld) repository() {
	t := w.t
	t.Helper()
	for _, name := range []string{".git", ".gitignore"} {
		if err := os.RemoveAll(filepath.Join(w.project, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.gitOf(w.project, "init", "-q", "-b", "main")
	w.gitOf(w.project, "config", "user.name", "U")
	w.gitOf(w.project, "config", "user.email", "u@example.invalid")
	if err := os.WriteFile(filepath.Join(w.project, "kept.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.gitOf(w.project, "add", "-A")
	w.gitOf(w.project, "commit", "-qm", "one")
}

// files runs a session that changes files.
func (w *machineWorld) files() {
	t := w.t
	t.Helper()
	w.repository()
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{Machine: "m1", InitialPrompt: "write it"}, &r)
	w.session = r.SessionID
	request := w.until("the CLI asks", func(c *event.Conversation) bool { return c.State == "requires_action" && len(c.Prompts) == 1 }).Prompts[0].RequestID()
	w.call("permission.respond", api.PermissionRespondParams{SessionID: w.session, RequestID: request, Behavior: "allow"}, nil)
	w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })

	var found api.FilesSearchResult
	w.call("files.search", api.FilesSearchParams{SessionID: w.session, Query: "kept"}, &found)
	var text api.FilesReadResult
	w.call("files.read", api.FilesReadParams{SessionID: w.session, Path: "kept.txt"}, &text)
	if len(found.Files) != 1 || found.Files[0].Path != "kept.txt" || text.Text != "one\ntwo\n" {
		t.Errorf("the files are %+v, and the text is %q", found.Files, text.Text)
	}
	var d api.WorkspaceDiffResult
	w.call("workspace.diff", api.WorkspaceDiffParams{SessionID: w.session}, &d)
	var names []string
	for _, f := range d.Files {
		names = append(names, f.Path)
	}
	if !slices.Equal(names, []string{"kept.txt", "new.txt"}) || len(d.Turns) != 1 || !d.Turns[0].Changed || d.Branch != "main" {
		t.Errorf("the diff has the files %v, the turns %+v and the branch %q", names, d.Turns, d.Branch)
	}
	w.call("workspace.revert", api.WorkspaceRevertParams{SessionID: w.session, File: "new.txt"}, &d)
	var done api.WorkspaceCommitResult
	w.call("workspace.commit", api.WorkspaceCommitParams{SessionID: w.session, Message: "two", Checkout: true}, &done)
	if got := w.gitOf(w.project, "log", "-1", "--format=%H %s"); got != done.Commit+" two" || !slices.Equal(done.Files, []string{"kept.txt"}) {
		t.Errorf("the commit is %+v, that of the machine is %q", done, got)
	}
	var projects api.ProjectsListResult
	w.call("projects.list", api.ProjectsListParams{Machine: "m1"}, &projects)
	if len(projects.Recent) != 1 || projects.Recent[0].Path != w.project || projects.Recent[0].Branch != "main" {
		t.Errorf("the projects are %+v", projects)
	}
	w.worktree()
	w.past()

	w.cut()
	w.is(api.MachineUnreachable)
	for name, params := range map[string]any{
		"files.search": api.FilesSearchParams{SessionID: w.session}, "workspace.diff": api.WorkspaceDiffParams{SessionID: w.session}, "history.list": api.HistoryListParams{Machine: "m1"},
	} {
		if err := w.client.Call(t.Context(), name, params, nil); client.Reason(err) != api.NotConnected || !strings.Contains(err.Error(), "unreachable since") {
			t.Errorf("%s without a link: %v, want %s", name, err, api.NotConnected)
		}
	}
	w.end(syscall.SIGTERM)
	w.serve()
}

// worktree runs a session in a worktree of the machine, merges it and removes it.
func (w *machineWorld) worktree() {
	w.t.Helper()
	var made api.WorkspaceResult
	w.call("workspace.create", api.WorkspaceCreateParams{Machine: "m1", Repo: w.project, Branch: "feature"}, &made)
	if !strings.HasPrefix(made.Workspace.Path, w.hostDir) || made.Workspace.Machine != "m1" {
		w.t.Errorf("the worktree is %+v, want one below %s", made.Workspace, w.hostDir)
	}
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{Machine: "m1", WorkspaceID: made.Workspace.ID, InitialPrompt: "go"}, &r)
	first := w.session
	w.session = r.SessionID
	w.until("the turn in the worktree ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	if err := os.WriteFile(filepath.Join(made.Workspace.Path, "more.txt"), []byte("more\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.call("workspace.commit", api.WorkspaceCommitParams{SessionID: r.SessionID, Message: "more"}, nil)
	var merged api.WorkspaceMergeResult
	w.call("workspace.merge", api.WorkspaceMergeParams{SessionID: r.SessionID, Target: "main"}, &merged)
	if got := w.gitOf(w.project, "rev-parse", "main"); merged.Commit != got {
		w.t.Errorf("the merge is %+v, main is %s", merged, got)
	}
	w.call("workspace.remove", api.WorkspaceRemoveParams{SessionID: r.SessionID}, nil)
	var list api.WorkspaceListResult
	w.call("workspace.list", api.WorkspaceListParams{Machine: "m1"}, &list)
	if len(list.Workspaces) != 0 {
		w.t.Errorf("the worktrees are %+v, want none", list.Workspaces)
	}
	w.session = first
}

// past checks the history and the usage on the machine.
func (w *machineWorld) past() {
	w.t.Helper()
	var list api.HistoryListResult
	w.call("history.list", api.HistoryListParams{Machine: "m1", Project: w.project}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].FirstPrompt != "write it" || list.Sessions[0].Provider != "claude" {
		w.t.Fatalf("the history is %+v", list.Sessions)
	}
	var loaded api.HistoryLoadResult
	w.call("history.load", api.HistoryLoadParams{Machine: "m1", Session: list.Sessions[0].SessionID}, &loaded)
	if !strings.Contains(string(loaded.Conversation), "It is written.") {
		w.t.Errorf("the past conversation is %s", loaded.Conversation)
	}
	var hits api.HistorySearchResult
	w.call("history.search", api.HistorySearchParams{Machine: "m1", Query: "It is written"}, &hits)
	if len(hits.Hits) == 0 || hits.Hits[0].Session != list.Sessions[0].SessionID {
		w.t.Errorf("the hits are %+v", hits.Hits)
	}
	var usage api.UsageSummaryResult
	w.call("usage.summary", api.UsageSummaryParams{Machine: "m1", GroupBy: "project"}, &usage)
	if len(usage.Rows) != 1 || usage.Rows[0].Group != w.project {
		w.t.Errorf("the usage is %+v, want that of %s", usage.Rows, w.project)
	}
	var local api.HistoryListResult
	w.call("history.list", api.HistoryListParams{}, &local)
	if len(local.Sessions) != 0 {
		w.t.Errorf("the server's own history is %+v, want none", local.Sessions)
	}
}
