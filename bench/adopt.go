package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

// adoptions lists the number of lines that an agent has written before its adoption. An empty turn has four.
var adoptions = []struct {
	row   string
	lines int
}{{"adopt_4_ms", 4}, {"adopt_1k_ms", 1000}, {"adopt_100k_ms", 100_000}}

var adoptRows = []string{adoptions[0].row, adoptions[1].row, adoptions[2].row}

// prepareAdopt writes the streams of the agents.
func (b *bench) prepareAdopt(context.Context) error {
	for _, a := range adoptions {
		if _, err := b.writeStream(b.path(a.row), a.lines); err != nil {
			return err
		}
	}
	return nil
}

// adoptRound measures the time from the connection of a new owner to the host until it has read all lines of an agent.
func (b *bench) adoptRound(ctx context.Context) (err error) {
	if runtime.GOOS != "linux" {
		b.notef("without %s: the host is measured on Linux alone", adoptRows[0])
		return nil
	}
	dir, err := os.MkdirTemp(b.tmp, "adopt-")
	if err != nil {
		return err
	}
	if err := host.Start(ctx, dir, b.path("parley"), host.Options{Supervisor: b.path("parley")}); err != nil {
		return err
	}
	defer func() {
		link, dialErr := host.Dial(ctx, dir, 0)
		if dialErr == nil {
			dialErr = errors.Join(link.Stop(ctx), link.Close())
		}
		err = errors.Join(err, dialErr)
	}()
	for i, a := range adoptions {
		left, err := b.leaveAgent(ctx, dir, uint64(2*i+1), b.path(a.row))
		if err != nil {
			return err
		}
		took, err := b.adopt(ctx, dir, uint64(2*i+2), left)
		if err != nil {
			return err
		}
		if int(left.Last) < a.lines {
			return fmt.Errorf("the agent has %d lines, want %d", left.Last, a.lines)
		}
		b.add(a.row, "parley", took)
	}
	return nil
}

// provider runs the firehose as the CLI.
func (b *bench) provider() *claudeagent.Provider {
	return &claudeagent.Provider{Options: claude.Options{CLIPath: b.firehose}}
}

// leaveAgent starts an agent under the host, waits until it has written a stream, and leaves it. It returns the agent.
func (b *bench) leaveAgent(ctx context.Context, dir string, epoch uint64, stream string) (left host.Agent, err error) {
	link, err := host.Dial(ctx, dir, epoch)
	if err != nil {
		return left, err
	}
	defer link.Close()
	spawner := spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		return link.SpawnAgent(ctx, cmd, host.AgentOptions{Key: stream})
	})
	s, err := b.provider().Open(ctx, agent.Options{Dir: dir, Env: b.env("FIREHOSE_STREAM=" + stream), Spawner: spawner})
	if err != nil {
		return left, err
	}
	defer func() {
		_ = link.Close() // first, so that the agent stays
		_ = s.Close()
	}()
	if err := s.Send(ctx, agent.Input{UUID: "00000000-0000-4000-8000-000000000001", Text: "go"}); err != nil {
		return left, err
	}
	if err := awaitResult(ctx, s.(agent.Hosted)); err != nil {
		return left, err
	}
	agents, err := link.Agents(ctx)
	for _, a := range agents {
		if a.Key == stream {
			return a, err
		}
	}
	return left, errors.Join(err, errors.New("the host has no agent"))
}

// awaitResult reads events up to the end of the turn.
func awaitResult(ctx context.Context, s agent.Hosted) error {
	for batch, err := range s.Batches(ctx) {
		if err != nil {
			return err
		}
		for _, ev := range batch.Events {
			if _, ok := ev.(*event.ResultMessage); ok {
				return nil
			}
		}
	}
	return errors.New("the events end before the result")
}

// adopt returns the milliseconds until a new owner has read all lines of an agent, and ends it.
func (b *bench) adopt(ctx context.Context, dir string, epoch uint64, left host.Agent) (float64, error) {
	began := time.Now()
	link, err := host.Dial(ctx, dir, epoch)
	if err != nil {
		return 0, err
	}
	defer link.Close()
	p, err := link.Attach(ctx, left.Number, 0)
	if err != nil {
		return 0, err
	}
	s, err := b.provider().Adopt(ctx, "", agent.Options{Dir: dir, Env: b.env()}, agent.Adoption{Process: p, Last: left.Last, Stored: left.Last})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for batch, err := range s.(agent.Hosted).Batches(ctx) {
		if err != nil {
			return 0, err
		}
		if batch.Line >= left.Last {
			return float64(time.Since(began)) / float64(time.Millisecond), nil
		}
	}
	return 0, errors.New("the events end before the last line")
}
