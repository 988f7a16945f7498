package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/transcript"
)

// repairedMaxLine is the size of an oversized line here.
const repairedMaxLine = 256 << 10

// repairsAtOnce is the number of concurrently resumed sessions.
const repairsAtOnce = 3

// TestRepairedResumes repairs sessions with each kind of fault and resumes them: the
// CLI continues the conversation, and its requests are valid for the API.
func TestRepairedResumes(t *testing.T) {
	each := uint64(2) // a generated one and one of the CLI
	if os.Getenv("PARLEY_SOAK") != "" {
		each = 50
	}
	type job struct {
		fault string
		seed  uint64
	}
	real := recordSession(t)
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range repairsAtOnce {
		workers.Go(func() {
			for j := range jobs {
				// Not t.Parallel: that runs no more at a time than there are processors.
				t.Run(fmt.Sprintf("%s/%d", j.fault, j.seed), func(t *testing.T) { repairAndResume(t, real, j.fault, j.seed) })
			}
		})
	}
	for _, fault := range faultinject.Faults {
		for seed := range each {
			jobs <- job{fault, seed}
		}
	}
	close(jobs)
	workers.Wait()
}

// recorded is a session that the CLI wrote.
type recorded struct {
	id   string
	dir  string
	file []byte
}

// recordSession makes the CLI write a session with all parts that faults affect.
func recordSession(t *testing.T) *recorded {
	t.Helper()
	call := func(word string) claudetest.Block {
		return claudetest.ToolUse("Bash", map[string]any{"command": "echo " + word, "description": word})
	}
	w := newWorld(t,
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Thinking("One at a time."), call("one")}},
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Thinking("Two at once."), call("two"), call("three")}},
		claudetest.Say("That was the first turn."),
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Thinking("Once more."), call("four")}},
		claudetest.Say("That was the second turn."),
	)
	w.opts.AllowedTools = []string{"Bash"}
	c := w.connect()
	id := ""
	for n := range 2 {
		id = collect(c.Query(t.Context(), fmt.Sprintf("prompt %d: go", n+1))).one(t).SessionID
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := transcript.Open(configDir(t, w)).Session(id)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	return &recorded{id, dir, file}
}

// broken returns a session with a fault: every other one comes from the CLI.
func broken(t *testing.T, real *recorded, dir, fault string, seed uint64) *faultinject.Session {
	t.Helper()
	s := faultinject.New(seed, dir)
	if seed%2 == 1 {
		var err error
		if s, err = faultinject.Load(seed, real.id, dir, bytes.ReplaceAll(real.file, []byte(real.dir), []byte(dir))); err != nil {
			t.Fatal(err)
		}
	}
	s.Inject(fault, repairedMaxLine)
	return s
}

func repairAndResume(t *testing.T, real *recorded, fault string, seed uint64) {
	w := newWorld(t, claudetest.Say("Going on."))
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	session := broken(t, real, dir, fault, seed)
	project := filepath.Join(configDir(t, w), "projects", claude.ProjectKey(dir))
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(project, session.ID+".jsonl")
	if err := os.WriteFile(path, session.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := transcript.File(path).Repair(t.Context(), &transcript.RepairOptions{ExamineOptions: transcript.ExamineOptions{MaxLine: repairedMaxLine}})
	if err != nil || done.Session == nil {
		t.Fatalf("%+v, %v; want err == nil and done.Session != nil", done, err)
	}
	w.opts.Resume = done.Session.ID
	result, err := claude.Run(t.Context(), "Go on.", w.opts)
	if err != nil || result.IsError || result.SessionID != done.Session.ID || result.Result != "Going on." {
		t.Fatalf("%+v, %v; want err == nil and not result.IsError and result.SessionID == done.Session.ID and result.Result == \"Going on.\"", result, err)
	}
	checkSent(t, w, done.Session)
	findings, err := done.Session.Examine(t.Context(), &transcript.ExamineOptions{MaxLine: repairedMaxLine})
	if err != nil || len(findings) > 0 {
		t.Errorf("after the resuming: %v, %v", findings, err)
	}
}

// configDir returns the configuration directory of a world.
func configDir(t *testing.T, w *world) string {
	t.Helper()
	dir := w.opts.Env["CLAUDE_CONFIG_DIR"]
	if dir == "" {
		t.Fatal("the world has no configuration directory")
	}
	return dir
}

// sentMessage is a message in a request of the CLI.
type sentMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type sentBlock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// checkSent checks the requests by the rules of the API: the next message has a result
// for every call, every result belongs to a call of the previous message, and no thinking
// is empty. It also checks that the conversation is complete.
func checkSent(t *testing.T, w *world, s *transcript.Session) {
	t.Helper()
	var body struct {
		Messages []sentMessage `json:"messages"`
	}
	for _, r := range w.api.Requests() {
		if !r.Side {
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
		}
	}
	open := map[string]bool{} // calls of the message before
	for i, m := range body.Messages {
		var blocks []sentBlock
		_ = json.Unmarshal(m.Content, &blocks) // else it is text
		calls := map[string]bool{}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_use":
				calls[b.ID] = true
			case b.Type == "tool_result" && !open[b.ToolUseID]:
				t.Errorf("message %d answers %s, which is not open", i, b.ToolUseID)
			case b.Type == "tool_result":
				delete(open, b.ToolUseID)
			case b.Type == "thinking" && b.Thinking == "":
				t.Errorf("message %d has empty thinking", i)
			}
		}
		for id := range open {
			t.Errorf("message %d does not answer %s", i, id)
		}
		open = calls
	}
	messages, err := s.Conversation(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := w.asked(0)
	for _, m := range messages[:len(messages)-2] {
		if text := m.Text(); m.Type == "user" && strings.HasPrefix(text, "prompt ") && !strings.Contains(asked, text[:9]) {
			t.Errorf("%.40q was not sent", text)
		}
	}
}
