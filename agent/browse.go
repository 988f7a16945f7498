package agent

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"
)

// HistoryBrowser is implemented by a History that a terminal can filter, show, search and export in
// detail. An agent may accept the path of a session's file as an id.
type HistoryBrowser interface {
	History
	// Locate returns the id of the session with this id, or ErrNotFound. Find may omit that session.
	Locate(ctx context.Context, id string) (string, error)
	// Find yields the sessions that match the filter, most recently changed first. A
	// *HistoryProblem does not end the iteration.
	Find(ctx context.Context, f HistoryFilter) iter.Seq2[HistoryRow, error]
	// Show returns the conversation of a session.
	Show(ctx context.Context, id string, o HistoryShow) (HistoryText, error)
	// Grep yields the matches of a text. It fails with ErrUnsupported if it does not support a
	// condition of the query.
	Grep(ctx context.Context, q HistoryGrep) iter.Seq2[HistoryMatch, error]
	// Render writes a session in a format to w or to a file. It fails with ErrUnsupported if it
	// does not support an option.
	Render(ctx context.Context, w io.Writer, id string, o HistoryRender) error
}

// HistoryFilter selects sessions. Zero fields select everything.
type HistoryFilter struct {
	Dir          string // includes the other worktrees of its repository
	NoWorktrees  bool
	Branch, Tag  string
	Since, Until time.Time // of the last change, for Grep of the message; Until is exclusive
	NoPrograms   bool      // excludes sessions that programs started
	Archived     bool      // only archived sessions
}

// HistoryRow describes a session in a list.
type HistoryRow struct {
	HistoryInfo
	Title  string // never empty
	Path   string // of its file
	Resume string // the command that continues it
	Wire   any    // the JSON object of the row
}

// HistoryProblem reports files that a list omits.
type HistoryProblem struct {
	Files int
	First error
}

func (e *HistoryProblem) Error() string {
	return fmt.Sprintf("agent: %d files cannot be read, the first: %v", e.Files, e.First)
}

// HistoryShow selects the parts of a conversation to show.
type HistoryShow struct {
	Last             int // number of messages from the end; 0 is all
	System, Thinking bool
	JSON             bool // fill HistoryText.Wire instead of Parts
}

// HistoryText is the conversation of a session.
type HistoryText struct {
	Parts []HistoryPart
	Wire  any // the JSON of the conversation
}

// HistoryPart is a part of a message: a text, the call of a tool, its result, or a block without
// text. Parts of one Group share a heading; a result has no heading.
type HistoryPart struct {
	Kind  string // one of PartText, PartTool, PartResult and PartBlock
	Group int
	By    string // the author
	Time  time.Time
	// Text is Markdown, the input of a tool in one line, the result, or the name of the block.
	Text   string
	Name   string // of the tool
	Failed bool   // the result is an error
}

// The kinds of parts.
const (
	PartText   = "text"
	PartTool   = "tool"
	PartResult = "result"
	PartBlock  = "block"
)

// HistoryGrep selects matches in sessions.
type HistoryGrep struct {
	HistoryFilter
	Text          string
	Roles         []string
	Tool          string
	CaseSensitive bool
	MainOnly      bool // excludes subagents
	Limit         int  // number of matches; 0 is unlimited
}

// HistoryMatch is a match of a text. Start and End are the offsets in the excerpt; Role is empty if
// the agent does not report it.
type HistoryMatch struct {
	HistoryHit
	Row           HistoryRow
	Role          string
	Tool, AgentID string
	Time          time.Time
	Start, End    int
	Wire          any // the JSON object of the match
}

// HistoryRender has the options of an export.
type HistoryRender struct {
	Format                           string
	File                             string // empty writes to the writer
	Replace                          bool   // replaces an existing file
	Redact                           bool
	Secrets                          []string // texts to redact as well
	System                           bool
	NoThinking, NoTools, NoSubagents bool
}

// Metered is implemented by a History that counts the tokens of past requests one by one.
type Metered interface {
	// Meter returns a reader of the requests. Each reader has its own position.
	Meter() (Meter, error)
}

// Meter reads the tokens of past requests. It is not safe for concurrent use.
type Meter interface {
	// Next yields the requests that were written since the last call. An error about one file
	// does not end the iteration.
	Next(ctx context.Context) iter.Seq2[Metering, error]
	// Bytes returns the number of bytes read.
	Bytes() int64
}

// Metering has the tokens of one request.
type Metering struct {
	Time                                 time.Time
	SessionID                            string
	SubagentID                           string // empty in the main conversation
	Project, Branch, Model               string
	Input, CacheRead, CacheWrite, Output int64
}
