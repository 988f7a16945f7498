package transcript_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/transcript"
)

// corpusDir returns the directory of the trees: real sessions with the answers of the official SDK.
// PARLEY_TRANSCRIPT_CORPUS selects another corpus of the same form.
func corpusDir() string {
	if dir := os.Getenv("PARLEY_TRANSCRIPT_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "testdata", "transcripts")
}

// scenarios returns the directories of the corpus.
func scenarios(t *testing.T) []string {
	t.Helper()
	list, err := os.ReadDir(corpusDir())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		t.Fatalf("no scenarios in %s", corpusDir())
	}
	return names
}

// TestCorpus compares the answers for every tree with those of the official SDK. Three things are
// not compared, because they changed when the trees were copied: fileSize, lastModified (which is
// set from the expected answer, so that the order of the list is that of the recording), and the
// paths that only this package returns. The two answers of the official SDK that have a size and a
// time must agree.
func TestCorpus(t *testing.T) {
	for _, name := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &corpusCase{t: t, from: filepath.Join(corpusDir(), name)}
			c.open()
			c.checkList()
			for _, file := range c.expected() {
				parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(file, "expected."), ".json"), ".")
				c.checkAnswer(file, parts)
			}
			c.checkLossless()
		})
	}
}

// corpusCase is one tree in a separate configuration directory.
type corpusCase struct {
	t    *testing.T
	from string
	dir  *transcript.Dir
}

func (c *corpusCase) open() {
	c.t.Helper()
	config := c.t.TempDir()
	if err := os.CopyFS(filepath.Join(config, "projects"), os.DirFS(filepath.Join(c.from, "projects"))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatal(err)
	}
	c.dir = transcript.Open(config)
	for _, want := range c.readList("expected.listSessions.json") {
		s, err := c.dir.Session(want["sessionId"].(string))
		if err != nil {
			c.t.Fatal(err)
		}
		modified := time.UnixMilli(int64(want["lastModified"].(float64)))
		if err := os.Chtimes(s.Path, modified, modified); err != nil {
			c.t.Fatal(err)
		}
	}
}

// expected returns the names of the files with answers about single sessions.
func (c *corpusCase) expected() []string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.from, "expected.*-*.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	return files
}

func (c *corpusCase) checkList() {
	c.t.Helper()
	got := []map[string]any{}
	for info, err := range c.dir.Sessions(c.t.Context(), transcript.Filter{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		got = append(got, infoAnswer(c.t, info))
	}
	want := c.readList("expected.listSessions.json")
	for _, w := range want {
		delete(w, "fileSize")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("the list differs (-official +ours):\n%s", diff)
	}
}

// checkAnswer compares one answer: <session>.info, .messages, .messages.system,
// .subagents, .subagent.<id>.
func (c *corpusCase) checkAnswer(file string, parts []string) {
	c.t.Helper()
	s, err := c.dir.Session(parts[0])
	if err != nil {
		c.t.Fatal(err)
	}
	switch question := strings.Join(parts[1:min(len(parts), 3)], "."); {
	case question == "info":
		c.checkInfo(file, s)
	case question == "messages":
		c.checkMessages(file, s, nil)
	case question == "messages.system":
		c.checkMessages(file, s, &transcript.ConversationOptions{System: true})
	case question == "subagents":
		c.checkSubagents(file, s)
	case parts[1] == "subagent":
		c.checkSubagent(file, s, parts[2])
	default:
		c.t.Errorf("%s asks a question that this test does not know", file)
	}
}

func (c *corpusCase) checkInfo(file string, s *transcript.Session) {
	c.t.Helper()
	info, err := s.Info(c.t.Context())
	if errors.Is(err, transcript.ErrNoSession) {
		if text := strings.TrimSpace(string(c.read(file))); text != "null" && text != "" {
			c.t.Errorf("%s: there is no info", file)
		}
		return
	}
	if err != nil {
		c.t.Fatal(err)
	}
	var want map[string]any
	c.decode(file, &want)
	if !slices.ContainsFunc(c.readList("expected.listSessions.json"), func(listed map[string]any) bool { return cmp.Equal(listed, want) }) {
		c.t.Errorf("%s is not in expected.listSessions.json", file)
	}
	delete(want, "fileSize")
	if diff := cmp.Diff(want, infoAnswer(c.t, info)); diff != "" {
		c.t.Errorf("%s differs (-official +ours):\n%s", file, diff)
	}
}

func (c *corpusCase) checkMessages(file string, s *transcript.Session, opts *transcript.ConversationOptions) {
	c.t.Helper()
	got, err := s.Conversation(c.t.Context(), opts)
	if err != nil {
		c.t.Fatal(err)
	}
	compareMessages(c.t, file, c.readList(file), got)
}

func (c *corpusCase) checkSubagents(file string, s *transcript.Session) {
	c.t.Helper()
	agents, err := s.Subagents()
	if err != nil {
		c.t.Fatal(err)
	}
	var want []string
	c.decode(file, &want)
	slices.Sort(want) // the official SDK returns the order of the directory, which is arbitrary
	var got []string
	for _, a := range agents {
		got = append(got, a.ID)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("%s differs (-official +ours):\n%s", file, diff)
	}
}

func (c *corpusCase) checkSubagent(file string, s *transcript.Session, id string) {
	c.t.Helper()
	agents, err := s.Subagents()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, a := range agents {
		if a.ID != id {
			continue
		}
		got, err := a.Conversation(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		compareMessages(c.t, file, c.readList(file), got)
		return
	}
	c.t.Errorf("there is no subagent %s", id)
}

// compareMessages compares our answer with the official one: the same messages in the same order,
// and every member equal. Ours may have more, by these rules:
//
//   - a system message has its subtype and content: the official answer drops the
//     text, and with it the output of slash commands;
//   - an origin is given whole: the official answer cuts that of a task's
//     notification down to its kind.
func compareMessages(t *testing.T, what string, want []map[string]any, messages []*transcript.Message) {
	t.Helper()
	got := []map[string]any{}
	for i, m := range messages {
		answer := toMap(t, m)
		if m.Type == "system" {
			delete(answer, "subtype")
			delete(answer, "content")
		}
		if ours, ok := answer["origin"].(map[string]any); ok && i < len(want) {
			official, _ := want[i]["origin"].(map[string]any)
			for name := range ours {
				if _, ok := official[name]; !ok {
					delete(ours, name)
				}
			}
		}
		got = append(got, answer)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-official +ours):\n%s", what, diff)
	}
}

// checkLossless reads every file of the tree line by line: each line is an entry,
// and its Raw is the line.
func (c *corpusCase) checkLossless() {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir.Path(), "projects", "*", "*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		var raw strings.Builder
		for e, err := range transcript.File(path).Entries(c.t.Context()) {
			if err != nil {
				c.t.Fatal(err)
			}
			raw.Write(e.Raw())
			raw.WriteByte('\n')
			if u, ok := e.(*transcript.UnknownEntry); ok {
				c.t.Logf("%s:%d has the unknown type %q", path, u.Position().Line, u.Kind())
			}
		}
		if raw.String() != string(text) {
			c.t.Errorf("%s is not the sum of its entries", path)
		}
	}
}

// infoAnswer returns an info in the official SDK's form.
func infoAnswer(t *testing.T, info *transcript.Info) map[string]any {
	t.Helper()
	answer := toMap(t, info)
	for _, ours := range []string{"fileSize", "path", "projectKey", "lastCwd", "programmatic"} {
		delete(answer, ours)
	}
	return answer
}

func toMap(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (c *corpusCase) read(file string) []byte {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.from, file))
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

func (c *corpusCase) decode(file string, dst any) {
	c.t.Helper()
	if err := json.Unmarshal(c.read(file), dst); err != nil {
		c.t.Fatalf("%s: %v", file, err)
	}
}

func (c *corpusCase) readList(file string) []map[string]any {
	c.t.Helper()
	list := []map[string]any{}
	c.decode(file, &list)
	return list
}
