package claudeagent_test

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/internal/decode"
	"github.com/seed7221b0f9/parley/spawn"
)

// counted counts the lines that a process writes, except for those of the control
// protocol.
type counted struct {
	spawn.Process
	lines *atomic.Int64
}

func (c counted) Stdout() io.ReadCloser { return countedReader{c.Process.Stdout(), c.lines} }

type countedReader struct {
	io.ReadCloser
	lines *atomic.Int64
}

func (r countedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.lines.Add(int64(bytes.Count(p[:n], []byte("\n")) - bytes.Count(p[:n], []byte(`"type":"control_`))))
	return n, err
}

// TestDecode_once counts the decoded lines between a CLI and the events of its session.
func TestDecode_once(t *testing.T) {
	program := func(cli *claudetest.CLI) int {
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		for range 2 {
			if _, err := cli.Prompt(); err != nil {
				return 1
			}
			cli.BeginTurn()
			cli.EmitNumbered(0, 50)
			cli.EndTurn(cli.Result("done"))
		}
		<-cli.InputEnd()
		return 0
	}
	var lines atomic.Int64
	inner := claudetest.InProcess(program)
	spawner := spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		p, err := inner.Spawn(ctx, cmd)
		return counted{p, &lines}, err
	})
	before := decode.Count()
	p := &claudeagent.Provider{Options: claude.Options{Spawner: spawner, CLIPath: "scripted", CleanEnv: true}}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	s, err := p.Open(ctx, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Send(ctx, agent.Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	results := 0
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.(*event.ResultMessage); ok {
			if results++; results == 2 {
				break
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := decode.Count() - before; n != lines.Load() || n < 100 {
		t.Errorf("%d lines were decoded %d times", lines.Load(), n)
	}
}
