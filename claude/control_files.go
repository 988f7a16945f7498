package claude

import (
	"context"
	"encoding/base64"
	"time"
)

// RewindResult reports what rewinding files did or, on a dry run, would do. If nothing can be
// restored, CanRewind is false and Error holds the reason.
type RewindResult struct {
	// CanRewind is false when nothing was or could be restored; Error says why.
	CanRewind    bool     `json:"canRewind"`
	Error        string   `json:"error,omitempty"`
	FilesChanged []string `json:"filesChanged,omitempty"` // set by a dry run
	Insertions   int64    `json:"insertions,omitempty"`   // set by a dry run
	Deletions    int64    `json:"deletions,omitempty"`    // set by a dry run
	// SkippedLinks counts files that were left as they are because their path is a link, or
	// anything else that is not a regular file.
	SkippedLinks int64 `json:"skippedLinks,omitempty"`

	answer
}

// RewindFiles puts the files that the CLI's tools have changed back to what they
// were when the prompt with this uuid was sent; see [Turn.ID]. It needs
// [Options.EnableFileCheckpointing]: without it, and for a prompt that has no
// checkpoint, the error is a *[ControlError]. A rewind that is not possible is not
// an error but CanRewind false.
func (c *Client) RewindFiles(ctx context.Context, userMessageID string) (*RewindResult, error) {
	return c.rewind(ctx, userMessageID, false)
}

// PreviewRewind returns what [Client.RewindFiles] would do for the same message. It is a dry
// run and changes no files.
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
	MaxBytes int64  `json:"max_bytes,omitempty"` // 0 is the CLI's own limit
	Offset   int64  `json:"offset,omitempty"`    // in bytes
	Encoding string `json:"encoding,omitempty"`  // utf-8, the default, or base64, which is exact
}

// FileContents is a file, or the part of one that was asked for, as the CLI has read it.
type FileContents struct {
	Contents  string `json:"contents"`
	AbsPath   string `json:"absPath"`
	Truncated bool   `json:"truncated,omitempty"`
	Encoding  string `json:"encoding,omitempty"` // base64, or "" for UTF-8
	// Lossy says that Contents is not what is in the file: bytes that are not UTF-8 were
	// replaced. It is nil where the CLI did not say.
	Lossy         *bool  `json:"lossy,omitempty"`
	RequestedPath string `json:"requested_path,omitempty"`

	// These are set when the request had an offset.
	Offset     int64  `json:"offset,omitempty"`
	ReadBytes  int64  `json:"read_bytes,omitempty"`
	TotalBytes int64  `json:"total_bytes,omitempty"`
	ETag       string `json:"etag,omitempty"`

	answer
}

// Bytes returns the contents that were read. It decodes base64 where the CLI used it, and fails
// if that is malformed.
func (f *FileContents) Bytes() ([]byte, error) {
	if f.Encoding == "base64" {
		return base64.StdEncoding.DecodeString(f.Contents)
	}
	return []byte(f.Contents), nil
}

// tool.ReadFile reads a file where the CLI runs, by the permission rules of its Read
// tool; a relative path is one in its working directory. The options may be nil.
// A file that is missing or must not be read is a *[ControlError], the same for
// both.
func (c *Client) ReadFile(ctx context.Context, path string, opts *ReadFileOptions) (*FileContents, error) {
	fields := struct {
		Path string `json:"path"`
		*ReadFileOptions
	}{path, opts}
	return ask[FileContents](ctx, c, "read_file", fields)
}

// SeedReadState tells the CLI that the model has read a file, so that it may edit
// it without reading it again. A file that has changed since then is not taken
// for read.
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
	CWD         string           `json:"cwd"` // what the paths are relative to

	answer
}

// FileSuggestion is the path of a file, or of a directory if it ends with a slash. Score is nil
// where the CLI gave none.
type FileSuggestion struct {
	Path  string   `json:"path"`
	Score *float64 `json:"score,omitempty"`
}

// SuggestFiles completes the name of a file as the CLI does after an @; "" is the top of the
// working directory. The CLI indexes files after its start: right after it the list may be
// empty.
func (c *Client) SuggestFiles(ctx context.Context, query string) (*FileSuggestions, error) {
	return ask[FileSuggestions](ctx, c, "file_suggestions", map[string]string{"query": query})
}

// CWDChange is the answer to a request to change the working directory. The status needs_trust
// means that nothing was changed.
type CWDChange struct {
	Status string `json:"status"` // ok, needs_trust
	// Directory is what has to be trusted first.
	Directory           string `json:"directory,omitempty"`
	CWD                 string `json:"cwd,omitempty"`
	Changed             bool   `json:"changed,omitempty"`
	TranscriptRelocated bool   `json:"transcript_relocated,omitempty"`

	answer
}

// SetCWD moves the session to another working directory. One that is not trusted
// yet is not moved to: the status is needs_trust then, and a second call whose
// trusted is the Directory of the first answer says that it is. trusted is ""
// otherwise. The transcript moves along where the answer says so.
func (c *Client) SetCWD(ctx context.Context, path, trusted string) (*CWDChange, error) {
	fields := struct {
		Path             string `json:"path"`
		TrustAccepted    bool   `json:"trust_accepted,omitempty"`
		TrustedDirectory string `json:"trusted_directory,omitempty"`
	}{path, trusted != "", trusted}
	return ask[CWDChange](ctx, c, "set_cwd", fields)
}

// RepoRootOptions selects what the CLI reads again for a new root of the repository. The zero
// value reads nothing again.
type RepoRootOptions struct {
	ReloadClaudeMd bool `json:"reload_claude_md,omitempty"`
	ReloadPlugins  bool `json:"reload_plugins,omitempty"`
	ReloadSkills   bool `json:"reload_skills,omitempty"`
}

// RegisterRepoRoot adds a directory below the working directory, or below one of
// [Options.AdditionalDirectories], that has appeared since the start, such as a
// clone. It returns the path that the CLI resolved it to. The options may be nil.
// A directory elsewhere, or one registered before, is a *[ControlError].
func (c *Client) RegisterRepoRoot(ctx context.Context, directory string, opts *RepoRootOptions) (string, error) {
	fields := struct {
		Directory string `json:"directory"`
		*RepoRootOptions
	}{directory, opts}
	return askMember[string](ctx, c, "register_repo_root", "directory", fields)
}
