package rpc

import "github.com/seed7221b0f9/parley/ui"

// WorkspaceCreateParams create a git worktree for a session, from a commit and on a branch,
// which can be new.
type WorkspaceCreateParams struct {
	Idempotency
	Repo   string `json:"repo"`
	Base   string `json:"base,omitempty"`   // the commit that it begins at; empty is HEAD
	Branch string `json:"branch,omitempty"` // empty: a new one with a name of its own
	Setup  string `json:"setup,omitempty"`  // a command that is run in it first
}

// Workspace is a directory that a session works in, mostly a git worktree with its repository
// and branch.
type Workspace struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Repo   string `json:"repo,omitempty"`
	Base   string `json:"base,omitempty"`
	Branch string `json:"branch,omitempty"`
	Dirty  bool   `json:"dirty,omitempty"` // it has changes that are in no commit
}

// WorkspaceResult is a workspace that was created or changed, with the output of its setup
// command if it has one.
type WorkspaceResult struct {
	Workspace Workspace `json:"workspace"`
	Output    string    `json:"output,omitempty"` // of the setup command
}

// WorkspaceDiffParams ask what a session has changed: in all or in one turn, everywhere or in
// one file.
type WorkspaceDiffParams struct {
	SessionID string `json:"session_id"`
	Turn      string `json:"turn,omitempty"`
	Path      string `json:"path,omitempty"`
}

// WorkspaceDiffResult lists the files that a session has changed, compared with the commit in
// Base.
type WorkspaceDiffResult struct {
	Base  string          `json:"base,omitempty"`
	Files []ui.FileChange `json:"files"`
}

// WorkspaceRevertParams take a file or one of its hunks back. Hunk counts from 0 in
// the answer of workspace.diff; Expect is that hunk, so that one which has changed
// since is refused.
type WorkspaceRevertParams struct {
	Idempotency
	SessionID string   `json:"session_id"`
	File      string   `json:"file"`
	Hunk      *int64   `json:"hunk,omitempty"`
	Expect    *ui.Hunk `json:"expect,omitempty"`
}

// WorkspaceCommitParams commit what a session has changed, all files or only those that are
// listed.
type WorkspaceCommitParams struct {
	Idempotency
	SessionID string   `json:"session_id"`
	Message   string   `json:"message"`
	Files     []string `json:"files,omitempty"`   // absent: all that changed
	Trailer   bool     `json:"trailer,omitempty"` // name the session in the commit
}

// WorkspaceCommitResult is a commit that was made: its hash, its branch, its files, and the
// output of hooks.
type WorkspaceCommitResult struct {
	Commit string   `json:"commit"`
	Branch string   `json:"branch,omitempty"`
	Files  []string `json:"files"`
	Output string   `json:"output,omitempty"` // of hooks
}

// WorkspaceRemoveParams remove the worktree of a session. One with changes that would
// be lost is refused, unless Discard says so.
type WorkspaceRemoveParams struct {
	SessionID string `json:"session_id"`
	Discard   bool   `json:"discard,omitempty"`
}

// ReviewComment is a remark on some lines of a diff: the file, the first and the last line, and
// the text.
type ReviewComment struct {
	ID       string `json:"id,omitempty"`
	Path     string `json:"path"`
	Start    int64  `json:"start"` // the first line, counted from 1
	End      int64  `json:"end"`
	Side     string `json:"side,omitempty"` // new, old
	Code     string `json:"code,omitempty"` // the lines as the reviewer saw them
	Text     string `json:"text"`
	By       string `json:"by,omitempty"`
	State    string `json:"state,omitempty"` // open, sent, resolved, stale
	SentTurn string `json:"sent_turn,omitempty"`
}

// ReviewListResult lists the remarks on a session's changes, with the files and the lines that
// they are about.
type ReviewListResult struct {
	Comments []ReviewComment `json:"comments"`
}

// ReviewAddParams add a remark on a session's changes, or change the one that has the same id.
type ReviewAddParams struct {
	Idempotency
	SessionID string        `json:"session_id"`
	Comment   ReviewComment `json:"comment"`
}

// ReviewRemoveParams remove a remark on a session's changes, which its id in the list of
// remarks names.
type ReviewRemoveParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// ReviewSendParams send remarks to the agent as one prompt; absent ids mean all that
// are open.
type ReviewSendParams struct {
	Idempotency
	SessionID string   `json:"session_id"`
	IDs       []string `json:"ids,omitempty"`
	Text      string   `json:"text,omitempty"`
}

// ReviewSendResult is the prompt that was sent, and the remarks that were not because
// their lines have changed since.
type ReviewSendResult struct {
	TurnID string          `json:"turn_id,omitempty"`
	Seq    uint64          `json:"seq"`
	Stale  []ReviewComment `json:"stale"`
}

// PreviewListResult lists the network servers that the agent of a session has started and that
// can be visited.
type PreviewListResult struct {
	Previews []Preview `json:"previews"`
}

// Preview is a network server that the agent has started, with the address under which a
// browser reaches it.
type Preview struct {
	Port    int64  `json:"port"`
	URL     string `json:"url"`
	Process string `json:"process,omitempty"`
}
