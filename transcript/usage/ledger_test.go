package usage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/bench/corpus"
)

// What counts as one answer. The rules are those that ccusage 20 has for the same
// files, but where the comment says otherwise.
func TestCountedOnce(t *testing.T) {
	side := fields{"isSidechain": true, "agentId": "a1"}
	noRequest := fields{"requestId": nil}
	second := fields{"requestId": "req_2"}
	inB := fields{"sessionId": sessionB}
	for _, tt := range []struct {
		name           string
		files          map[string][]string
		answers, wants int64 // wants are the output tokens
	}{
		{"one", map[string][]string{fileA: {line(nil)}}, 1, 10},
		{"two lines", map[string][]string{fileA: {line(nil), line(nil)}}, 1, 10},
		{"a stream that grows", map[string][]string{fileA: {line(fields{"usage.output_tokens": 1}), line(fields{"usage.output_tokens": 50})}}, 1, 50},
		{"the most first", map[string][]string{fileA: {line(fields{"usage.output_tokens": 50}), line(fields{"usage.output_tokens": 1})}}, 1, 50},
		{"the most in another file", map[string][]string{fileA: {line(nil)}, fileB: {line(inB.with(fields{"usage.output_tokens": 99}))}}, 1, 99},
		{"a fork", map[string][]string{fileA: {line(nil)}, fileB: {line(inB)}}, 1, 10},
		{"another request", map[string][]string{fileA: {line(nil), line(second)}}, 2, 20},
		{"no request", map[string][]string{fileA: {line(noRequest), line(noRequest)}}, 1, 10},
		{"one with, one without a request", map[string][]string{fileA: {line(nil), line(noRequest)}}, 2, 20},
		// ccusage counts the copy of a fork where there is no request id.
		{"no request, a fork", map[string][]string{fileA: {line(noRequest)}, fileB: {line(inB.with(noRequest))}}, 1, 10},
		{"no message id", map[string][]string{fileA: {line(fields{"message.id": nil}), line(fields{"message.id": nil})}}, 2, 20},
		{"a subagent", map[string][]string{fileA: {line(nil)}, agent1: {line(side.with(fields{"message.id": "msg_2"}))}}, 2, 20},
		{"a subagent repeats", map[string][]string{fileA: {line(nil)}, agent1: {line(side)}}, 1, 10},
		{"a subagent repeats more", map[string][]string{fileA: {line(nil)}, agent1: {line(side.with(fields{"usage.output_tokens": 500}))}}, 1, 10},
		{"a subagent repeats another request", map[string][]string{fileA: {line(nil)}, agent1: {line(side.with(second))}}, 1, 10},
		{"two subagents repeat", map[string][]string{agent1: {line(side)}, agent2: {line(side.with(second))}}, 1, 10},
		{"a subagent of another session", map[string][]string{fileA: {line(nil)}, fileB: {line(side.with(second).with(inB))}}, 2, 20},
		{"an error of the API", map[string][]string{fileA: {line(fields{"message.model": "<synthetic>", "usage.input_tokens": 0, "usage.output_tokens": 0, "usage.cache_creation_input_tokens": 0, "usage.cache_read_input_tokens": 0})}}, 0, 0},
		{"the result of a subagent", map[string][]string{fileA: {line(nil), `{"type":"user","timestamp":"2026-01-10T12:00:00.000Z","message":{"role":"user","content":"x"},"toolUseResult":{"usage":{"input_tokens":5,"output_tokens":7}}}`}}, 1, 10},
		{"a record of progress", map[string][]string{fileA: {`{"type":"progress","timestamp":"2026-01-10T12:00:00.000Z","sessionId":"` + sessionA + `","data":{"type":"agent_progress","message":` + line(nil) + `}}`}}, 1, 10},
		{"progress and its file", map[string][]string{fileA: {`{"data":{"message":` + line(side) + `},"type":"progress"}`}, agent1: {line(side)}}, 1, 10},
		{"text that looks like it", map[string][]string{fileA: {`{"type":"user","message":{"role":"user","content":"{\"usage\":{\"output_tokens\":5}}"}}`, `{"type":"attachment","attachment":` + line(nil) + `}`}}, 0, 0},
		{"a file of another name", map[string][]string{"notes/deep/x.jsonl": {line(nil)}}, 1, 10},
	} {
		l := scanned(t, tt.files)
		r := l.Report(ByDay, inUTC)
		if int64(l.Stats().Answers) != tt.answers || r.Total.Output != tt.wants || int64(r.Total.Answers) != tt.answers {
			t.Errorf("%s: %d answers, %d tokens out; want %d and %d", tt.name, l.Stats().Answers, r.Total.Output, tt.answers, tt.wants)
		}
	}
}

// An answer belongs to the session that it was written in, wherever else it stands.
func TestOwner(t *testing.T) {
	born := func(session, at string) string {
		return `{"type":"queue-operation","operation":"enqueue","timestamp":"` + at + `","sessionId":"` + session + `"}`
	}
	inB := fields{"sessionId": sessionB, "gitBranch": "fix"}
	for name, tt := range map[string]struct {
		files map[string][]string
		want  string
	}{
		"the CLI's fork": {map[string][]string{fileA: {born(sessionA, "2026-02-02T00:00:00.000Z"), line(nil)}, fileB: {born(sessionB, "2026-01-01T00:00:00.000Z"), line(inB)}}, sessionB},
		"the SDK's fork": {map[string][]string{fileA: {line(fields{"forkedFrom": map[string]string{"sessionId": sessionB}})}, fileB: {line(inB)}}, sessionB},
		"of a subagent":  {map[string][]string{fileB: {line(inB)}, agent1: {line(fields{"isSidechain": true})}}, sessionB},
		"nobody knows":   {map[string][]string{fileB: {line(inB)}, fileA: {line(nil)}}, sessionA},
	} {
		l := scanned(t, tt.files)
		rows := l.Report(BySession, inUTC).Rows
		if len(rows) != 1 || rows[0].Key != tt.want {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}

// The generator counts what it writes, in another way than the ledger: the two must
// agree, with one worker and with many.
func TestCorpus(t *testing.T) {
	spec := corpus.Full().Scale(0.01)
	dir := t.TempDir()
	want, err := corpus.Write(t.Context(), dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 5} {
		l, err := Scan(t.Context(), Options{ConfigDirs: []string{dir}, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		stats := l.Stats()
		if stats.Files != want.Files || stats.Bytes != want.Bytes || int64(stats.Answers) != want.Messages || stats.BadLines != 0 || len(stats.Problems) > 0 {
			t.Errorf("%+v\nof %+v", stats, want)
		}
		days, models := l.Report(ByDay, inUTC), l.Report(ByModel, inUTC)
		if got := generated(days.Total.Tokens); got != want.Tokens {
			t.Errorf("%d workers: %+v, want %+v", workers, got, want.Tokens)
		}
		for what, pair := range map[string]struct {
			report *Report
			want   map[string]corpus.Tokens
		}{"day": {days, want.ByDay}, "model": {models, want.ByModel}} {
			got := map[string]corpus.Tokens{}
			for _, row := range pair.report.Rows {
				got[row.Key] = generated(row.Tokens)
			}
			if diff := cmp.Diff(pair.want, got); diff != "" {
				t.Errorf("%d workers, by %s:\n%s", workers, what, diff)
			}
		}
		for _, b := range l.Reconcile(inUTC).Bills {
			if b.Why != WhyEqual && (b.Why != WhyInherited || !b.Fork) {
				t.Errorf("%s: %s: %+v, %+v", b.Session, b.Why, b.Billed, b.Ledger)
			}
		}
	}
}

func generated(t Tokens) corpus.Tokens {
	return corpus.Tokens{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite5m: t.CacheWrite5m, CacheWrite1h: t.CacheWrite1h}
}

// Lines in any order, twice, in any file: the reports are the same.
func TestOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		var lines []string
		for range 60 {
			lines = append(lines, line(fields{
				"message.id": fmt.Sprintf("msg_%d", random.IntN(15)), "requestId": []any{nil, "req_1", "req_2"}[random.IntN(3)],
				"sessionId": []string{sessionA, sessionB}[random.IntN(2)], "isSidechain": random.IntN(3) == 0,
				"usage.output_tokens": random.IntN(20), "usage.input_tokens": random.IntN(3),
			}))
		}
		want := reports(t, tree(t, map[string][]string{fileA: lines}))
		for range 3 {
			again := slices.Concat(lines, lines[:random.IntN(len(lines))])
			random.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
			if diff := cmp.Diff(want, reports(t, tree(t, map[string][]string{fileA: again}))); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// Files under other names, with copies, in any order: the sums are the same.
func TestFilesDoNotMatter(t *testing.T) {
	dir := t.TempDir()
	want, err := corpus.Write(t.Context(), dir, corpus.Full().Scale(0.003))
	if err != nil {
		t.Fatal(err)
	}
	copies := t.TempDir()
	n := 0
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(text), "\n")
		n++
		for i, part := range []string{strings.Join(lines[len(lines)/3:], ""), strings.Join(lines[:len(lines)/2], "")} {
			write(t, copies, fmt.Sprintf("%c%d.jsonl", 'z'-byte(n%20), n*2+i), part)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dirs := range [][]string{{copies}, {copies, dir}, {dir, copies, dir}} {
		l := scan(t, dirs...)
		if got := generated(l.Report(ByDay, inUTC).Total.Tokens); got != want.Tokens || int64(l.Stats().Answers) != want.Messages {
			t.Errorf("%+v, want %+v", got, want.Tokens)
		}
	}
}

// reports are all reports of a directory.
func reports(t *testing.T, dir string) []*Report {
	t.Helper()
	l := scan(t, dir)
	var all []*Report
	for _, by := range []By{ByHour, ByDay, ByWeek, ByMonth, BySession, ByProject, ByModel, ByBranch, ByAgent} {
		all = append(all, l.Report(by, inUTC))
	}
	return all
}

// A growing file is read from where it ended; half a line waits for its other half.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	first, second := line(nil), line(fields{"message.id": "msg_2"})
	long := `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", 3*bufferSize) + `"}}`
	write(t, dir, fileA, first+"\n"+second[:100])
	l := scan(t, dir)
	for _, step := range []struct {
		text    string
		answers int
		bad     int64
	}{
		{first + "\n" + second[:100], 1, 1},
		{first + "\n" + second[:300], 1, 1},
		{first + "\n" + second, 2, 0},
		{first + "\n" + second + "\n" + long[:bufferSize], 2, 0},
		{first + "\n" + second + "\n" + long, 2, 0},
		{first + "\n" + second + "\n" + long + "\n" + line(fields{"message.id": "msg_3"}) + "\n{junk\n", 3, 1},
	} {
		write(t, dir, fileA, step.text)
		if err := l.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := l.Stats(); s.Answers != step.answers || s.BadLines != step.bad {
			t.Errorf("%d bytes: %d answers, %d bad lines; want %d and %d", len(step.text), s.Answers, s.BadLines, step.answers, step.bad)
		}
	}
	write(t, dir, fileB, line(fields{"message.id": "msg_4"}))
	if err := l.Update(t.Context()); err != nil || l.Stats().Answers != 4 {
		t.Errorf("a new file: %v, %+v", err, l.Stats())
	}
}

func TestLongLines(t *testing.T) {
	text := strings.Repeat(`long \" text `, 100_000)
	l := scanned(t, map[string][]string{fileA: {
		line(fields{"message.content": []any{map[string]string{"type": "text", "text": text}}}),
		`{"type":"user","message":{"role":"user","content":"` + strings.Repeat("y", 2<<20) + `"}}`,
		line(fields{"message.id": "msg_2"}),
	}})
	if s := l.Stats(); s.Answers != 2 || s.BadLines != 0 {
		t.Errorf("%+v", s)
	}
}

func TestProblems(t *testing.T) {
	if _, err := Scan(t.Context(), Options{ConfigDirs: []string{t.TempDir()}}); err == nil || !strings.Contains(err.Error(), ErrNoSessions.Error()) {
		t.Errorf("no sessions: %v", err)
	}
	dir := tree(t, map[string][]string{fileA: {line(nil)}})
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "projects", "-home-dev-p", fileB)); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if l := scan(t, dir); l.Stats().Answers != 1 || len(l.Stats().Problems) != 1 {
		t.Errorf("a broken link: %+v", l.Stats())
	}
}

func TestConfigDirs(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"CLAUDE_CONFIG_DIR": "/a, /b,", "HOME": "/h"}, []string{"/a", "/b"}},
		{map[string]string{"HOME": "/h"}, []string{filepath.Join("/h", ".config", "claude"), filepath.Join("/h", ".claude")}},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, []string{filepath.Join("/x", "claude"), filepath.Join("/h", ".claude")}},
		{nil, nil},
	} {
		if got := ConfigDirs(func(name string) string { return tt.env[name] }); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %q", tt.env, got)
		}
	}
}

func TestRange(t *testing.T) {
	l := scanned(t, map[string][]string{fileA: {line(nil), line(fields{"message.id": "b", "timestamp": "2026-02-01T00:00:00Z"})}})
	first, last := l.Range()
	if !first.Equal(time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)) || !last.Equal(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%v to %v", first, last)
	}
}
