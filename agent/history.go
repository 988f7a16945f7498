package agent

import (
	"context"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// HistoryKeeper is implemented by a provider whose past sessions can be read, searched and
// changed on disk.
type HistoryKeeper interface {
	// History returns the past sessions. It may be called several times.
	History() History
}

// History gives access to the sessions that an agent keeps on disk. Methods that name a
// session which does not exist fail with ErrNotFound; a method that the provider's files
// do not allow fails with ErrUnsupported.
type History interface {
	// List returns a page of sessions, the most recent first. Cursor is empty for the
	// first page, and for the returned cursor on the last.
	List(ctx context.Context, q HistoryQuery) (sessions []HistoryInfo, cursor string, err error)
	// Load yields the events of a page of a session, oldest first. They fold to the part
	// of the conversation that the page holds.
	Load(ctx context.Context, id string, page HistoryPage) (HistoryEvents, error)
	// Metadata describes one session.
	Metadata(ctx context.Context, id string) (HistoryMetadata, error)
	// Rename gives a session a title.
	Rename(ctx context.Context, id, title string) error
	// Tag sets a tag; an empty one removes it.
	Tag(ctx context.Context, id, tag string) error
	// Delete removes a session from the list. A provider may keep it in a trash or an archive.
	Delete(ctx context.Context, id string) error
	// Search returns a page of the places that contain the text of the query.
	Search(ctx context.Context, q HistoryQuery) (hits []HistoryHit, cursor string, err error)
	// Export renders a session as markdown, json or html.
	Export(ctx context.Context, id, format string) (HistoryExport, error)
}

// HistoryQuery selects sessions. Zero fields select everything; a Limit of 0 is the
// provider's own.
type HistoryQuery struct {
	Project string
	Query   string
	Cursor  string
	Limit   int64
}

// HistoryInfo describes a session on disk as a list shows it, without reading the whole
// session.
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

// HistoryPage selects a page of a session: Limit messages before or after the message
// with a uuid, or the last ones.
type HistoryPage struct {
	Before, After string
	Limit         int64
	Leaf          string // the last message of the branch to read; empty is the newest
}

// HistoryEvents is a page of a session on disk, as the events that a live session would have
// had.
type HistoryEvents struct {
	Events  iter.Seq2[event.Event, error]
	HasMore bool // there are messages before the page
}

// HistoryMetadata describes a session on disk in detail, including its branches and the
// versions of its prompts.
type HistoryMetadata struct {
	HistoryInfo
	Messages int64
	Branches int64
	Versions []HistoryVersion // prompts that stand beside others in the same place
}

// HistoryVersion is one of several prompts at the same place of a session, because a prompt was
// edited and sent again. All versions of one place have the same Parent.
type HistoryVersion struct {
	UUID   string
	Parent string // the message before it; empty at the beginning
	Leaf   string // the end of what followed, for HistoryPage.Leaf
	Time   string // as the agent wrote it
}

// HistoryHit is a place in a session on disk where a text was found, with an excerpt around it.
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
