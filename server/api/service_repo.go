package api

// WorkspaceCreateParams creates a git worktree for a session. session.connect takes the id of the
// result.
type WorkspaceCreateParams struct {
	Idempotency
	Repo    string `json:"repo"`
	Base    string `json:"base,omitempty"`    // the commit at which it starts; empty means HEAD
	Branch  string `json:"branch,omitempty"`  // empty means a new one with a name that the server chooses
	Setup   string `json:"setup,omitempty"`   // a command that is run in it first
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// Workspace is a git worktree for sessions: its directory, the repository, and the checked out
// branch.
type Workspace struct {
	ID       string   `json:"id"`
	Path     string   `json:"path"`
	Repo     string   `json:"repo,omitempty"`
	Base     string   `json:"base,omitempty"`
	Branch   string   `json:"branch,omitempty"`
	Machine  string   `json:"machine,omitempty"`  // a machine that has joined; empty is the server's
	Sessions []string `json:"sessions,omitempty"` // sessions that run in it
}

// WorkspaceListParams requests the worktrees of a machine.
type WorkspaceListParams struct {
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// WorkspaceResult is a workspace that was created or changed, with the output of its setup command,
// if any.
type WorkspaceResult struct {
	Workspace Workspace `json:"workspace"`
	Output    string    `json:"output,omitempty"` // the end of the setup command's output
}

// WorkspaceListResult lists all workspaces of the server, each with the sessions that run in it.
type WorkspaceListResult struct {
	Workspaces []Workspace `json:"workspaces"`
}

// WorkspaceScope selects the two states to compare: with Turn the changes of one turn, with Against
// "head" the uncommitted changes, and otherwise everything since the base of the workspace or,
// without a workspace, since the first turn of the session.
type WorkspaceScope struct {
	Turn    string `json:"turn,omitempty"` // turn_id of an input
	Against string `json:"against,omitempty"`
}

// WorkspaceDiffParams requests the changes of a session, in all files or one. The scope selects the
// start.
type WorkspaceDiffParams struct {
	WorkspaceScope
	SessionID string `json:"session_id"`
	Path      string `json:"path,omitempty"` // only this file
}

// WorkspaceDiffResult is the changes of a session. Workspace is absent for a session in a user's
// directory.
type WorkspaceDiffResult struct {
	WorkspaceScope
	Workspace *Workspace        `json:"workspace,omitempty"`
	Base      string            `json:"base,omitempty"` // the base commit or tree
	Head      string            `json:"head,omitempty"` // the checked out commit
	Branch    string            `json:"branch,omitempty"`
	Files     []WorkspaceFile   `json:"files"`
	Commits   []WorkspaceCommit `json:"commits,omitempty"` // since the base of the workspace, newest first
	Turns     []WorkspaceTurn   `json:"turns,omitempty"`   // turns that can be selected, oldest first
	LeftOut   []WorkspaceLeft   `json:"left_out,omitempty"`
	// Reverted are the reverts since the last commit, which workspace.restore can undo.
	Reverted  []WorkspaceReverted `json:"reverted,omitempty"`
	Truncated bool                `json:"truncated,omitempty"` // there are more changes than shown
}

// WorkspaceFile is a file that has changed, with its hunks unless it is binary or too large. Added
// and Removed count lines.
type WorkspaceFile struct {
	Path      string          `json:"path"`
	OldPath   string          `json:"old_path,omitempty"` // for a moved file
	Kind      string          `json:"kind"`               // add, update, delete, move, type
	OldMode   string          `json:"old_mode,omitempty"` // git's mode, such as 100644
	NewMode   string          `json:"new_mode,omitempty"`
	OldSize   int64           `json:"old_size,omitempty"`
	NewSize   int64           `json:"new_size,omitempty"`
	Binary    bool            `json:"binary,omitempty"`
	Large     bool            `json:"large,omitempty"`     // too large for a comparison line by line
	Truncated bool            `json:"truncated,omitempty"` // it has more hunks than shown
	Untracked bool            `json:"untracked,omitempty"`
	Added     int64           `json:"added"`
	Removed   int64           `json:"removed"`
	Hunks     []WorkspaceHunk `json:"hunks"`
}

// WorkspaceHunk is a group of adjacent changed lines of a file. Its id stays the same as long as
// its lines do; the other members are those of a hunk in turn_diff.
type WorkspaceHunk struct {
	ID       string   `json:"id"`
	OldStart int64    `json:"oldStart"`
	OldLines int64    `json:"oldLines"`
	NewStart int64    `json:"newStart"`
	NewLines int64    `json:"newLines"`
	Section  string   `json:"section,omitempty"` // the enclosing function
	Lines    []string `json:"lines"`             // each after ' ', '-' or '+'; '\\' marks that the previous one has no line feed
}

// WorkspaceCommit is a commit since the base: its hash, its subject, its author and its time in RFC
// 3339.
type WorkspaceCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	Author  string `json:"author,omitempty"`
	Time    string `json:"time,omitempty"`
}

// WorkspaceTurn is a turn with known changes, so that [WorkspaceScope] can select it.
type WorkspaceTurn struct {
	TurnID  string `json:"turn_id"`
	Ended   bool   `json:"ended,omitempty"`
	Changed bool   `json:"changed,omitempty"` // it has changed files; known after its end
}

// WorkspaceLeft is a file that a diff omits, with its size in bytes and the reason.
type WorkspaceLeft struct {
	Path string `json:"path"`
	Size int64  `json:"size,omitempty"`
	Why  string `json:"why"` // large, unreadable, repository, filter
}

// WorkspaceRevertParams reverts a file or one of its hunks. The result is the diff of the same
// scope afterwards. If the hunk has changed since it was shown, the error is a conflict with the
// current hunks at its position.
type WorkspaceRevertParams struct {
	Idempotency
	WorkspaceScope
	SessionID string `json:"session_id"`
	File      string `json:"file"`
	Hunk      string `json:"hunk,omitempty"`     // its id; empty means the whole file
	Checkout  bool   `json:"checkout,omitempty"` // with against head: also in the user's checkout
}

// WorkspaceReverted is a revert of a hunk or of a file. From and To are the lines before the revert,
// 0 for a whole file.
type WorkspaceReverted struct {
	ID      string `json:"id"`
	File    string `json:"file"`
	Hunk    string `json:"hunk,omitempty"`    // its id; empty for a whole file
	TurnID  string `json:"turn_id,omitempty"` // of the scope of the revert
	From    int64  `json:"from,omitempty"`
	To      int64  `json:"to,omitempty"`
	Section string `json:"section,omitempty"` // the enclosing function
}

// WorkspaceRestoreParams undoes a revert: it brings the lines or the file back. The result is the
// diff of the scope afterwards. If the lines have changed since the revert, the error is a conflict.
type WorkspaceRestoreParams struct {
	Idempotency
	WorkspaceScope
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// WorkspaceBranchResult is the position of the branch of a session relative to the branch at which
// it started, and the remote to which it can be pushed. URL has no credentials.
type WorkspaceBranchResult struct {
	Branch     string `json:"branch,omitempty"`
	Target     string `json:"target,omitempty"` // the branch to merge into; absent if there is none
	Ahead      int64  `json:"ahead"`
	Behind     int64  `json:"behind"`
	Remote     string `json:"remote,omitempty"`
	URL        string `json:"url,omitempty"`
	Pushed     bool   `json:"pushed,omitempty"`      // the remote has the last commit
	CompareURL string `json:"compare_url,omitempty"` // where a pull request can be opened
}

// WorkspaceMergeParams merges the branch of a session into its target. All changes must be committed.
type WorkspaceMergeParams struct {
	Idempotency
	SessionID string `json:"session_id"`
	Target    string `json:"target"` // as shown by workspace.branch; another one is a conflict
}

// WorkspaceMergeResult is the merge: the target, its new commit, and the number of merged commits.
type WorkspaceMergeResult struct {
	Target      string `json:"target"`
	Commit      string `json:"commit"`
	Commits     int64  `json:"commits"`
	FastForward bool   `json:"fast_forward,omitempty"`
}

// WorkspacePushParams pushes the branch of a session with the git configuration of the user that
// the server runs as.
type WorkspacePushParams struct {
	Idempotency
	SessionID string `json:"session_id"`
	URL       string `json:"url"` // as shown by workspace.branch; another one is invalid
}

// WorkspacePushResult is the branch of the remote, and the output of git.
type WorkspacePushResult struct {
	Remote string `json:"remote"`
	Branch string `json:"branch"`
	Output string `json:"output,omitempty"`
}

// WorkspaceCommitParams commits the changes of a session, all or some files. Without Checkout it
// commits only in a workspace, never in the user's checkout. Hunks has, by path, the ids of the
// hunks to commit against head; other files are committed whole.
type WorkspaceCommitParams struct {
	Idempotency
	SessionID string              `json:"session_id"`
	Message   string              `json:"message"`
	Files     []string            `json:"files,omitempty"` // absent means all changes of the session
	Hunks     map[string][]string `json:"hunks,omitempty"`
	Trailer   bool                `json:"trailer,omitempty"`  // name the session in the commit
	Checkout  bool                `json:"checkout,omitempty"` // also in the user's checkout
}

// WorkspaceCommitResult is the new commit: its hash, its branch, its files, and the output of
// hooks.
type WorkspaceCommitResult struct {
	Commit string   `json:"commit"`
	Branch string   `json:"branch,omitempty"`
	Files  []string `json:"files"`
	Output string   `json:"output,omitempty"` // of hooks
}

// WorkspaceRemoveParams removes a worktree, by its id or by a session that runs in it. The server
// refuses if work would be lost, unless Force is set. With KeepBranch its branch stays, so that its
// commits are not lost.
type WorkspaceRemoveParams struct {
	SessionID  string `json:"session_id,omitempty"`
	ID         string `json:"id,omitempty"`
	Machine    string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
	Force      bool   `json:"force,omitempty"`
	KeepBranch bool   `json:"keep_branch,omitempty"`
}

// WorkspaceEvent is the member workspace of a session_info message. It reports a change in the
// files of a session, after which a shown diff is out of date.
type WorkspaceEvent struct {
	Event   string   `json:"event"` // turn_started, turn_ended, reverted, restored, committed, merged, pushed, removed
	TurnID  string   `json:"turn_id,omitempty"`
	Changed bool     `json:"changed,omitempty"` // by the turn that has ended
	File    string   `json:"file,omitempty"`
	Hunk    string   `json:"hunk,omitempty"`
	Commit  string   `json:"commit,omitempty"`
	Files   []string `json:"files,omitempty"` // of the commit
	By      string   `json:"by,omitempty"`
}

// PreviewListResult lists the ports on which processes of a session's agent listen, and reports
// whether the server shows them.
type PreviewListResult struct {
	Enabled bool          `json:"enabled"`
	Ports   []PreviewPort `json:"ports"`
}

// PreviewPort is a port on which a process of the agent listens, with the name and the number of
// that process.
type PreviewPort struct {
	Port    int64  `json:"port"`
	Process string `json:"process,omitempty"`
	PID     int64  `json:"pid,omitempty"`
}

// PreviewOpenParams names the port of a session to show, from the list of its ports.
type PreviewOpenParams struct {
	SessionID string `json:"session_id"`
	Port      int64  `json:"port"`
}

// PreviewOpenResult is the address at which a browser opens a preview. It works once and expires
// after a minute.
type PreviewOpenResult struct {
	URL string `json:"url"`
}
