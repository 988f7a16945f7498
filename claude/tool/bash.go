package tool

import "github.com/seed7221b0f9/parley/claude/message"

// BashInput is the input of Bash: a command for the shell, its time limit, and whether it runs
// in the background.
type BashInput struct {
	Command                   string `json:"command"`
	Timeout                   *int64 `json:"timeout,omitempty"` // in milliseconds
	Description               string `json:"description,omitempty"`
	RunInBackground           bool   `json:"run_in_background,omitempty"`
	DangerouslyDisableSandbox bool   `json:"dangerouslyDisableSandbox,omitempty"`
}

// BashResult is the result of a Bash command that succeeded or runs in the background. A command
// that exits with an error has an *[ErrorResult] instead. Stdout also holds the standard error
// if the CLI merges the two streams.
type BashResult struct {
	Stdout                          string        `json:"stdout"`
	Stderr                          string        `json:"stderr"`
	RawOutputPath                   string        `json:"rawOutputPath,omitempty"`
	Interrupted                     bool          `json:"interrupted"`
	IsImage                         bool          `json:"isImage,omitempty"` // Stdout is an image
	BackgroundTaskID                string        `json:"backgroundTaskId,omitempty"`
	BackgroundedByUser              bool          `json:"backgroundedByUser,omitempty"`
	TimedOutAfterMS                 int64         `json:"timedOutAfterMs,omitempty"`
	BackgroundCwdHint               string        `json:"backgroundCwdHint,omitempty"`
	BackgroundEndsWithFinalResponse bool          `json:"backgroundEndsWithFinalResponse,omitempty"`
	BackgroundWakesOwner            bool          `json:"backgroundWakesOwner,omitempty"`
	DangerouslyDisableSandbox       bool          `json:"dangerouslyDisableSandbox,omitempty"`
	ReturnCodeInterpretation        string        `json:"returnCodeInterpretation,omitempty"`
	NoOutputExpected                bool          `json:"noOutputExpected,omitempty"`
	StructuredContent               message.JSON  `json:"structuredContent,omitempty"` // blocks
	PersistedOutputPath             string        `json:"persistedOutputPath,omitempty"`
	PersistedOutputSize             int64         `json:"persistedOutputSize,omitempty"` // in bytes
	StaleReadFileStateHint          string        `json:"staleReadFileStateHint,omitempty"`
	GHRateLimitHint                 string        `json:"ghRateLimitHint,omitempty"`
	GitOperation                    *GitOperation `json:"gitOperation,omitempty"`
}

// GitOperation describes the changes to a git repository that the CLI detected in a command. Any
// number of its members may be set.
type GitOperation struct {
	Commit *GitCommit      `json:"commit,omitempty"`
	Push   *GitPush        `json:"push,omitempty"`
	Branch *GitBranch      `json:"branch,omitempty"`
	PR     *GitPullRequest `json:"pr,omitempty"`
}

// GitCommit is a commit that a command has made, with its hash and the branch if it is known.
type GitCommit struct {
	SHA    string `json:"sha"`
	Kind   string `json:"kind"` // committed, amended, cherry-picked
	Branch string `json:"branch,omitempty"`
}

// GitPush is a push that a command has made. Branch is the name of the branch that was pushed.
type GitPush struct {
	Branch string `json:"branch"`
}

// GitBranch is a branch that a command has merged into the current one, or rebased the current
// one onto.
type GitBranch struct {
	Ref    string `json:"ref"`
	Action string `json:"action"` // merged, rebased
}

// GitPullRequest is a pull request that a command has created or changed, with the action.
type GitPullRequest struct {
	Number int64  `json:"number"`
	URL    string `json:"url,omitempty"`
	Action string `json:"action"` // created, edited, merged, commented, closed, reopened, ready, draft, auto-merge-enabled, auto-merge-disabled
}

// MonitorInput is the input of Monitor: a command or a WebSocket. Each line of its output
// reaches the model as an event while the model continues to work.
type MonitorInput struct {
	Description string         `json:"description"`
	TimeoutMS   int64          `json:"timeout_ms"`
	Command     string         `json:"command,omitempty"`
	WS          *MonitorSocket `json:"ws,omitempty"` // instead of Command
}

// MonitorSocket is a WebSocket that Monitor watches: its address, and the subprotocols that are
// offered to the server.
type MonitorSocket struct {
	URL       string   `json:"url"`
	Protocols []string `json:"protocols,omitempty"`
}

// MonitorResult is the result of Monitor: the id of the background task that watches, and its
// time limit.
type MonitorResult struct {
	TaskID     string `json:"taskId"`
	TimeoutMS  int64  `json:"timeoutMs"`
	Persistent bool   `json:"persistent,omitempty"`
}
