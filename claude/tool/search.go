package tool

// GlobInput is the input of Glob: a pattern for file names, and the directory to search.
type GlobInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

// GlobResult is the result of Glob: the files that match, up to a limit, and their total
// number.
type GlobResult struct {
	DurationMS      int64    `json:"durationMs"`
	NumFiles        int64    `json:"numFiles"`
	Filenames       []string `json:"filenames"`
	Truncated       bool     `json:"truncated"`
	TotalMatches    *int64   `json:"totalMatches,omitempty"`
	CountIsComplete *bool    `json:"countIsComplete,omitempty"` // false: more files match than TotalMatches
	TimedOut        bool     `json:"timedOut,omitempty"`
}

// GrepInput is the input of Grep: a regular expression, the files to search, and the form of
// the output.
type GrepInput struct {
	Pattern     string `json:"pattern"`
	Path        string `json:"path,omitempty"`
	Glob        string `json:"glob,omitempty"`
	OutputMode  string `json:"output_mode,omitempty"` // content, files_with_matches, count
	Before      *int64 `json:"-B,omitempty"`          // lines to show
	After       *int64 `json:"-A,omitempty"`          // lines to show
	Around      *int64 `json:"-C,omitempty"`          // the same as Context
	Context     *int64 `json:"context,omitempty"`     // lines to show on both sides
	LineNumbers *bool  `json:"-n,omitempty"`          // nil: yes
	IgnoreCase  bool   `json:"-i,omitempty"`
	OnlyMatches bool   `json:"-o,omitempty"`
	Type        string `json:"type,omitempty"`       // of file: go, py, …
	HeadLimit   *int64 `json:"head_limit,omitempty"` // nil: the CLI's own limit
	Offset      *int64 `json:"offset,omitempty"`
	Multiline   bool   `json:"multiline,omitempty"`
}

// GrepResult is the result of Grep. Mode is the form of the output, and decides which members
// are set.
type GrepResult struct {
	Mode          string   `json:"mode,omitempty"` // content, files_with_matches, count
	NumFiles      int64    `json:"numFiles"`       // 0 in mode content
	Filenames     []string `json:"filenames"`
	Content       string   `json:"content,omitempty"`
	NumLines      *int64   `json:"numLines,omitempty"`
	NumMatches    *int64   `json:"numMatches,omitempty"`
	TotalFiles    *int64   `json:"totalFiles,omitempty"`
	TotalLines    *int64   `json:"totalLines,omitempty"`
	AppliedLimit  *int64   `json:"appliedLimit,omitempty"`
	AppliedOffset *int64   `json:"appliedOffset,omitempty"`
	TimedOut      bool     `json:"timedOut,omitempty"`
}

// ToolSearchInput is the input of ToolSearch, which finds tools that were not offered to the
// model at the start.
type ToolSearchInput struct {
	Query      string `json:"query"`
	MaxResults *int64 `json:"max_results,omitempty"`
}

// SkillInput is the input of Skill: the name of the skill that the agent uses, and its
// arguments.
type SkillInput struct {
	Skill string `json:"skill"`
	Args  string `json:"args,omitempty"`
}
