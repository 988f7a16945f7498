package api

// WorkspaceCreateParams create a git worktree for a session. session.connect takes the id of the
// result.
type WorkspaceCreateParams struct {
	Idempotency
	Repo   string `json:"repo"`
	Base   string `json:"base,omitempty"`   // the commit that it begins at; empty means HEAD
	Branch string `json:"branch,omitempty"` // empty means a new one whose name the server chooses
	Setup  string `json:"setup,omitempty"`  // a command that is run in it first
}

// Workspace is a git worktree that sessions work in: its directory, the repository, and the branch
// that is checked out.
type Workspace struct {
	ID       string   `json:"id"`
	Path     string   `json:"path"`
	Repo     string   `json:"repo,omitempty"`
	Base     string   `json:"base,omitempty"`
	Branch   string   `json:"branch,omitempty"`
	Sessions []string `json:"sessions,omitempty"` // that run in it
}

// WorkspaceResult is a workspace that was created or changed, with the output of its setup
// command if it has one.
type WorkspaceResult struct {
	Workspace Workspace `json:"workspace"`
	Output    string    `json:"output,omitempty"` // of the setup command, the end of it
}

// WorkspaceListResult lists all workspaces of the server, each with the sessions that run in it.
type WorkspaceListResult struct {
	Workspaces []Workspace `json:"workspaces"`
}

// WorkspaceScope selects the two states that are compared. With Turn it is what one turn has
// changed, with Against "head" what is not committed, and otherwise everything since the base of
// the workspace or, without a workspace, since the first turn of the session.
type WorkspaceScope struct {
	Turn    string `json:"turn,omitempty"` // turn_id of an input
	Against string `json:"against,omitempty"`
}

// WorkspaceDiffParams ask what a session has changed, in all files or in one. The scope selects
// since when.
type WorkspaceDiffParams struct {
	WorkspaceScope
	SessionID string `json:"session_id"`
	Path      string `json:"path,omitempty"` // one file alone
}

// WorkspaceDiffResult is what a session has changed. Workspace is absent for a session in
// a directory of the user's.
type WorkspaceDiffResult struct {
	WorkspaceScope
	Workspace *Workspace        `json:"workspace,omitempty"`
	Base      string            `json:"base,omitempty"` // the commit or tree that is compared with
	Head      string            `json:"head,omitempty"` // the commit that is checked out
	Branch    string            `json:"branch,omitempty"`
	Files     []WorkspaceFile   `json:"files"`
	Commits   []WorkspaceCommit `json:"commits,omitempty"` // since the base of the workspace, the newest first
	Turns     []WorkspaceTurn   `json:"turns,omitempty"`   // that can be asked for, the oldest first
	LeftOut   []WorkspaceLeft   `json:"left_out,omitempty"`
	Truncated bool              `json:"truncated,omitempty"` // there is more than is shown
}

// WorkspaceFile is a file that has changed, with its hunks unless it is binary or too large. Added
// and Removed count lines.
type WorkspaceFile struct {
	Path      string          `json:"path"`
	OldPath   string          `json:"old_path,omitempty"` // of one that was moved
	Kind      string          `json:"kind"`               // add, update, delete, move, type
	OldMode   string          `json:"old_mode,omitempty"` // as git has it, such as 100644
	NewMode   string          `json:"new_mode,omitempty"`
	OldSize   int64           `json:"old_size,omitempty"`
	NewSize   int64           `json:"new_size,omitempty"`
	Binary    bool            `json:"binary,omitempty"`
	Large     bool            `json:"large,omitempty"`     // too large to be compared line by line
	Truncated bool            `json:"truncated,omitempty"` // it has more hunks
	Untracked bool            `json:"untracked,omitempty"`
	Added     int64           `json:"added"`
	Removed   int64           `json:"removed"`
	Hunks     []WorkspaceHunk `json:"hunks"`
}

// WorkspaceHunk is a group of lines of a file that have changed together. Its id stays the same as
// long as the hunk does; its other members are those of a hunk in turn_diff.
type WorkspaceHunk struct {
	ID       string   `json:"id"`
	OldStart int64    `json:"oldStart"`
	OldLines int64    `json:"oldLines"`
	NewStart int64    `json:"newStart"`
	NewLines int64    `json:"newLines"`
	Section  string   `json:"section,omitempty"` // the function that it is in
	Lines    []string `json:"lines"`             // each after ' ', '-' or '+'; '\\' says that the one before has no line feed
}

// WorkspaceCommit is a commit that was made since the base: its hash, its subject, its author and
// its time in RFC 3339.
type WorkspaceCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	Author  string `json:"author,omitempty"`
	Time    string `json:"time,omitempty"`
}

// WorkspaceTurn is a turn whose changes are known, so that [WorkspaceScope] can name it.
type WorkspaceTurn struct {
	TurnID  string `json:"turn_id"`
	Ended   bool   `json:"ended,omitempty"`
	Changed bool   `json:"changed,omitempty"` // it has changed files; known when it has ended
}

// WorkspaceLeft is a file that a diff leaves out, with its size in bytes and the reason.
type WorkspaceLeft struct {
	Path string `json:"path"`
	Size int64  `json:"size,omitempty"`
	Why  string `json:"why"` // large, unreadable, repository, filter
}

// WorkspaceRevertParams revert a file or one of its hunks. The result is the diff of the same scope
// afterwards. If the hunk has changed since it was shown, the error is a conflict whose data has
// the hunks that are in its place now.
type WorkspaceRevertParams struct {
	Idempotency
	WorkspaceScope
	SessionID string `json:"session_id"`
	File      string `json:"file"`
	Hunk      string `json:"hunk,omitempty"`     // its id; empty means the whole file
	Checkout  bool   `json:"checkout,omitempty"` // with against head: also in the user's own checkout
}

// WorkspaceCommitParams commit what a session has changed, all of it or some files. Without Checkout
// only a workspace is committed in, never the user's own checkout.
type WorkspaceCommitParams struct {
	Idempotency
	SessionID string   `json:"session_id"`
	Message   string   `json:"message"`
	Files     []string `json:"files,omitempty"`    // absent: all that the session has changed
	Trailer   bool     `json:"trailer,omitempty"`  // name the session in the commit
	Checkout  bool     `json:"checkout,omitempty"` // also in the user's own checkout
}

// WorkspaceCommitResult is a commit that was made: its hash, its branch, its files, and the
// output of hooks.
type WorkspaceCommitResult struct {
	Commit string   `json:"commit"`
	Branch string   `json:"branch,omitempty"`
	Files  []string `json:"files"`
	Output string   `json:"output,omitempty"` // of hooks
}

// WorkspaceRemoveParams remove a worktree, by its id or by a session that runs in it. The server
// refuses if work would be lost, unless Force is set. With KeepBranch its branch stays, so that
// commits on it are not lost.
type WorkspaceRemoveParams struct {
	SessionID  string `json:"session_id,omitempty"`
	ID         string `json:"id,omitempty"`
	Force      bool   `json:"force,omitempty"`
	KeepBranch bool   `json:"keep_branch,omitempty"`
}

// WorkspaceEvent is the member workspace of a session_info message. It reports a change in the
// files of a session, after which a diff that is shown is out of date.
type WorkspaceEvent struct {
	Event   string   `json:"event"` // turn_started, turn_ended, reverted, committed, removed
	TurnID  string   `json:"turn_id,omitempty"`
	Changed bool     `json:"changed,omitempty"` // by the turn that has ended
	File    string   `json:"file,omitempty"`
	Hunk    string   `json:"hunk,omitempty"`
	Commit  string   `json:"commit,omitempty"`
	Files   []string `json:"files,omitempty"` // of the commit
	By      string   `json:"by,omitempty"`
}

// PreviewListResult is the ports that processes of a session's agent listen on, and whether the
// server shows them.
type PreviewListResult struct {
	Enabled bool          `json:"enabled"`
	Ports   []PreviewPort `json:"ports"`
}

// PreviewPort is a port that a process of the agent listens on, with the name and the number of
// that process.
type PreviewPort struct {
	Port    int64  `json:"port"`
	Process string `json:"process,omitempty"`
	PID     int64  `json:"pid,omitempty"`
}

// PreviewOpenParams name the port of a session that is to be shown, as the list of its ports
// has it.
type PreviewOpenParams struct {
	SessionID string `json:"session_id"`
	Port      int64  `json:"port"`
}

// PreviewOpenResult is the address at which a browser opens a preview. It works once and for a
// minute.
type PreviewOpenResult struct {
	URL string `json:"url"`
}
