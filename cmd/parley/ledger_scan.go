package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// whose says which agents' files are read.
type whose struct {
	agent     string // one of claude and codex; "" is both
	codexHome string
	changed   func(flag string) bool
}

func (f *whose) register(cmd *cobra.Command) {
	f.changed = cmd.Flags().Changed
	fs := cmd.Flags()
	fs.StringVar(&f.agent, "agent", "", "only sessions of claude or of codex (default both)")
	fs.StringVar(&f.codexHome, "codex-home", "", "the home `directory` of Codex (default $CODEX_HOME, else ~/.codex); with it or with --config-dir alone, only that agent's")
	completeValues(cmd, "agent", []string{agentClaude, agentCodex})
	if err := cmd.MarkFlagDirname("codex-home"); err != nil {
		panic(err) // the flag is there
	}
}

// choose makes up for what is not said. An error is one of usage.
func (f *whose) choose() error {
	config, home := f.changed("config-dir"), f.changed("codex-home")
	switch {
	case f.agent == "" && config && !home:
		f.agent = agentClaude
	case f.agent == "" && home && !config:
		f.agent = agentCodex
	case f.agent != "" && f.agent != agentClaude && f.agent != agentCodex:
		return term.Usagef("--agent %s: it is claude or codex", f.agent)
	}
	return nil
}

// codex is where Codex keeps its sessions; "" if they are not asked for, or if there are none
// and they were not asked for alone.
func (f *whose) codex() (string, error) {
	if f.agent == agentClaude {
		return "", nil
	}
	home := f.codexHome
	if home == "" {
		var err error
		if home, err = rollout.DefaultHome(); err != nil {
			if f.agent == "" {
				return "", nil
			}
			return "", err
		}
	}
	for _, sub := range []string{"sessions", "archived_sessions"} {
		if info, err := os.Stat(filepath.Join(home, sub)); err == nil && info.IsDir() {
			return home, nil
		}
	}
	if f.agent == "" {
		return "", nil
	}
	return "", fmt.Errorf("there are no sessions of codex in %s", home)
}

// books are the answers of all agents.
type books struct {
	*usage.Ledger
	meter    *rollout.Meter // nil without Codex
	problems []error        // of Codex's files
}

// scan reads the sessions that the flags ask for.
func (f *ledgerFlags) scan(ctx context.Context, progress func(done, total int64)) (*books, error) {
	home, err := f.whose.codex()
	if err != nil {
		return nil, err
	}
	b := &books{Ledger: usage.New()}
	if f.whose.agent != agentCodex {
		b.Ledger, err = usage.Scan(ctx, usage.Options{ConfigDirs: f.configDirs, Progress: progress})
		if errors.Is(err, usage.ErrNoSessions) && home != "" && !f.whose.changed("config-dir") {
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
func (b *books) update(ctx context.Context) error {
	if err := b.Ledger.Update(ctx); err != nil {
		return err
	}
	return b.readCodex(ctx)
}

// bytes is how much was read.
func (b *books) bytes() int64 {
	n := b.Stats().Bytes
	if b.meter != nil {
		n += b.meter.Bytes()
	}
	return n
}

// readCodex adds what Codex's files have got.
func (b *books) readCodex(ctx context.Context) error {
	if b.meter == nil {
		return nil
	}
	b.problems = nil
	b.Add(agentCodex, func(yield func(usage.Answer) bool) {
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
func (b *books) notes() (notes []string) {
	for i, err := range b.problems {
		if i == mostProblems {
			return append(notes, fmt.Sprintf("%d more files of codex could not be read", len(b.problems)-i))
		}
		notes = append(notes, strings.TrimPrefix(err.Error(), "rollout: "))
	}
	return notes
}

const mostProblems = 10
