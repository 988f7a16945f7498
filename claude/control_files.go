package claude

import (
	"context"
	"encoding/base64"
	"time"
)

// RewindResult reports what rewinding files did or, on a dry run, would do. If no file can be
// restored, CanRewind is false and Error holds the reason.
type RewindResult struct {
	// CanRewind is false if no file was or could be restored; Error holds the reason.
	CanRewind    bool     `json:"canRewind"`
	Error        string   `json:"error,omitempty"`
	FilesChanged []string `json:"filesChanged,omitempty"` // set by a dry run
	Insertions   int64    `json:"insertions,omitempty"`   // set by a dry run
	Deletions    int64    `json:"deletions,omitempty"`    // set by a dry run
	// SkippedLinks counts files that were not restored because their path is a link or not a
	// regular file.
	SkippedLinks int64 `json:"skippedLinks,omitempty"`

	answer
}

// RewindFiles restores the files that the CLI's tools have changed to their content when the
// prompt with this uuid was sent; see [Turn.ID]. It needs [Options.EnableFileCheckpointing]:
// without it, and for a prompt that has no checkpoint, the error is a *[ControlError]. If a
// rewind is not possible, CanRewind is false and the error is nil.
func (c *Client) RewindFiles(ctx context.Context, userMessageID string) (*RewindResult, error) {
	return c.rewind(ctx, userMessageID, false)
}

// PreviewRewind returns the result that [Client.RewindFiles] would have for the same message.
// It changes no files.
func (c *Client) PreviewRewind(ctx context.Context, userMessageID string) (*RewindResult, error) {
	return c.rewind(ctx, userMessageID, true)
}

func (c *Client) rewind(ctx context.Context, userMessageID string, dryRun bool) (*RewindResult, error) {
	fields := struct {
		UserMessageID string `json:"user_message_id"`
		DryRun        bool   `json:"dry_run,omitempty"`
	}{userMessageID, dryRun}
	return ask[RewindResult](ctx, c, "rewind_files", fields)
}

// ReadFileOptions configures how the CLI reads a file. The zero value reads it from the start
// as UTF-8, up to the CLI's limit.
type ReadFileOptions struct {
	MaxBytes int64  `json:"max_bytes,omitempty"` // 0 means the CLI's limit
	Offset   int64  `json:"offset,omitempty"`    // in bytes
	Encoding string `json:"encoding,omitempty"`  // utf-8 (default) or base64, which is exact
}

// FileContents is the content of a file, or the requested part of it.
type FileContents struct {
	Contents  string `json:"contents"`
	AbsPath   string `json:"absPath"`
	Truncated bool   `json:"truncated,omitempty"`
	Encoding  string `json:"encoding,omitempty"` // base64, or "" for UTF-8
	// Lossy reports that Contents differs from the file, because bytes that are not UTF-8 were
	// replaced. It is nil if the CLI did not report it.
	Lossy         *bool  `json:"lossy,omitempty"`
	RequestedPath string `json:"requested_path,omitempty"`

	// The members below are set if the request had an offset.
	Offset     int64  `json:"offset,omitempty"`
	ReadBytes  int64  `json:"read_bytes,omitempty"`
	TotalBytes int64  `json:"total_bytes,omitempty"`
	ETag       string `json:"etag,omitempty"`

	answer
}

// Bytes returns the contents that were read. It decodes base64 if the CLI used it, and returns
// an error if that is malformed.
func (f *FileContents) Bytes() ([]byte, error) {
	if f.Encoding == "base64" {
		return base64.StdEncoding.DecodeString(f.Contents)
	}
	return []byte(f.Contents), nil
}

// ReadFile reads a file on the CLI's machine, under the permission rules of its Read tool. A
// relative path is relative to the CLI's working directory. The options may be nil. The error
// for a file that is missing or must not be read is a *[ControlError], which does not
// distinguish the two.
func (c *Client) ReadFile(ctx context.Context, path string, opts *ReadFileOptions) (*FileContents, error) {
	fields := struct {
		Path string `json:"path"`
		*ReadFileOptions
	}{path, opts}
	return ask[FileContents](ctx, c, "read_file", fields)
}

// SeedReadState tells the CLI that the model has read a file, so that it may edit it without
// reading it again. If the file has changed since, it counts as not read.
func (c *Client) SeedReadState(ctx context.Context, path string, modified time.Time) error {
	fields := struct {
		Path  string `json:"path"`
		MTime int64  `json:"mtime"`
	}{path, modified.UnixMilli()}
	return c.Control(ctx, "seed_read_state", fields, nil)
}

// FileSuggestions lists the files that match the start of a path, as the CLI completes it after
// an @ sign.
type FileSuggestions struct {
	Suggestions []FileSuggestion `json:"suggestions"`
	CWD         string           `json:"cwd"` // the base of relative paths

	answer
}

// FileSuggestion is the path of a file, or of a directory if it ends with a slash. Score is nil
// if the CLI did not report it.
type FileSuggestion struct {
	Path  string   `json:"path"`
	Score *float64 `json:"score,omitempty"`
}

// SuggestFiles completes the name of a file as the CLI does after an @; "" means the top of the
// working directory. The CLI indexes files in the background, so the list may be empty right
// after its start.
func (c *Client) SuggestFiles(ctx context.Context, query string) (*FileSuggestions, error) {
	return ask[FileSuggestions](ctx, c, "file_suggestions", map[string]string{"query": query})
}

// CWDChange is the answer to a request to change the working directory. With the status
// needs_trust the directory was not changed.
type CWDChange struct {
	Status string `json:"status"` // ok, needs_trust
	// Directory is the directory that has to be trusted first.
	Directory           string `json:"directory,omitempty"`
	CWD                 string `json:"cwd,omitempty"`
	Changed             bool   `json:"changed,omitempty"`
	TranscriptRelocated bool   `json:"transcript_relocated,omitempty"`

	answer
}

// SetCWD moves the session to another working directory. For an untrusted directory it returns
// the status needs_trust and has no effect; a second call with the Directory of that answer as
// trusted confirms the trust. Otherwise trusted is "". The answer reports whether the
// transcript was moved too.
func (c *Client) SetCWD(ctx context.Context, path, trusted string) (*CWDChange, error) {
	fields := struct {
		Path             string `json:"path"`
		TrustAccepted    bool   `json:"trust_accepted,omitempty"`
		TrustedDirectory string `json:"trusted_directory,omitempty"`
	}{path, trusted != "", trusted}
	return ask[CWDChange](ctx, c, "set_cwd", fields)
}

// RepoRootOptions selects the files that the CLI reloads for a new root of the repository. The
// zero value reloads nothing.
type RepoRootOptions struct {
	ReloadClaudeMd bool `json:"reload_claude_md,omitempty"`
	ReloadPlugins  bool `json:"reload_plugins,omitempty"`
	ReloadSkills   bool `json:"reload_skills,omitempty"`
}

// RegisterRepoRoot adds a directory below the working directory, or below one of
// [Options.AdditionalDirectories], that has appeared since the start, such as a clone. It
// returns the path that the CLI resolved it to. The options may be nil. The error for any other
// directory, or one that is already registered, is a *[ControlError].
func (c *Client) RegisterRepoRoot(ctx context.Context, directory string, opts *RepoRootOptions) (string, error) {
	fields := struct {
		Directory string `json:"directory"`
		*RepoRootOptions
	}{directory, opts}
	return askMember[string](ctx, c, "register_repo_root", "directory", fields)
}
