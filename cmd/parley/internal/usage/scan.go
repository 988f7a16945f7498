package usage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// ledger are the answers of all agents.
type ledger struct {
	*usage.Ledger
	meter    *rollout.Meter // nil without Codex
	problems []error        // of Codex's files
}

// scan reads the sessions that the flags ask for.
func (f *reportFlags) scan(ctx context.Context, progress func(done, total int64)) (*ledger, error) {
	home, err := f.whose.Codex()
	if err != nil {
		return nil, err
	}
	b := &ledger{Ledger: usage.New()}
	if f.whose.Agent != history.Codex {
		b.Ledger, err = usage.Scan(ctx, usage.Options{ConfigDirs: f.configDirs, Progress: progress})
		if errors.Is(err, usage.ErrNoSessions) && home != "" && !f.whose.Changed("config-dir") {
			b.Ledger, err = usage.New(), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if home != "" {
		b.meter = rollout.Open(home).Meter()
	}
	return b, b.readCodex(ctx)
}

// update reads what is new.
func (b *ledger) update(ctx context.Context) error {
	if err := b.Ledger.Update(ctx); err != nil {
		return err
	}
	return b.readCodex(ctx)
}

// bytes is how much was read.
func (b *ledger) bytes() int64 {
	n := b.Stats().Bytes
	if b.meter != nil {
		n += b.meter.Bytes()
	}
	return n
}

// readCodex adds what Codex's files have got.
func (b *ledger) readCodex(ctx context.Context) error {
	if b.meter == nil {
		return nil
	}
	b.problems = nil
	b.Add(history.Codex, func(yield func(usage.Answer) bool) {
		for r, err := range b.meter.Next(ctx) {
			if err != nil {
				b.problems = append(b.problems, err)
				continue
			}
			if !yield(codexAnswer(r)) {
				return
			}
		}
	})
	return context.Cause(ctx)
}

// codexAnswer is a request of Codex as the ledger counts it. Codex counts what it read from
// the cache as input too.
func codexAnswer(r rollout.UsageRecord) usage.Answer {
	a := usage.Answer{
		Time: r.Time, Session: r.ThreadID, Project: r.CWD, Branch: r.Branch, Model: r.Model,
		Tokens: usage.Tokens{
			Input:     max(0, r.Tokens.InputTokens-r.Tokens.CachedInputTokens-r.Tokens.CacheWriteInputTokens),
			CacheRead: r.Tokens.CachedInputTokens, CacheWrite5m: r.Tokens.CacheWriteInputTokens, Output: r.Tokens.OutputTokens,
		},
	}
	if r.Parent != "" {
		a.Agent = r.ThreadID
	}
	return a
}

// notes are the files of Codex that could not be read, or not to their end.
func (b *ledger) notes() (notes []string) {
	for i, err := range b.problems {
		if i == mostProblems {
			return append(notes, fmt.Sprintf("%d more files of codex could not be read", len(b.problems)-i))
		}
		notes = append(notes, strings.TrimPrefix(err.Error(), "rollout: "))
	}
	return notes
}

const mostProblems = 10
