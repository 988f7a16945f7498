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

// ledger has the answers of all agents.
type ledger struct {
	*usage.Ledger
	meters   map[string]agent.Meter // of the agents other than Claude
	problems []problem
}

// problem is a file that cannot be read, or not to its end.
type problem struct {
	agent string
	err   error
}

// scan reads the sessions that the flags ask for.
func (f *reportFlags) scan(ctx context.Context, progress func(done, total int64)) (*ledger, error) {
	meters, err := f.whose.Meters()
	if err != nil {
		return nil, err
	}
	l := &ledger{Ledger: usage.New(), meters: meters}
	if f.whose.Agent != history.Codex {
		l.Ledger, err = usage.Scan(ctx, usage.Options{ConfigDirs: f.configDirs, Progress: progress})
		if errors.Is(err, usage.ErrNoSessions) && len(meters) > 0 && !f.whose.Changed("config-dir") {
			l.Ledger, err = usage.New(), nil
		}
		if err != nil {
			return nil, err
		}
	}
	return l, l.readMeters(ctx)
}

// update reads new answers.
func (l *ledger) update(ctx context.Context) error {
	if err := l.Ledger.Update(ctx); err != nil {
		return err
	}
	return l.readMeters(ctx)
}

// bytes returns how much was read.
func (l *ledger) bytes() int64 {
	n := l.Stats().Bytes
	for _, m := range l.meters {
		n += m.Bytes()
	}
	return n
}

// readMeters adds the new answers of the meters.
func (l *ledger) readMeters(ctx context.Context) error {
	l.problems = nil
	for name, m := range l.meters {
		l.Add(name, func(yield func(usage.Answer) bool) {
			for x, err := range m.Next(ctx) {
				if err != nil {
					l.problems = append(l.problems, problem{name, err})
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

// notes are about the files that cannot be read.
func (l *ledger) notes() (notes []string) {
	for i, p := range l.problems {
		if i == mostProblems {
			return append(notes, fmt.Sprintf("%d more files of %s could not be read", len(l.problems)-i, p.agent))
		}
		notes = append(notes, strings.TrimPrefix(p.err.Error(), "rollout: "))
	}
	return notes
}
