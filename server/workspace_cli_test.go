package server

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

// newCLIHarness returns a repository with a server with the real CLI as agent, against a scripted
// API.
func newCLIHarness(t *testing.T, script claudetest.Script) (*repoHarness, *claudetest.FakeAPI) {
	t.Helper()
	cli := e2e.CLI(t)
	model := claudetest.StartFakeAPI(t, script)
	opts, err := claudetest.HermeticOptions(t.TempDir(), model.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.CLIPath = cli
	provider := &claudeagent.Provider{Options: *opts}
	t.Cleanup(func() {
		if err := provider.Close(); err != nil {
			t.Error(err)
		}
	})
	return newRepoHarness(t, func(o *Options) { o.Providers, o.Env = []agent.Provider{provider}, nil }), model
}

// bash returns a call of the agent that runs a command, for a prompt that contains a word.
func bash(word, command string) claudetest.Reply {
	return claudetest.Use("Bash", map[string]any{"command": command, "description": "Edit"}).When(claudetest.Match{LastIncludes: word})
}

// agentIn creates a workspace with a session of the CLI that may use Bash.
func (r *repoHarness) agentIn() (api.Workspace, string) {
	r.Helper()
	var ws api.WorkspaceResult
	r.call("workspace.create", api.WorkspaceCreateParams{Repo: r.repo}, &ws)
	var c api.ConnectResult
	r.call("session.connect", api.ConnectParams{WorkspaceID: ws.Workspace.ID, AllowedTools: []string{"Bash"}}, &c)
	return ws.Workspace, c.SessionID
}

// ask runs a turn.
func (r *repoHarness) ask(session, text string) string {
	r.Helper()
	w := r.watch(session)
	defer w.stop()
	n := int(r.history(session).Totals.Turns)
	turn := r.query(session, text).TurnID
	w.results(n + 1)
	return turn
}

// TestAgentsTwoWorktrees edits the same file of one repository with two agents of the real CLI.
func TestAgentsTwoWorktrees(t *testing.T) {
	r, _ := newCLIHarness(t, claudetest.Replies(
		bash("first-agent", `sed -i -e 's/^line 5$/first/' -e 's/^line 30$/first again/' a.txt`),
		bash("second-agent", `sed -i -e 's/^line 5$/second/' a.txt && echo new > second.txt`),
		claudetest.Say("Done.").Times(10),
	))
	before := r.git(r.repo, "status", "--porcelain=v2", "--branch")
	config := r.git(r.repo, "config", "--local", "--list")
	wsOne, one := r.agentIn()
	wsTwo, two := r.agentIn()
	turn := r.ask(one, "first-agent")
	r.ask(two, "second-agent")

	d := r.diff(one, api.WorkspaceScope{Turn: turn})
	f := r.fileOf(d, "a.txt")
	if len(d.Files) != 1 || len(f.Hunks) != 2 || !slices.Contains(f.Hunks[0].Lines, "+first") || !slices.Contains(f.Hunks[1].Lines, "+first again") {
		t.Fatalf("the first agent changed %+v", d.Files)
	}
	d = r.diff(two, api.WorkspaceScope{})
	if g := r.fileOf(d, "a.txt"); len(d.Files) != 2 || len(g.Hunks) != 1 || !slices.Contains(g.Hunks[0].Lines, "+second") || r.fileOf(d, "second.txt").Kind != "add" {
		t.Fatalf("the second agent changed %+v", d.Files)
	}
	var after api.WorkspaceDiffResult
	r.call("workspace.revert", api.WorkspaceRevertParams{SessionID: one, File: "a.txt", Hunk: f.Hunks[0].ID}, &after)
	if g := r.fileOf(after, "a.txt"); len(g.Hunks) != 1 || g.Hunks[0].ID != f.Hunks[1].ID {
		t.Errorf("after the revert: %+v", g.Hunks)
	}
	for session, ws := range map[string]api.Workspace{one: wsOne, two: wsTwo} {
		var c api.WorkspaceCommitResult
		r.call("workspace.commit", api.WorkspaceCommitParams{SessionID: session, Message: "Change it", Trailer: true}, &c)
		if got := r.git(r.repo, "log", "-1", "--format=%(trailers:key=Parley-Session,valueonly)", ws.Branch); strings.TrimSpace(got) != session || c.Branch != ws.Branch {
			t.Errorf("the trailer of %s is %q", c.Commit, got)
		}
	}
	if got := r.git(r.repo, "show", wsOne.Branch+":a.txt"); strings.Contains(got, "first\n") || !strings.Contains(got, "first again\n") {
		t.Errorf("the first agent's commit has\n%s", got)
	}
	if got := r.git(r.repo, "show", wsTwo.Branch+":a.txt"); strings.Contains(got, "first") || !strings.Contains(got, "second\n") {
		t.Errorf("the second agent's commit has\n%s", got)
	}
	if got := r.git(r.repo, "status", "--porcelain=v2", "--branch"); got != before || r.git(r.repo, "config", "--local", "--list") != config {
		t.Errorf("the user's checkout is\n%s\nit was\n%s", got, before)
	}
	if out := r.git(r.repo, "fsck", "--full", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Errorf("git fsck: %s", out)
	}
}

// TestAgentReview sends three comments on two files to the real CLI as one prompt, which resolves
// them; one on a changed hunk is rejected.
func TestAgentReview(t *testing.T) {
	const fixed = "review-comments-fixed"
	r, model := newCLIHarness(t, claudetest.Replies(
		bash("please-change", `sed -i -e 's/^line 5$/five/' -e 's/^line 30$/thirty/' a.txt && sed -i -e 's/^line 9$/nine/' b.txt`),
		bash("## 3. b.txt", `sed -i -e 's/^five$/5/' -e 's/^thirty$/30/' a.txt && sed -i -e 's/^nine$/9/' b.txt && echo `+fixed),
		claudetest.Say("Done.").Times(10),
	))
	ws, id := r.agentIn()
	r.ask(id, "please-change")
	d := r.diff(id, api.WorkspaceScope{})
	a, b := r.fileOf(d, "a.txt"), r.fileOf(d, "b.txt")
	for _, c := range []api.ReviewCommentParams{
		{File: "a.txt", From: 5, Hunk: a.Hunks[0].ID, Text: "Write the number 5."},
		{File: "a.txt", From: 30, Hunk: a.Hunks[1].ID, Text: "Write the number 30."},
		{File: "b.txt", From: 8, To: 9, Hunk: b.Hunks[0].ID, Text: "Write the number 9."},
	} {
		c.SessionID = id
		r.call("review.comment", c, nil)
	}
	w := r.watch(id)
	var sent api.ReviewSendResult
	r.call("review.send", api.ReviewSendParams{SessionID: id}, &sent)
	w.results(2)
	const prompt = "Please work through these review comments on your changes.\n" +
		"\n## 1. a.txt, line 5\n\n```\nfive\n```\n\nWrite the number 5.\n" +
		"\n## 2. a.txt, line 30\n\n```\nthirty\n```\n\nWrite the number 30.\n" +
		"\n## 3. b.txt, lines 8 to 9\n\n```\nline 8\nnine\n```\n\nWrite the number 9.\n"
	if sent.Prompt != prompt || len(sent.Sent) != 3 || len(sent.Stale) != 0 {
		t.Errorf("sent %+v", sent)
	}
	prompts := 0
	for _, req := range model.Requests() {
		if !req.Side && strings.Contains(string(req.Body), "## 1. a.txt, line 5") && !strings.Contains(string(req.Body), fixed) {
			prompts++
		}
	}
	if prompts != 1 {
		t.Errorf("the API got the prompt %d times", prompts)
	}
	if d := r.diff(id, api.WorkspaceScope{Turn: sent.TurnID}); len(d.Files) != 2 {
		t.Errorf("the turn of the review changed %+v", d.Files)
	}
	for _, c := range r.comments(id) {
		if c.State != "resolved" || c.ResolvedBy != "agent" || c.TurnID != sent.TurnID {
			t.Errorf("a comment is %+v", c)
		}
	}
	r.refused(api.Conflict, "review.comment", api.ReviewCommentParams{SessionID: id, File: "a.txt", From: 5, Hunk: a.Hunks[0].ID, Text: "x"})
	r.refused(api.Conflict, "review.send", api.ReviewSendParams{SessionID: id})
	if got := r.git(ws.Path, "diff", "--stat"); !strings.Contains(got, filepath.Base("a.txt")) {
		t.Errorf("the worktree has %s", got)
	}
}
