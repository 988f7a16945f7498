package usage

import (
	"slices"
	"time"
)

// BlockLength is the length of a block: the period of the short limit of subscriptions.
const BlockLength = 5 * time.Hour

// Block is five hours of work. It starts at the full hour, in UTC, of its first answer; the next
// block starts with the first answer after its end, or after a pause of five hours.
type Block struct {
	Start, End  time.Time
	First, Last time.Time // of the answers
	Gap         bool      // a pause between two blocks, without answers
	Active      bool      // the block has not ended
	Sum
	Models   []string
	Burn     *Burn       // rate of use; nil if all answers have the same time
	Expected *Projection // for an active block with a Burn: the projected total
}

// Burn is the rate of use, from the first answer of a block to the last.
type Burn struct {
	TokensPerMinute float64
	// WithoutCache is the rate of input and output only, which is a better measure of the work
	// done.
	WithoutCache float64
	CostPerHour  float64
}

// Projection is the expected total of a block at its end at the current rate.
type Projection struct {
	Remaining time.Duration
	Tokens    int64
	Cost      float64
}

// Blocks divides the answers of a view into blocks, by time, with the pauses between them. now
// determines the active block.
func (l *Ledger) Blocks(v View, now time.Time) []Block {
	v = v.withDefaults()
	keep := l.filter(v)
	order, long := l.inOrder(keep), l.longPrompts(v.Prices)
	var blocks []Block
	for len(order) > 0 {
		first := l.entries.at(int(order[0]))
		begin := first.time().UTC().Truncate(time.Hour)
		n, last := 0, first
		var t tally
		for n < len(order) {
			e := l.entries.at(int(order[n]))
			if e.time().Sub(begin) > BlockLength || e.time().Sub(last.time()) > BlockLength {
				break
			}
			t.add(e, long(e))
			last = e
			n++
		}
		if gap, ok := gapBefore(blocks, first.time(), v.Location); ok {
			blocks = append(blocks, gap)
		}
		blocks = append(blocks, t.block(begin, now, l.names, v))
		order = order[n:]
	}
	return blocks
}

// gapBefore returns the pause between the last block and an answer.
func gapBefore(blocks []Block, next time.Time, in *time.Location) (Block, bool) {
	if len(blocks) == 0 {
		return Block{}, false
	}
	last := blocks[len(blocks)-1].Last
	if next.Sub(last) <= BlockLength {
		return Block{}, false
	}
	return Block{Gap: true, Start: last.Add(BlockLength).In(in), End: next.In(in)}, true
}

func (t *tally) block(begin, now time.Time, n *names, v View) Block {
	row := t.row("", n, v)
	b := Block{Start: begin.In(v.Location), End: begin.Add(BlockLength).In(v.Location), First: row.First, Last: row.Last, Sum: row.Sum}
	for _, m := range row.Models {
		b.Models = append(b.Models, m.Model)
	}
	slices.Sort(b.Models)
	b.Active = now.Sub(b.Last) < BlockLength && now.Before(b.End) && !now.Before(b.Start)
	if minutes := b.Last.Sub(b.First).Minutes(); minutes > 0 {
		b.Burn = &Burn{
			TokensPerMinute: float64(b.Total()) / minutes,
			WithoutCache:    float64(b.Input+b.Output) / minutes,
			CostPerHour:     b.Cost / minutes * 60,
		}
	}
	if b.Active && b.Burn != nil {
		left := b.End.Sub(now)
		b.Expected = &Projection{
			Remaining: left,
			Tokens:    b.Total() + int64(b.Burn.TokensPerMinute*left.Minutes()),
			Cost:      b.Cost + b.Burn.CostPerHour*left.Hours(),
		}
	}
	return b
}
