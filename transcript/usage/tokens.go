package usage

// Tokens counts the tokens of one or many answers, by how they are priced. The zero value is
// empty and ready to use.
type Tokens struct {
	Input        int64 // not read from the cache, not written to it
	Output       int64
	CacheRead    int64
	CacheWrite5m int64 // written to the cache for five minutes
	CacheWrite1h int64 // written to the cache for an hour
	WebSearches  int64 // searches made on the server; they are not tokens and cost by the piece
}

// CacheWrite returns the number of tokens that were written to the cache, for five minutes or
// for an hour.
func (t Tokens) CacheWrite() int64 { return t.CacheWrite5m + t.CacheWrite1h }

// Prompt returns the size of what was sent to the model: all tokens but the output, cached or
// not.
func (t Tokens) Prompt() int64 { return t.Input + t.CacheRead + t.CacheWrite() }

// Total returns the sum of all kinds of tokens, input and output. Web searches are not tokens
// and do not count.
func (t Tokens) Total() int64 { return t.Prompt() + t.Output }

// Add adds the counts of u to t, web searches included. It is not safe for concurrent use on
// the same t.
func (t *Tokens) Add(u Tokens) {
	t.Input += u.Input
	t.Output += u.Output
	t.CacheRead += u.CacheRead
	t.CacheWrite5m += u.CacheWrite5m
	t.CacheWrite1h += u.CacheWrite1h
	t.WebSearches += u.WebSearches
}

// Sub subtracts the counts of u from t. The result can be negative; it is not checked.
func (t *Tokens) Sub(u Tokens) {
	t.Input -= u.Input
	t.Output -= u.Output
	t.CacheRead -= u.CacheRead
	t.CacheWrite5m -= u.CacheWrite5m
	t.CacheWrite1h -= u.CacheWrite1h
	t.WebSearches -= u.WebSearches
}
