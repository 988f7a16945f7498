package main

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// warmed holds the times of calls to the first message with a newly started CLI, and with a
// prestarted one.
type warmed struct {
	ColdMS []float64 `json:"cold_ms"`
	WarmMS []float64 `json:"warm_ms"`
}

// warm measures the first message of a cold and of a prewarmed CLI, alternately.
func warm(ctx context.Context, cli string, calls int) (*warmed, error) {
	t := &warmed{}
	opts := &claude.Options{CLIPath: cli}
	for range calls {
		ms, err := firstOf(func() iter.Seq2[message.Message, error] { return claude.Query(ctx, "go", opts) })
		if err != nil {
			return nil, err
		}
		t.ColdMS = append(t.ColdMS, ms)
		w, err := claude.Prewarm(ctx, opts)
		if err != nil {
			return nil, err
		}
		ms, err = firstOf(func() iter.Seq2[message.Message, error] { return w.Query(ctx, "go") })
		if err != nil {
			return nil, err
		}
		t.WarmMS = append(t.WarmMS, ms)
	}
	return t, nil
}

// firstOf returns the time from a call to its first message. The rest is read too.
func firstOf(call func() iter.Seq2[message.Message, error]) (ms float64, err error) {
	begin := time.Now()
	for _, err := range call() {
		if err != nil {
			return 0, err
		}
		if ms == 0 {
			ms = time.Since(begin).Seconds() * 1000
		}
	}
	if ms == 0 {
		return 0, errors.New("no message came")
	}
	return ms, nil
}
