package agent

// Used is what one answer of a model used. Agents that know it say it for every answer, those
// to subagents too, as soon as the answer has ended.
type Used struct {
	MessageID       string // the API's id of the answer
	ParentToolUseID string // of a subagent's
	Model           string
	Input           int64 // tokens that neither came from the cache nor went to it
	Output          int64
	CacheRead       int64
	CacheWrite5m    int64 // written to the cache for five minutes
	CacheWrite1h    int64 // written to the cache for an hour
	WebSearches     int64 // searches on the model's side; they are no tokens
}

// Total is the sum of all kinds of tokens.
func (u Used) Total() int64 {
	return u.Input + u.Output + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
}
