package agent

// Used is what one answer of a model used, in tokens. Agents that know it report it for every
// answer, including those of subagents, as soon as the answer has ended; see Options.OnUsed.
type Used struct {
	MessageID       string // the API's id of the answer
	ParentToolUseID string // set for an answer of a subagent
	Model           string
	Input           int64 // tokens that neither came from the cache nor went to it
	Output          int64
	CacheRead       int64
	CacheWrite5m    int64 // written to the cache for five minutes
	CacheWrite1h    int64 // written to the cache for an hour
	WebSearches     int64 // searches on the model's side; they are not tokens
}

// Total returns the sum of all kinds of tokens. Searches are not tokens and are not in it.
func (u Used) Total() int64 {
	return u.Input + u.Output + u.CacheRead + u.CacheWrite5m + u.CacheWrite1h
}
