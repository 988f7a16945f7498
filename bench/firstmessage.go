package main

import "context"

// timed is the output of a consumer; consumer/first.go has the same.
type timed struct {
	QueryMS []float64 `json:"query_ms"`
	SpawnMS []float64 `json:"spawn_ms"`
	BareMS  []float64 `json:"bare_ms"` // Python does not report it
}

// firstRound measures first messages on every side. The system's cost of starting the program, its
// fork, exec and start, is the same for all and subtracted: it is measured from Go, the leanest of
// them. Additional costs of a runtime for starting a process are included.
func (b *bench) firstRound(ctx context.Context) error {
	start := 0.0
	for _, s := range b.sides {
		var got timed
		if err := b.measureIn(ctx, b.command(s, "first", b.calls), b.env("FIREHOSE_STREAM="+b.path("short.jsonl")), &got); err != nil {
			return err
		}
		query, spawn := median(got.QueryMS), median(got.SpawnMS)
		if start == 0 {
			start = spawn // the first side is Parley
		}
		b.logf("  %-8s %8.3f ms; it starts the CLI in %.3f ms", s.name, query, spawn)
		b.add("first_query_ms", s.name, query)
		b.add("first_spawn_ms", s.name, spawn)
		b.add("first_message_ms", s.name, query-start)
		if len(got.BareMS) > 0 {
			b.add("first_bare_ms", s.name, median(got.BareMS)-start)
		}
	}
	return nil
}
