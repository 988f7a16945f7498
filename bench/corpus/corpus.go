// Package corpus writes a tree of session transcripts that looks like two years of work with Claude
// Code: prompts, answers split over several lines, tool results, attachments and request records,
// subagents in separate files, forks that repeat the lines of another session, failed requests,
// compactions, and the CLI's bill. The same [Spec] results in the same bytes.
//
// Shapes and key orders are those of CLI 2.1.325 and, for every fourth session, of
// CLI 1.0. Names, paths and texts are made up.
package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// Spec describes a corpus. The same Spec always results in the same corpus, byte for byte.
type Spec struct {
	Seed      uint64 // another seed results in another corpus
	Sessions  int
	Subagents int   // number of subagent files, over all sessions
	Bytes     int64 // approximate size of all files
	Projects  int
	Days      int // number of days over which the sessions are distributed
}

// Full returns the corpus for the figures of the benchmark: 1.4 GB.
func Full() Spec {
	return Spec{Seed: 1, Sessions: 2000, Subagents: 2400, Bytes: 1_400_000_000, Projects: 40, Days: 700}
}

// Scale returns a corpus with a fraction of the sessions, each of the same length, at least one.
func (s Spec) Scale(by float64) Spec {
	part := func(n int) int { return max(1, int(math.Round(float64(n)*by))) }
	s.Sessions, s.Subagents, s.Projects = part(s.Sessions), part(s.Subagents), max(2, part(s.Projects))
	s.Bytes = int64(float64(s.Bytes) * by)
	return s
}

// Tokens counts the tokens of answers by kind, each answer once, no matter how many lines repeat
// it.
type Tokens struct {
	Input, Output, CacheRead, CacheWrite5m, CacheWrite1h int64
}

// Total returns the sum of all kinds of tokens, which a report over the corpus must find.
func (t Tokens) Total() int64 {
	return t.Input + t.Output + t.CacheRead + t.CacheWrite5m + t.CacheWrite1h
}

func (t *Tokens) add(u Tokens) {
	t.Input += u.Input
	t.Output += u.Output
	t.CacheRead += u.CacheRead
	t.CacheWrite5m += u.CacheWrite5m
	t.CacheWrite1h += u.CacheWrite1h
}

// Manifest describes the content of a corpus, counted while it was written, for comparison with the
// result of a reader.
type Manifest struct {
	Spec     Spec
	Files    int
	Lines    int64
	Bytes    int64
	Messages int64             // answers of a model
	Tokens   Tokens            // of all answers
	ByDay    map[string]Tokens // by the day in UTC, as 2026-01-31
	ByModel  map[string]Tokens
}

func newManifest(spec Spec) *Manifest {
	return &Manifest{Spec: spec, ByDay: map[string]Tokens{}, ByModel: map[string]Tokens{}}
}

func (m *Manifest) count(at time.Time, model string, t Tokens) {
	m.Messages++
	m.Tokens.add(t)
	add(m.ByDay, at.Format(time.DateOnly), t)
	add(m.ByModel, model, t)
}

func add(to map[string]Tokens, key string, t Tokens) {
	sum := to[key]
	sum.add(t)
	to[key] = sum
}

func (m *Manifest) merge(o *Manifest) {
	m.Files += o.Files
	m.Lines += o.Lines
	m.Bytes += o.Bytes
	m.Messages += o.Messages
	m.Tokens.add(o.Tokens)
	for day, t := range o.ByDay {
		add(m.ByDay, day, t)
	}
	for model, t := range o.ByModel {
		add(m.ByModel, model, t)
	}
}

// manifestName is the file that is written last, next to the projects directory.
const manifestName = "corpus.json"

// Ensure writes a corpus into a separate directory below dir unless it exists, and returns that
// directory, which is a configuration directory of the CLI, and the manifest.
func Ensure(ctx context.Context, dir string, spec Spec) (string, *Manifest, error) {
	dir = filepath.Join(dir, fmt.Sprintf("corpus-v%d-%d-%d-%d-%d", version, spec.Seed, spec.Sessions, spec.Subagents, spec.Bytes))
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err == nil {
		m := &Manifest{}
		if err := json.Unmarshal(text, m); err == nil && m.Spec == spec {
			return dir, m, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, err
	}
	m, err := Write(ctx, dir, spec)
	return dir, m, err
}

// version changes when the same Spec results in different bytes.
const version = 1

// Write writes a corpus into dir, several sessions concurrently. The manifest is written last: a
// corpus without one is incomplete.
func Write(ctx context.Context, dir string, spec Spec) (*Manifest, error) {
	plans := plan(spec)
	var (
		work  sync.WaitGroup
		mu    sync.Mutex
		next  int
		first error
	)
	whole := newManifest(spec)
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := first != nil || i >= len(plans) || ctx.Err() != nil
				mu.Unlock()
				if stop {
					return
				}
				m, err := writeSession(filepath.Join(dir, "projects"), plans, i)
				mu.Lock()
				whole.merge(m)
				first = errors.Join(first, err)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if err := errors.Join(first, ctx.Err()); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		return nil, err
	}
	return whole, os.WriteFile(filepath.Join(dir, manifestName), append(text, '\n'), 0o600)
}

// sessionPlan holds the properties of a session that are fixed before any session is written.
type sessionPlan struct {
	spec      Spec
	index     int
	bytes     int64 // of the main file
	subagents int
	agentSize int64 // of each subagent's file
	forkOf    int   // the index of the original session, or -1
	newUUIDs  bool  // a fork by the SDK
	forked    bool  // the session is a fork, or has one
}

// plan distributes bytes and subagents over the sessions: a few are very long.
func plan(spec Spec) []sessionPlan {
	random := rand.New(rand.NewPCG(spec.Seed, 0xc0ffee))
	plans, weights, sum := make([]sessionPlan, spec.Sessions), make([]float64, spec.Sessions), 0.0
	for i := range plans {
		weights[i] = math.Exp(random.NormFloat64())
		sum += weights[i]
		plans[i] = sessionPlan{spec: spec, index: i, forkOf: -1}
		if i%10 == 5 {
			plans[i].forkOf, plans[i].newUUIDs = i-1, i%20 == 15
			plans[i].forked, plans[i-1].forked = true, true
		}
	}
	// The result is slightly larger than planned: a session ends with a complete run.
	target := spec.Bytes * 15 / 16
	agentBytes := target / 4
	for i := range plans {
		plans[i].bytes = int64(float64(target-agentBytes) * weights[i] / sum)
		plans[i].agentSize = agentBytes / int64(max(1, spec.Subagents))
	}
	for left := spec.Subagents; left > 0; left-- {
		plans[random.IntN(len(plans))].subagents++
	}
	return plans
}

// cwd returns the directory of a project. The longer ones have spaces and letters that the name of
// the directory below projects does not keep.
func (s Spec) cwd(project int) string {
	names := []string{"api", "web app", "tools/cli", "données", "日本語", "parser-v2", "infra", "docs"}
	return fmt.Sprintf("/home/dev/%s-%d", names[project%len(names)], project)
}
