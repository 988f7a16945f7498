package usage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// totals holds the answers of all agents.
type totals struct {
	*usage.Ledger
	meters   map[string]agent.Meter // of agents other than Claude
	problems []problem
}

// problem is a file that cannot be read completely.
type problem struct {
	agent string
	err   error
}

// scan reads the sessions that the flags select.
func (f *reportFlags) scan(ctx context.Context, progress func(done, total int64)) (*totals, error) {
	meters, err := f.whose.Meters()
	if err != nil {
		return nil, err
	}
	t := &totals{Ledger: usage.New(), meters: meters}
	if f.whose.Agent != history.Codex {
		t.Ledger, err = usage.Scan(ctx, usage.Options{ConfigDirs: f.configDirs, Progress: progress})
		if errors.Is(err, usage.ErrNoSessions) && len(meters) > 0 && !f.whose.Changed("config-dir") {
			t.Ledger, err = usage.New(), nil
		}
		if err != nil {
			return nil, err
		}
	}
	return t, t.readMeters(ctx)
}

// update reads new answers.
func (t *totals) update(ctx context.Context) error {
	if err := t.Ledger.Update(ctx); err != nil {
		return err
	}
	return t.readMeters(ctx)
}

// bytes returns the number of bytes read.
func (t *totals) bytes() int64 {
	n := t.Stats().Bytes
	for _, m := range t.meters {
		n += m.Bytes()
	}
	return n
}

// readMeters adds the new answers of the meters.
func (t *totals) readMeters(ctx context.Context) error {
	t.problems = nil
	for name, m := range t.meters {
		t.Add(name, func(yield func(usage.Answer) bool) {
			for x, err := range m.Next(ctx) {
				if err != nil {
					t.problems = append(t.problems, problem{name, err})
					continue
				}
				if !yield(usage.Answer{
					Time: x.Time, Session: x.SessionID, Agent: x.SubagentID, Project: x.Project, Branch: x.Branch, Model: x.Model,
					Tokens: usage.Tokens{Input: x.Input, CacheRead: x.CacheRead, CacheWrite5m: x.CacheWrite, Output: x.Output},
				}) {
					return
				}
			}
		})
	}
	return context.Cause(ctx)
}

const mostProblems = 10

// notes returns notes about unreadable files.
func (t *totals) notes() (notes []string) {
	for i, p := range t.problems {
		if i == mostProblems {
			return append(notes, fmt.Sprintf("%d more files of %s could not be read", len(t.problems)-i, p.agent))
		}
		notes = append(notes, strings.TrimPrefix(p.err.Error(), "rollout: "))
	}
	return notes
}
