package corpus

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var small = Full().Scale(0.01)

// hashTree returns the hash of all files below a directory, with their names.
func hashTree(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.WriteString(h, strings.TrimPrefix(path, dir)+"\n")
		if err == nil {
			_, err = io.Copy(h, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(h.Sum(nil))
}

func TestSameBytes(t *testing.T) {
	spec := Full().Scale(0.004)
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	other := spec
	other.Seed++
	for dir, s := range map[string]Spec{a: spec, b: spec, c: other} {
		if _, err := Write(t.Context(), dir, s); err != nil {
			t.Fatal(err)
		}
	}
	if hashTree(t, a) != hashTree(t, b) {
		t.Error("the same spec gave other bytes")
	}
	if hashTree(t, a) == hashTree(t, c) {
		t.Error("another seed gave the same bytes")
	}
}

// answerLine holds the members of a line that the oracle reads.
type answerLine struct {
	Type, SessionID, RequestID, Version string
	IsSidechain                         bool
	ForkedFrom                          *struct{ SessionID string }
	TotalCostUSD                        *float64
	Subtype                             string
	Message                             struct {
		ID, Model string
		Usage     *struct {
			Input      int64 `json:"input_tokens"`
			Output     int64 `json:"output_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
		}
	}
}

// TestManifest checks that every line is JSON, that all promised content exists, and that the
// manifest matches.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	m, err := Write(t.Context(), dir, small)
	if err != nil {
		t.Fatal(err)
	}
	seen, most := map[string]int{}, map[string]answerLine{}
	var lines, bytes int64
	names, err := filepath.Glob(filepath.Join(dir, "projects", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	agents, err := filepath.Glob(filepath.Join(dir, "projects", "*", "*", "subagents", "agent-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != small.Sessions || len(agents) != small.Subagents || m.Files != len(names)+len(agents) {
		t.Errorf("%d sessions, %d subagents, %d files", len(names), len(agents), m.Files)
	}
	for _, name := range append(names, agents...) {
		n, size := readLines(t, name, seen, most)
		lines, bytes = lines+n, bytes+size
	}
	if lines != m.Lines || bytes != m.Bytes {
		t.Errorf("%d lines, %d bytes; the manifest has %d and %d", lines, bytes, m.Lines, m.Bytes)
	}
	if off := float64(bytes) / float64(small.Bytes); off < 0.7 || off > 1.5 {
		t.Errorf("%d bytes, %d were asked for", bytes, small.Bytes)
	}
	var sum Tokens
	for _, l := range most {
		sum.add(Tokens{Input: l.Message.Usage.Input, Output: l.Message.Usage.Output, CacheRead: l.Message.Usage.CacheRead, CacheWrite5m: l.Message.Usage.CacheWrite})
	}
	if int64(len(most)) != m.Messages || sum.Total() != m.Tokens.Total() || sum.Output != m.Tokens.Output || sum.Input != m.Tokens.Input {
		t.Errorf("%d answers with %+v; the manifest has %d with %+v", len(most), sum, m.Messages, m.Tokens)
	}
	for _, what := range []string{"answer", "again", "fork", "SDK's fork", "sidechain", "old", "synthetic", "no request", "cost-state", "attachment", "api-request", "queue-operation", "user"} {
		if seen[what] == 0 {
			t.Errorf("there is no %s", what)
		}
	}
}

// readLines reads a file with a different decoder than the measured programs.
func readLines(t *testing.T, name string, seen map[string]int, most map[string]answerLine) (lines, size int64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return lines, size
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, size = lines+1, size+int64(len(text))
		var l answerLine
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%s: %v: %.300s", name, err, text)
		}
		seen[l.Type]++
		l.count(seen, most)
	}
}

func (l answerLine) count(seen map[string]int, most map[string]answerLine) {
	if l.Type != "assistant" {
		return
	}
	if l.Message.Model == "<synthetic>" {
		seen["synthetic"]++
		return
	}
	k := l.Message.ID + " " + l.RequestID
	old, ok := most[k]
	for what, is := range map[string]bool{
		"answer": true, "again": ok, "fork": ok && old.SessionID != l.SessionID, "SDK's fork": l.ForkedFrom != nil, "sidechain": l.IsSidechain,
		"old": l.Version != "2.1.325", "no request": l.RequestID == "",
	} {
		if is {
			seen[what]++
		}
	}
	if !ok || l.Message.Usage.Output > old.Message.Usage.Output {
		most[k] = l
	}
}

func TestEnsure(t *testing.T) {
	spec, cache := Full().Scale(0.001), t.TempDir()
	dir, first, err := Ensure(t.Context(), cache, spec)
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, second, err := Ensure(t.Context(), cache, spec)
	if err != nil || again != dir || second.Tokens != first.Tokens {
		t.Errorf("the second time: %s, %+v, %v", again, second, err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("it was written again")
	}
	if err := os.Remove(filepath.Join(dir, manifestName)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Ensure(t.Context(), cache, spec); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("what was broken off is still there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Write(ctx, t.TempDir(), spec); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
