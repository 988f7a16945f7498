package main

import "context"

// timed is what a consumer prints; consumer/first.go has the same.
type timed struct {
	QueryMS []float64 `json:"query_ms"`
	SpawnMS []float64 `json:"spawn_ms"`
	BareMS  []float64 `json:"bare_ms"` // Python's has none
}

// firstRound times first messages on every side. What remains of the median call when the
// median start of the same program by the same runtime is taken off is the side's own, and
// the firehose's answers.
func (b *bench) firstRound(ctx context.Context) error {
	for _, s := range b.sides {
		var got timed
		if err := b.measureIn(ctx, b.command(s, "first", b.calls), b.env("FIREHOSE_STREAM="+b.path("short.jsonl")), &got); err != nil {
			return err
		}
		query, spawn := median(got.QueryMS), median(got.SpawnMS)
		b.logf("  %-8s %8.3f ms, of which starting the CLI %.3f ms", s.name, query, spawn)
		b.add("first_query_ms", s.name, query)
		b.add("first_spawn_ms", s.name, spawn)
		b.add("first_message_ms", s.name, query-spawn)
		if len(got.BareMS) > 0 {
			b.add("first_bare_ms", s.name, median(got.BareMS)-spawn)
		}
	}
	return nil
}
