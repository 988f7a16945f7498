package usage

import (
	"hash/maphash"
	"time"
)

// key identifies an answer: hashes of its message id and its request id. 64-bit hashes with a
// random seed keep the ledger of a million answers small and make a collision practically
// impossible.
type key struct{ message, request uint64 }

var seed = maphash.MakeSeed()

// entry is one answer.
type entry struct {
	key
	at                                   int64 // milliseconds since 1970
	input, output, read, write5m, write1 uint32
	session, branch, model, agent, file  uint32
	searches                             uint16
	flags                                flags
}

// flags are properties of an answer.
type flags uint8

const (
	sidechain flags = 1 << iota
	forked          // a copy marked as such
	broken          // interrupted while it was streamed
	fast
	inUS
	repeated // repeats another entry; not counted
)

// priceFlags are the flags that change the price.
const priceFlags = fast | inUS

func (e *entry) has(f flags) bool { return e.flags&f != 0 }

func (e *entry) set(f flags, on bool) {
	if on {
		e.flags |= f
	}
}

func (e *entry) time() time.Time { return time.UnixMilli(e.at) }

func (e *entry) tokens() Tokens {
	return Tokens{
		Input: int64(e.input), Output: int64(e.output), CacheRead: int64(e.read),
		CacheWrite5m: int64(e.write5m), CacheWrite1h: int64(e.write1), WebSearches: int64(e.searches),
	}
}

// clamp limits n to the range of the ledger. No answer has four thousand million tokens.
func clamp(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }

func (e *entry) setTokens(t Tokens) {
	e.input, e.output, e.read = clamp(t.Input), clamp(t.Output), clamp(t.CacheRead)
	e.write5m, e.write1 = clamp(t.CacheWrite5m), clamp(t.CacheWrite1h)
	e.searches = uint16(min(t.WebSearches, 1<<16-1))
}

// copyNumbers copies the usage from another line of the same answer.
func (e *entry) copyNumbers(o *entry) {
	e.input, e.output, e.read, e.write5m, e.write1, e.searches = o.input, o.output, o.read, o.write5m, o.write1, o.searches
	e.model = o.model
	const own = broken | fast | inUS
	e.flags = e.flags&^own | o.flags&own
}

// copyPlace copies location and time from another line of the same answer.
func (e *entry) copyPlace(o *entry) {
	e.at, e.session, e.branch, e.agent, e.file = o.at, o.session, o.branch, o.agent, o.file
	const own = sidechain | forked
	e.flags = e.flags&^own | o.flags&own
}

// moreNumbers orders two lines of one answer by their usage. A line of the main conversation wins
// over its copy, then the line with more tokens wins. It is a total order over the numbers, so that
// the order of reading does not matter.
func moreNumbers(a, b *entry) bool {
	if a.has(sidechain) != b.has(sidechain) {
		return b.has(sidechain)
	}
	x, y := a.tokens(), b.tokens()
	for _, n := range [...]int64{
		x.Total() - y.Total(), x.Output - y.Output, x.Input - y.Input, x.CacheRead - y.CacheRead, x.CacheWrite1h - y.CacheWrite1h,
		x.WebSearches - y.WebSearches, int64(b.flags&(broken|fast|inUS)) - int64(a.flags&(broken|fast|inUS)),
	} {
		if n != 0 {
			return n > 0
		}
	}
	return false
}

// entryList is a list that grows without moving its elements: it holds hundreds of thousands of
// answers.
type entryList struct {
	chunks []*[chunkSize]entry
	n      int
}

const chunkSize = 1 << 12

func (l *entryList) at(i int) *entry { return &l.chunks[i/chunkSize][i%chunkSize] }

func (l *entryList) append(e *entry) {
	if l.n == len(l.chunks)*chunkSize {
		l.chunks = append(l.chunks, new([chunkSize]entry))
	}
	*l.at(l.n) = *e
	l.n++
}
