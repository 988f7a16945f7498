package main

import (
	"context"
	"strconv"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// warmed is the output of a consumer; consumer/warm.go has the same.
type warmed struct {
	ColdMS []float64 `json:"cold_ms"`
	WarmMS []float64 `json:"warm_ms"`
}

// warmCalls is the number of first messages of a round: each starts a real CLI, twice.
const warmCalls = 3

// warmRound measures first messages of a prestarted real CLI, and of one that was not, against a
// scripted API on loopback. Python's SDK cannot prestart.
func (b *bench) warmRound(ctx context.Context) error {
	cli, err := e2e.CLIPath()
	if err != nil {
		b.notef("without warm_first_message_ms: %v", err)
		return nil
	}
	reply := claudetest.Say("done")
	reply.Repeat = 100 * warmCalls
	api, err := claudetest.NewFakeAPI(claudetest.Replies(reply))
	if err != nil {
		return err
	}
	defer api.Close()
	env, err := claudetest.HermeticEnv(b.path("home"), api.URL())
	if err != nil {
		return err
	}
	calls := min(b.calls, warmCalls)
	for _, s := range b.sides {
		if s.name != "parley" && s.name != "ts" {
			continue
		}
		argv := append([]string{}, s.argv...)
		if s.name == "parley" {
			argv = append(argv, "warm", "-cli", cli, "-calls", strconv.Itoa(calls))
		} else {
			argv = append(argv, cli, "warm", strconv.Itoa(calls))
		}
		var got warmed
		if err := b.measureIn(ctx, argv, env, &got); err != nil {
			return err
		}
		cold, warm := median(got.ColdMS), median(got.WarmMS)
		b.logf("  %-8s %8.3f ms; %.3f ms with the start of the CLI", s.name, warm, cold)
		b.add("warm_first_message_ms", s.name, warm)
		b.add("cold_first_message_ms", s.name, cold)
	}
	return nil
}
