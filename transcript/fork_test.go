package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/transcript"
)

// TestForkAsOfficial forks the sessions of the corpus, intact and damaged, entirely and at a
// message, with this package and with the official SDK, and compares the files line by line.
func TestForkAsOfficial(t *testing.T) {
	t.Parallel()
	o := startOfficial(t)
	dir := transcript.Open(o.config)
	project := filepath.Join(o.config, "projects", "-home-dev-project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 5))
	sources := mainFiles(t)
	for i := range damaged() / 2 {
		source := sources[i*7%len(sources)]
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		d := &damage{rng: rng, lines: bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))}
		if i%3 > 0 {
			for range rng.IntN(5) {
				d.once()
			}
		}
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		text = bytes.ReplaceAll(d.bytes(), []byte(sessionOf(source)), []byte(id))
		if err := os.WriteFile(filepath.Join(project, id+".jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			compareForks(t, o, dir, id, d.forkPoint(), strings.Join(d.done, ", "))
		}
		if t.Failed() {
			break
		}
	}
}

func sessionOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".jsonl") }

// forkPoint returns "" for the whole session, or the uuid of an entry.
func (d *damage) forkPoint() string {
	if d.rng.IntN(3) == 0 {
		return ""
	}
	return d.someUUID()
}

func compareForks(t *testing.T, o *officialSDK, dir *transcript.Dir, id, upTo, what string) {
	t.Helper()
	what = fmt.Sprintf("%s with %s up to %q", id, what, upTo)
	var official struct{ SessionID string }
	opts := map[string]any{}
	if upTo != "" {
		opts["upToMessageId"] = upTo
	}
	wantErr := o.ask(&official, "forkSession", id, opts)
	ours, err := dir.Fork(t.Context(), id, &transcript.ForkOptions{UpTo: upTo})
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%s: official error %v, ours %v", what, wantErr, err)
		return
	}
	if err != nil {
		return
	}
	theirs, err := dir.Session(official.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(forkLines(t, theirs), forkLines(t, ours)); diff != "" {
		t.Errorf("%s: the forks differ (-official +ours):\n%s", what, diff)
	}
	for _, s := range []*transcript.Session{ours, theirs} {
		if err := dir.Delete(t.Context(), s.ID, &transcript.DeleteOptions{Permanently: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// forkLines returns the lines of a fork with every new id replaced by the old one and without the
// time of the fork.
func forkLines(t *testing.T, s *transcript.Session) (lines []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{s.ID, "FORK"}
	var records []map[string]any
	for line := range strings.Lines(string(text)) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
		if from, ok := record["forkedFrom"].(map[string]any); ok {
			ids = append(ids, record["uuid"].(string), "COPY:"+from["messageUuid"].(string))
		} else if uuid, ok := record["uuid"].(string); ok {
			ids = append(ids, uuid, "NEW")
		}
	}
	last := 0
	for i, record := range records {
		if record["forkedFrom"] != nil {
			last = i
		}
	}
	names := strings.NewReplacer(ids...)
	for i, record := range records {
		if i >= last {
			delete(record, "timestamp")
		}
		plain, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		var renamed map[string]any
		if err := json.Unmarshal([]byte(names.Replace(string(plain))), &renamed); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, renamed)
	}
	return lines
}

func TestForkUnknownMessage(t *testing.T) {
	dir, id := newSession(t)
	if _, err := dir.Fork(t.Context(), id, &transcript.ForkOptions{UpTo: "nobody"}); err == nil {
		t.Error("a fork at a message that is not there works")
	}
	if _, err := dir.Fork(t.Context(), "00000000-0000-4000-8000-000000000000", nil); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("forking no session: %v", err)
	}
}

// newSession returns a configuration directory with one session of the corpus.
func newSession(t *testing.T) (*transcript.Dir, string) {
	t.Helper()
	config := t.TempDir()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "transcripts", "nested", "projects", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal("no project", err)
	}
	if err := os.CopyFS(filepath.Join(config, "projects", filepath.Base(files[0])), os.DirFS(files[0])); err != nil {
		t.Fatal(err)
	}
	sessions, err := filepath.Glob(filepath.Join(config, "projects", "*", "*.jsonl"))
	if err != nil || len(sessions) != 1 {
		t.Fatal("not one session", sessions, err)
	}
	return transcript.Open(config), sessionOf(sessions[0])
}
