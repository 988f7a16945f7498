package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/bench/corpus"
)

// usageBench holds the data for the usage rows.
type usageBench struct {
	dir   string // the configuration directory with the sessions
	want  *corpus.Manifest
	sides []side
}

// counted is the output of both sides, with the same names.
type counted struct {
	Totals struct {
		Input      int64 `json:"inputTokens"`
		Output     int64 `json:"outputTokens"`
		CacheWrite int64 `json:"cacheCreationTokens"`
		CacheRead  int64 `json:"cacheReadTokens"`
	} `json:"totals"`
}

// prepareUsage writes the sessions, installs the peer, and reads the sessions once, so that they
// are in the page cache from the first round on.
func (b *bench) prepareUsage(ctx context.Context) error {
	spec := corpus.Full().Scale(b.scale)
	b.logf("the sessions: %d with %d subagents, %.2f GB (written on the first run)", spec.Sessions, spec.Subagents, float64(spec.Bytes)/1e9)
	dir, want, err := ensureCorpus(ctx, b.cache, b.scale)
	if err != nil {
		return err
	}
	b.usage = usageBench{dir: dir, want: want, sides: []side{{"parley", []string{b.path("parley"), "usage", "daily", "--json"}}}}
	b.notef("sessions: %d files, %d lines, %.2f GB, %d answers", want.Files, want.Lines, float64(want.Bytes)/1e9, want.Messages)
	if b.has("ccusage") {
		argv, err := b.installCcusage(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			b.notef("without ccusage: %v", err)
		default:
			// Without --offline it would fetch prices from the network.
			b.usage.sides = append(b.usage.sides, side{"ccusage", append(argv, "claude", "daily", "--json", "--offline")})
		}
	}
	return readTree(ctx, dir)
}

// usageRound counts once on every side.
func (b *bench) usageRound(ctx context.Context) error {
	for _, s := range b.usage.sides {
		var got counted
		took, err := b.timeIn(ctx, s.argv, b.env("CLAUDE_CONFIG_DIR="+b.usage.dir), &got)
		if err != nil {
			return err
		}
		if err := b.usage.check(&got); err != nil {
			return fmt.Errorf("%s counts otherwise than was written: %w", s.name, err)
		}
		b.logf("  %-8s %8.3f s  %8.3f s CPU  %6.1f MiB", s.name, took.Seconds, took.CPU, float64(took.Peak)/(1<<20))
		b.add("usage_daily_s", s.name, took.Seconds)
		b.add("usage_daily_cpu_s", s.name, took.CPU)
		b.add("usage_rss_bytes", s.name, float64(took.Peak))
	}
	return nil
}

// check compares the counts of a side with the written sessions.
func (u *usageBench) check(got *counted) error {
	want, t := u.want.Tokens, got.Totals
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"input", t.Input, want.Input}, {"output", t.Output, want.Output},
		{"cache write", t.CacheWrite, want.CacheWrite5m + want.CacheWrite1h}, {"cache read", t.CacheRead, want.CacheRead},
	} {
		if c.got != c.want {
			return fmt.Errorf("%d %s tokens, not %d", c.got, c.what, c.want)
		}
	}
	return nil
}

// readTree reads all files below a directory.
func readTree(ctx context.Context, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(io.Discard, f)
		return err
	})
}

// ensureCorpus writes the generated sessions into the cache unless they exist.
func ensureCorpus(ctx context.Context, cache string, scale float64) (string, *corpus.Manifest, error) {
	if cache == "" {
		cache = os.Getenv("PARLEY_CACHE")
	}
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", nil, err
		}
		cache = filepath.Join(dir, "parley")
	}
	return corpus.Ensure(ctx, cache, corpus.Full().Scale(scale))
}

// writeCorpus implements the command corpus: it writes the sessions and prints their location.
func writeCorpus(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench corpus", flag.ContinueOnError)
	scale := flags.Float64("scale", 1, "how much of 1.4 GB, 2,000 sessions and 2,400 subagents is written")
	cache := flags.String("cache", "", "the `directory` below which it is (default $PARLEY_CACHE, else parley in the user's cache directory)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *scale <= 0 || *scale > 1 {
		return errors.New("--scale is more than 0 and at most 1")
	}
	dir, _, err := ensureCorpus(ctx, *cache, *scale)
	if err == nil {
		_, err = fmt.Println(dir)
	}
	return err
}
