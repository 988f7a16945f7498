package api

import "github.com/seed7221b0f9/parley/agent/event"

// HistoryListParams ask for sessions on disk, by provider, project or text, a page at a time.
type HistoryListParams struct {
	Provider string `json:"provider,omitempty"`
	Project  string `json:"project,omitempty"`
	Query    string `json:"query,omitempty"`
	Cursor   string `json:"cursor,omitempty"`
	Limit    int64  `json:"limit,omitempty"`
}

// HistoryListResult is a page of sessions on disk, and the cursor of the next page, which is
// empty on the last.
type HistoryListResult struct {
	Sessions []HistoryInfo `json:"sessions"`
	Cursor   string        `json:"cursor,omitempty"` // of the next page; empty on the last
}

// HistoryInfo describes a session on disk: whose it is, its title, its directory, and when it
// was changed.
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
	Live         string `json:"live,omitempty"` // where it is open now: terminal
}

// HistoryRef names a session on disk by its id. It is the parameters of methods that need
// nothing else.
type HistoryRef struct {
	Session string `json:"session"`
}

// HistoryLoadParams ask for a page of a session on disk. Before and After are uuids of messages;
// without either the page is the end of the session.
type HistoryLoadParams struct {
	Session string `json:"session"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	Leaf    string `json:"leaf,omitempty"` // the last message of the branch to read; empty means the newest
}

// HistoryLoadResult is a page of a session on disk in the form of a conversation. HasMore is
// set if there is more.
type HistoryLoadResult struct {
	Conversation event.JSON `json:"conversation"` // a event.Conversation
	HasMore      bool       `json:"has_more"`
}

// HistoryMetadataResult is what is known about a session on disk, including its branches and
// the versions of its prompts.
type HistoryMetadataResult struct {
	Info     HistoryInfo `json:"info"`
	Messages int64       `json:"messages"`
	Branches int64       `json:"branches"`
	// Versions are the prompts that have others at the same place, because a prompt was edited
	// and sent again. All versions of one place have the same parent.
	Versions []HistoryVersion `json:"versions,omitempty"`
}

// HistoryVersion is one of several prompts at the same place of a session, with the end of what
// followed it.
type HistoryVersion struct {
	UUID   string `json:"uuid"`
	Parent string `json:"parent"` // the message before it; empty at the beginning
	Leaf   string `json:"leaf"`   // the end of what followed, for history.load
	TS     string `json:"ts,omitempty"`
}

// HistoryRenameParams give a session on disk a title, which takes the place of the one that it
// had.
type HistoryRenameParams struct {
	Session string `json:"session"`
	Title   string `json:"title"`
}

// HistoryTagParams give a session on disk a tag. An empty tag removes the one that it had.
type HistoryTagParams struct {
	Session string `json:"session"`
	Tag     string `json:"tag"`
}

// HistoryExportParams ask for a session on disk in another format: Markdown, JSON or HTML.
type HistoryExportParams struct {
	Session string `json:"session"`
	Format  string `json:"format"` // markdown, json, html
}

// HistoryExportResult is a session in another format, with a name for the file and its media
// type.
type HistoryExportResult struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Text      string `json:"text"`
}

// HistorySearchParams look for a text in the sessions on disk, in all projects or one, a page
// at a time.
type HistorySearchParams struct {
	Query   string `json:"query"`
	Project string `json:"project,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
}

// HistorySearchResult is a page of the places at which a text was found, and the cursor of the
// next page.
type HistorySearchResult struct {
	Hits   []HistoryHit `json:"hits"`
	Cursor string       `json:"cursor,omitempty"`
}

// HistoryHit is a place at which a text was found: the session, the message, and an excerpt
// around it.
type HistoryHit struct {
	Session string `json:"session"`
	UUID    string `json:"uuid"`
	Excerpt string `json:"excerpt"`
}
