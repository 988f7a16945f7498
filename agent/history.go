package agent

import (
	"context"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// HistoryKeeper is implemented by a provider with past sessions on disk that can be read, searched
// and changed.
type HistoryKeeper interface {
	// History returns the past sessions. It may be called several times.
	History() History
}

// History accesses the sessions that an agent keeps on disk. Methods fail with ErrNotFound for an
// unknown session, and with ErrUnsupported if the provider's files do not support the operation.
type History interface {
	// List returns a page of sessions, most recent first. The cursor is empty for the first page,
	// and in the result of the last.
	List(ctx context.Context, q HistoryQuery) (sessions []HistoryInfo, cursor string, err error)
	// Load returns the events of a page of a session, oldest first. They fold to the conversation
	// of the page.
	Load(ctx context.Context, id string, page HistoryPage) (HistoryEvents, error)
	// Metadata describes one session.
	Metadata(ctx context.Context, id string) (HistoryMetadata, error)
	// Rename sets the title of a session.
	Rename(ctx context.Context, id, title string) error
	// Tag sets a tag; an empty one removes it.
	Tag(ctx context.Context, id, tag string) error
	// Delete removes a session from the list. A provider may keep it in a trash or an archive.
	Delete(ctx context.Context, id string) error
	// Search returns a page of the matches of the query's text.
	Search(ctx context.Context, q HistoryQuery) (hits []HistoryHit, cursor string, err error)
	// Export renders a session as markdown, json or html.
	Export(ctx context.Context, id, format string) (HistoryExport, error)
}

// HistoryQuery selects sessions. Zero fields select everything; a Limit of 0 is the provider's
// default.
type HistoryQuery struct {
	Project string
	Query   string
	Cursor  string
	Limit   int64
}

// HistoryInfo describes a session on disk for a list, without reading the whole session.
type HistoryInfo struct {
	ID          string
	Summary     string
	CustomTitle string
	FirstPrompt string
	Tag         string
	Dir         string
	GitBranch   string
	FileSize    int64
	Created     time.Time
	Modified    time.Time
	Archived    bool
}

// HistoryPage selects a page of a session: Limit messages before or after the message with a uuid,
// or the last ones.
type HistoryPage struct {
	Before, After string
	Limit         int64
	Leaf          string // the last message of the branch to read; empty is the newest
}

// HistoryEvents is a page of a session on disk, with the events of a live session.
type HistoryEvents struct {
	Events  iter.Seq2[event.Event, error]
	HasMore bool // earlier messages exist
}

// HistoryMetadata describes a session on disk in detail, including its branches and the versions of
// its prompts.
type HistoryMetadata struct {
	HistoryInfo
	Messages int64
	Branches int64
	Versions []HistoryVersion // prompts with alternatives at the same position
}

// HistoryVersion is one of several prompts at the same position of a session, because a prompt was
// edited and sent again. All versions of a position have the same Parent.
type HistoryVersion struct {
	UUID   string
	Parent string // the preceding message; empty at the beginning
	Leaf   string // the end of its branch, for HistoryPage.Leaf
	Time   string // as written by the agent
}

// HistoryHit is a match in a session on disk, with an excerpt around it.
type HistoryHit struct {
	ID      string
	UUID    string
	Excerpt string
}

// HistoryExport is a session in another format, with a name for the file and its media type.
type HistoryExport struct {
	Name      string
	MediaType string
	Text      string
}
