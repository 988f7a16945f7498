package claudestore_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) { e2e.VerifyMain(m) }

// official is the in-memory store of the official TypeScript SDK, in a separate process.
type official struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func startOfficial(t *testing.T) *official {
	t.Helper()
	sdk := filepath.Join(filepath.Dir(e2e.CLI(t)), "..", "claude-agent-sdk", "sdk.mjs")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(sdk); missing != nil || err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test needs the official SDK beside the agent CLI, and node")
		}
		t.Skip("this test needs the official SDK beside the agent CLI, and node: run make test")
	}
	cmd := exec.Command(node, filepath.Join("testdata", "official.mjs"))
	cmd.Env = []string{"OFFICIAL_SDK=" + sdk, "HOME=" + t.TempDir(), "CLAUDE_CONFIG_DIR=" + t.TempDir()}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &official{t: t, in: in, out: bufio.NewReader(out)}
}

// call is one call of a store.
type call struct {
	Op      string            `json:"op"`
	Key     wireKey           `json:"key"`
	Entries []json.RawMessage `json:"entries,omitempty"`
}

type wireKey struct {
	Project string `json:"projectKey"`
	Session string `json:"sessionId"`
	Subpath string `json:"subpath,omitempty"`
}

func (o *official) do(c call) (answer any) {
	o.t.Helper()
	if c.Op == "append" && c.Entries == nil {
		c.Entries = []json.RawMessage{}
	}
	line, err := json.Marshal(struct {
		call
		Entries []json.RawMessage `json:"entries"`
	}{c, c.Entries})
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := o.in.Write(append(line, '\n')); err != nil {
		o.t.Fatal(err)
	}
	text, err := o.out.ReadBytes('\n')
	if err != nil {
		o.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		o.t.Fatal(err)
	}
	return answer
}

// callStore makes the same call to this package's store and returns the answer in the same
// form.
func callStore(t *testing.T, s *claudestore.Memory, c call) (answer any) {
	t.Helper()
	key := claude.SessionKey{ProjectKey: c.Key.Project, SessionID: c.Key.Session, Subpath: c.Key.Subpath}
	var v any
	var err error
	switch c.Op {
	case "append":
		err = s.Append(t.Context(), key, c.Entries)
	case "load":
		var list []json.RawMessage
		list, err = s.Load(t.Context(), key)
		v = list
	case "subkeys":
		v, err = s.ListSubkeys(t.Context(), key)
		v = append([]string{}, v.([]string)...)
	case "delete":
		err = s.Delete(t.Context(), key)
	case "sessions", "newest":
		v, err = sessions(t, s, c)
	case "summaries":
		var list []claude.StoredSummary
		list, err = s.ListSummaries(t.Context(), key.ProjectKey)
		all := map[string]json.RawMessage{}
		for _, e := range list {
			all[e.SessionID] = e.Data
		}
		v = all
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func sessions(t *testing.T, s *claudestore.Memory, c call) ([]string, error) {
	list, err := s.ListSessions(t.Context(), c.Key.Project)
	slices.SortFunc(list, func(a, b claude.StoredSession) int { return b.ModTime.Compare(a.ModTime) })
	ids := []string{}
	for _, e := range list {
		ids = append(ids, e.SessionID)
	}
	if c.Op == "sessions" {
		slices.Sort(ids)
	}
	return ids, err
}

// summaryEntries are entries of all kinds that affect a summary.
var summaryEntries = []string{
	`{"type":"user","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/one","message":{"content":"Hello\n there "}}`,
	`{"type":"user","timestamp":"2026-01-02T03:04:05+02:00","isSidechain":true,"message":{"content":[{"type":"text","text":" "},{"type":"text","text":"Blocks"}]}}`,
	`{"type":"user","isMeta":true,"timestamp":"no time","message":{"content":"meta"}}`,
	`{"type":"user","isCompactSummary":true,"message":{"content":"summary"}}`,
	`{"type":"user","message":{"content":"<command-name>/clear</command-name> <x>"}}`,
	`{"type":"user","message":{"content":"<command-name></command-name>"}}`,
	`{"type":"user","message":{"content":"<bash-input> ls\n-l </bash-input>"}}`,
	`{"type":"user","message":{"content":"<local-command-stdout>x</local-command-stdout>"}}`,
	`{"type":"user","message":{"content":"[Request interrupted by user for tool use]"}}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","content":"x"},{"type":"text","text":"no"}]}}`,
	`{"type":"user","message":{"content":"` + strings.Repeat("long 😀 ", 60) + `"}}`,
	`{"type":"user","message":{"content":"` + strings.Repeat("x", 199) + `😀y"}}`,
	`{"type":"user","message":null}`, `{"type":"user","message":{"content":7}}`, `{"type":"user"}`,
	`{"type":"assistant","cwd":"","gitBranch":"main","message":{"content":"no prompt"}}`,
	`{"type":"custom-title","customTitle":"A title"}`, `{"type":"custom-title","customTitle":""}`, `{"type":"ai-title","aiTitle":"By a model"}`,
	`{"type":"summary","summary":"A summary"}`, `{"type":"last-prompt","lastPrompt":"the last"}`, `{"type":"last-prompt","lastPrompt":5}`,
	`{"type":"tag","tag":"blue"}`, `{"type":"tag","tag":""}`, `{"type":"tag"}`,
	`{"type":"relocated","relocatedCwd":"/two"}`, `{"type":"relocated","relocatedCwd":""}`,
}

func randomEntries(r *rand.Rand) (entries []json.RawMessage) {
	for range 1 + r.IntN(3) {
		entries = append(entries, json.RawMessage(summaryEntries[r.IntN(len(summaryEntries))]))
	}
	return entries
}

// Random calls give the same answers. The differences are tested below.
func TestOfficial(t *testing.T) {
	o := startOfficial(t)
	ops := []string{"append", "append", "append", "append", "load", "sessions", "newest", "subkeys", "summaries", "delete"}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		store := claudestore.NewMemory()
		o.do(call{Op: "reset"})
		var done []string
		for range 60 {
			c := call{Op: ops[r.IntN(len(ops))], Key: wireKey{Project: fmt.Sprintf("p%d", r.IntN(2)), Session: fmt.Sprintf("s%d", r.IntN(3))}}
			if r.IntN(3) == 0 && c.Op != "subkeys" {
				c.Key.Subpath = fmt.Sprintf("subagents/agent-%d", r.IntN(12))
			}
			if c.Op == "append" {
				c.Entries = randomEntries(r)
			}
			line, _ := json.Marshal(c)
			done = append(done, string(line))
			if diff := cmp.Diff(o.do(c), callStore(t, store, c)); diff != "" {
				t.Fatalf("seed %d, official -, ours +:\n%s\nbehind\n%s", seed, diff, strings.Join(done, "\n"))
			}
		}
	}
}

// The official in-memory store violates its contract in some cases; this package's store
// does not.
func TestOfficialDiffers(t *testing.T) {
	o := startOfficial(t)
	key := wireKey{Project: "p", Session: "s"}
	same := []json.RawMessage{json.RawMessage(`{"uuid":"1"}`), json.RawMessage(`{"uuid":"1"}`)}
	for _, tt := range []struct {
		name           string
		before         call
		ask            string
		official, ours string
	}{
		{"nothing appended makes no session", call{Op: "append", Key: key}, "load", `[]`, `null`},
		{"nor one that is listed", call{Op: "append", Key: key}, "sessions", `["s"]`, `[]`},
		{"a uuid is there once", call{Op: "append", Key: key, Entries: same}, "load", `[{"uuid":"1"},{"uuid":"1"}]`, `[{"uuid":"1"}]`},
	} {
		store := claudestore.NewMemory()
		o.do(call{Op: "reset"})
		o.do(tt.before)
		callStore(t, store, tt.before)
		ask := call{Op: tt.ask, Key: key}
		theirs, _ := json.Marshal(o.do(ask))
		mine, _ := json.Marshal(callStore(t, store, ask))
		if string(theirs) != tt.official || string(mine) != tt.ours {
			t.Errorf("%s: official %s, ours %s", tt.name, theirs, mine)
		}
	}
}
