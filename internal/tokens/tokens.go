// Package tokens counts the tokens that answers of models use.
package tokens

// Count holds the numbers of tokens of one or many answers, by price category.
type Count struct {
	Input        int64 // neither read from nor written to the cache
	Output       int64
	CacheRead    int64
	CacheWrite5m int64 // written to the cache for five minutes
	CacheWrite1h int64 // written to the cache for an hour
	WebSearches  int64 // searches on the server; priced per search, not tokens
}

// CacheWrite returns the number of tokens that were written to the cache, for five minutes or
// for an hour.
func (t Count) CacheWrite() int64 { return t.CacheWrite5m + t.CacheWrite1h }

// Prompt returns the number of tokens sent to the model: all except the output, cached or
// not.
func (t Count) Prompt() int64 { return t.Input + t.CacheRead + t.CacheWrite() }

// Total returns the sum of all kinds of tokens, input and output. Web searches are not tokens
// and do not count.
func (t Count) Total() int64 { return t.Prompt() + t.Output }

// Add adds the counts of u to t, web searches included. It is not safe for concurrent use on
// the same t.
func (t *Count) Add(u Count) {
	t.Input += u.Input
	t.Output += u.Output
	t.CacheRead += u.CacheRead
	t.CacheWrite5m += u.CacheWrite5m
	t.CacheWrite1h += u.CacheWrite1h
	t.WebSearches += u.WebSearches
}

// Sub subtracts the counts of u from t. The result can be negative; it is not checked.
func (t *Count) Sub(u Count) {
	t.Input -= u.Input
	t.Output -= u.Output
	t.CacheRead -= u.CacheRead
	t.CacheWrite5m -= u.CacheWrite5m
	t.CacheWrite1h -= u.CacheWrite1h
	t.WebSearches -= u.WebSearches
}
