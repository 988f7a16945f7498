package api

// SessionSearchParams searches the sessions of the server for a text, ignoring case.
type SessionSearchParams struct {
	Query  string `json:"query"`
	Cursor string `json:"cursor,omitempty"`
}

// SessionSearchResult lists some of the sessions that contain the text. Cursor leads to the next ones; it is empty on the last page.
type SessionSearchResult struct {
	Hits   []SessionHit `json:"hits"`
	Cursor string       `json:"cursor,omitempty"`
}

// SessionHit is a session that contains a text: the number of messages, and the last of them with the text around the match.
type SessionHit struct {
	SessionID string `json:"session_id"`
	Message   string `json:"message,omitempty"` // uuid of a person's message; for an answer its id, "/" and the index of the block
	Excerpt   string `json:"excerpt"`
	Matches   int64  `json:"matches"`
}
