package usage

// Tokens are the tokens of one or many answers.
type Tokens struct {
	Input        int64 // not read from the cache, not written to it
	Output       int64
	CacheRead    int64
	CacheWrite5m int64 // written to the cache for five minutes
	CacheWrite1h int64 // written to the cache for an hour
	WebSearches  int64 // searches made on the server; they are no tokens and cost by the piece
}

// CacheWrite is what was written to the cache for either time.
func (t Tokens) CacheWrite() int64 { return t.CacheWrite5m + t.CacheWrite1h }

// Prompt is the size of what was sent: all but the output.
func (t Tokens) Prompt() int64 { return t.Input + t.CacheRead + t.CacheWrite() }

// Total is the sum of all kinds of tokens.
func (t Tokens) Total() int64 { return t.Prompt() + t.Output }

// Add adds u to t.
func (t *Tokens) Add(u Tokens) {
	t.Input += u.Input
	t.Output += u.Output
	t.CacheRead += u.CacheRead
	t.CacheWrite5m += u.CacheWrite5m
	t.CacheWrite1h += u.CacheWrite1h
	t.WebSearches += u.WebSearches
}

// Sub takes u from t.
func (t *Tokens) Sub(u Tokens) {
	t.Input -= u.Input
	t.Output -= u.Output
	t.CacheRead -= u.CacheRead
	t.CacheWrite5m -= u.CacheWrite5m
	t.CacheWrite1h -= u.CacheWrite1h
	t.WebSearches -= u.WebSearches
}
