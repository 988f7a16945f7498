package main

import (
	"context"
	"strconv"
)

// idled is the output of the consumer; consumer/idle.go has the same.
type idled struct {
	Clients    int    `json:"clients"`
	Heap       int64  `json:"heap"`
	Stack      int64  `json:"stack"`
	Goroutines int    `json:"goroutines"`
	Threads    int    `json:"threads"`
	Limit      string `json:"limit"`
}

// idleRound keeps idle clients, each with a separate CLI, in a separate process.
func (b *bench) idleRound(ctx context.Context) error {
	argv := append(b.command(b.sides[0], "idle", 0), "-clients", strconv.Itoa(b.clients))
	var got idled
	if err := b.measureIn(ctx, argv, b.env(), &got); err != nil {
		return err
	}
	if got.Limit != "" {
		b.notef("idle: %d clients instead of %d: %s", got.Clients, b.clients, got.Limit)
	}
	n := float64(got.Clients)
	b.logf("  %d clients: %.0f bytes of heap, %.0f of stack, %.2f goroutines, %.2f threads each",
		got.Clients, float64(got.Heap)/n, float64(got.Stack)/n, float64(got.Goroutines)/n, float64(got.Threads)/n)
	b.add("idle_clients", "parley", n)
	b.add("idle_heap_bytes", "parley", float64(got.Heap)/n)
	b.add("idle_stack_bytes", "parley", float64(got.Stack)/n)
	b.add("idle_goroutines", "parley", float64(got.Goroutines)/n)
	b.add("idle_threads", "parley", float64(got.Threads)/n)
	return nil
}
