package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/bench/internal/meter"
)

// bench is one run: its programs and peers, and the samples of its rounds.
type bench struct {
	*config
	root       string // of the repository
	tmp        string // all temporary files, deleted afterwards
	firehose   string
	consumer   string
	sides      []side
	acp        []side        // the agents of editors
	expected   *expected     // of the stream
	foldEvents []event.Event // of the session that is folded
	usage      usageBench
	codex      codexBench
	big        string // a session of 500 MB
	notes      []string

	samples map[sample][]float64
}

// sample identifies a measurement of one side in a round.
type sample struct{ figure, side string }

func (b *bench) add(figure, side string, v float64) {
	k := sample{figure, side}
	b.samples[k] = append(b.samples[k], v)
}

// median returns the median of a figure's samples, nil without samples.
func (b *bench) median(figure, side string) *float64 {
	all := b.samples[sample{figure, side}]
	if len(all) == 0 {
		return nil
	}
	m := median(all)
	return &m
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// measurement is one group of rows. In every round it measures all its sides, one after the other,
// so that the load of the machine affects all of them.
type measurement struct {
	rows    []string
	prepare func(*bench, context.Context) error
	round   func(*bench, context.Context) error
}

var measurements = []measurement{
	{[]string{"stream_msgs_per_s", "stream_cpu_s", "stream_vs_cat"}, (*bench).prepareStream, (*bench).streamRound},
	{[]string{"delta_allocs"}, nil, (*bench).allocsRound},
	{[]string{"ui_event_ns", "ui_event_allocs"}, nil, (*bench).uiEventRound},
	{[]string{"ts_fold_ms"}, (*bench).prepareFold, (*bench).foldRound},
	{[]string{"first_message_ms"}, nil, (*bench).firstRound},
	{[]string{"idle_heap_bytes", "idle_stack_bytes", "idle_goroutines"}, nil, (*bench).idleRound},
	{[]string{"usage_daily_s", "usage_daily_cpu_s", "usage_rss_bytes"}, (*bench).prepareUsage, (*bench).usageRound},
	{historyRows, (*bench).prepareHistory, (*bench).historyRound},
	{codexRows, (*bench).prepareCodex, (*bench).codexRound},
	{rows: []string{"warm_first_message_ms"}, round: (*bench).warmRound},
	{acpRows, (*bench).prepareACP, (*bench).acpRound},
	{supervisorRows, nil, (*bench).supervisorRound},
	{hostRows, nil, (*bench).hostRound},
	{joinedRows, nil, (*bench).joinedRound},
	{adoptRows, (*bench).prepareAdopt, (*bench).adoptRound},
	{rows: []string{"eventlog_synced_per_s"}, round: (*bench).eventlogRound},
}

func (c *config) wants(rows []string) bool {
	return len(c.only) == 0 || slices.ContainsFunc(rows, func(r string) bool { return slices.Contains(c.only, r) })
}

// run makes the measurements of the config.
func run(ctx context.Context, c *config) (*report, error) {
	if !meter.Supported {
		return nil, errors.New("the benchmark runs on Linux: it compares the times of several processes on one clock")
	}
	b := &bench{config: c, samples: map[sample][]float64{}}
	tmp, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	b.tmp = tmp
	if err := b.setUp(ctx); err != nil {
		return nil, err
	}
	for _, m := range measurements {
		if !b.wants(m.rows) {
			continue
		}
		if err := b.measure(ctx, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.rows[0], err)
		}
	}
	return b.report(), nil
}

func (b *bench) measure(ctx context.Context, m measurement) error {
	if m.prepare != nil {
		if err := m.prepare(b, ctx); err != nil {
			return err
		}
	}
	for i := range b.rounds {
		b.logf("%s … round %d of %d", m.rows[0], i+1, b.rounds)
		if err := m.round(b, ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) setUp(ctx context.Context) error {
	if err := b.build(ctx); err != nil {
		return err
	}
	for _, dir := range []string{"home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(b.tmp, dir), 0o700); err != nil {
			return err
		}
	}
	if err := b.readRecording(); err != nil {
		return err
	}
	return b.findSides(ctx)
}

func (b *bench) logf(format string, args ...any) { fmt.Fprintf(b.log, format+"\n", args...) }

func (b *bench) notef(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
	b.logf("%s", b.notes[len(b.notes)-1])
}

func (b *bench) path(name string) string { return filepath.Join(b.tmp, name) }
