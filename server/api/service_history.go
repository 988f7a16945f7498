package api

import "github.com/seed7221b0f9/parley/agent/event"

// HistoryListParams requests sessions on disk, by provider, project or text, one page at a time.
type HistoryListParams struct {
	Provider string `json:"provider,omitempty"`
	Project  string `json:"project,omitempty"`
	Query    string `json:"query,omitempty"`
	Cursor   string `json:"cursor,omitempty"`
	Limit    int64  `json:"limit,omitempty"`
	Machine  string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// HistoryListResult is a page of sessions on disk, and the cursor of the next page, which is empty
// on the last.
type HistoryListResult struct {
	Sessions []HistoryInfo `json:"sessions"`
	Cursor   string        `json:"cursor,omitempty"` // of the next page; empty on the last
}

// HistoryInfo describes a session on disk: its provider, its title, its directory, and the time of
// its last change.
type HistoryInfo struct {
	Provider     string `json:"provider,omitempty"`
	SessionID    string `json:"session_id"`
	Summary      string `json:"summary,omitempty"`
	CustomTitle  string `json:"custom_title,omitempty"`
	FirstPrompt  string `json:"first_prompt,omitempty"`
	Tag          string `json:"tag,omitempty"`
	CWD          string `json:"cwd,omitempty"`
	GitBranch    string `json:"git_branch,omitempty"`
	FileSize     int64  `json:"file_size"`
	CreatedAt    string `json:"created_at,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Archived     bool   `json:"archived,omitempty"`
	Live         string `json:"live,omitempty"` // where it is open: terminal
}

// HistoryRef names a session on disk by its id. It is the parameters of methods that need only
// this.
type HistoryRef struct {
	Session string `json:"session"`
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// HistoryLoadParams requests a page of a session on disk. Before and After are uuids of messages;
// without either the page is the end of the session.
type HistoryLoadParams struct {
	Session string `json:"session"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	Leaf    string `json:"leaf,omitempty"`    // the last message of the branch to read; empty means the newest
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// HistoryLoadResult is a page of a session on disk in the form of a conversation. HasMore is set if
// earlier messages exist.
type HistoryLoadResult struct {
	Conversation event.JSON `json:"conversation"` // a event.Conversation
	HasMore      bool       `json:"has_more"`
}

// HistoryMetadataResult describes a session on disk, including its branches and the versions of its
// prompts.
type HistoryMetadataResult struct {
	Info     HistoryInfo `json:"info"`
	Messages int64       `json:"messages"`
	Branches int64       `json:"branches"`
	// Versions are the prompts with alternatives at the same position, because a prompt was edited
	// and sent again. All versions of a position have the same parent.
	Versions []HistoryVersion `json:"versions,omitempty"`
}

// HistoryVersion is one of several prompts at the same position of a session, with the end of its
// branch.
type HistoryVersion struct {
	UUID   string `json:"uuid"`
	Parent string `json:"parent"` // the preceding message; empty at the beginning
	Leaf   string `json:"leaf"`   // the end of its branch, for history.load
	TS     string `json:"ts,omitempty"`
}

// HistoryRenameParams sets the title of a session on disk.
type HistoryRenameParams struct {
	Session string `json:"session"`
	Title   string `json:"title"`
}

// HistoryTagParams sets the tag of a session on disk. An empty tag removes it.
type HistoryTagParams struct {
	Session string `json:"session"`
	Tag     string `json:"tag"`
}

// HistoryExportParams requests a session on disk in another format: Markdown, JSON or HTML.
type HistoryExportParams struct {
	Session string `json:"session"`
	Format  string `json:"format"`            // markdown, json, html
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// HistoryExportResult is a session in another format, with a name for the file and its media
// type.
type HistoryExportResult struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Text      string `json:"text"`
}

// HistorySearchParams searches the sessions on disk for a text, in all projects or one, one page at
// a time.
type HistorySearchParams struct {
	Query   string `json:"query"`
	Project string `json:"project,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	Machine string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// HistorySearchResult is a page of matches, and the cursor of the next page.
type HistorySearchResult struct {
	Hits   []HistoryHit `json:"hits"`
	Cursor string       `json:"cursor,omitempty"`
}

// HistoryHit is a match: the session, the message, and an excerpt around it.
type HistoryHit struct {
	Session string `json:"session"`
	UUID    string `json:"uuid"`
	Excerpt string `json:"excerpt"`
}
