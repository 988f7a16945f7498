package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/transcript"
)

const (
	oldID = "01a1de9a-3164-7f42-a449-0a13e079865e"
	newID = "02a1de9a-3164-7f42-a449-0a13e079865e"
)

// keepFile writes a file with a modification time.
func keepFile(t *testing.T, changed time.Time, text string, name ...string) {
	t.Helper()
	path := filepath.Join(name...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
}

// Two sessions of each agent: "find the bug", of January 1, and "write the manual", of January 2.
var kept = map[string]func(t *testing.T) *source{
	Claude: func(t *testing.T) *source {
		dir := t.TempDir()
		for day, id := range []string{oldID, newID} {
			prompt := []string{"find the bug", "write the manual"}[day]
			at := time.Date(2026, 1, 1+day, 12, 0, 0, 0, time.UTC)
			head := `"isSidechain":false,"cwd":"/srv/p","sessionId":"` + id + `","version":"2.1.0","gitBranch":"main","timestamp":"` + at.Format(time.RFC3339) + `"}` + "\n"
			keepFile(t, at, `{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,"message":{"role":"user","content":"`+prompt+`"},`+head+
				`{"type":"assistant","uuid":"22222222-2222-4222-8222-222222222222","parentUuid":"11111111-1111-4111-8111-111111111111","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I did `+prompt+`."}]},`+head,
				dir, "projects", "-srv-p", id+".jsonl")
		}
		return claudeSource(transcript.Open(dir))
	},
	Codex: func(t *testing.T) *source {
		home := t.TempDir()
		for day, id := range []string{oldID, newID} {
			prompt := []string{"find the bug", "write the manual"}[day]
			at := time.Date(2026, 1, 1+day, 12, 0, 0, 0, time.UTC)
			line := func(typ, payload string) string {
				return `{"timestamp":"` + at.Format(time.RFC3339) + `","type":"` + typ + `","payload":` + payload + "}\n"
			}
			keepFile(t, at, line("session_meta", `{"id":"`+id+`","cwd":"/srv/p","timestamp":"`+at.Format(time.RFC3339)+`","cli_version":"0.166.0","source":"cli"}`)+
				line("event_msg", `{"type":"task_started","turn_id":"t1"}`)+
				line("event_msg", `{"type":"user_message","message":"`+prompt+`"}`)+
				line("event_msg", `{"type":"agent_message","message":"I did `+prompt+`."}`)+
				line("event_msg", `{"type":"task_complete","turn_id":"t1","last_agent_message":"I did `+prompt+`."}`),
				home, "sessions", "2026", "01", "01", "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+id+".jsonl")
		}
		return codexSource(home)
	},
}

// found returns the ids that Find yields.
func found(t *testing.T, s *source, f agent.HistoryFilter) (ids []string) {
	t.Helper()
	for row, err := range s.Find(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, row.ID)
	}
	return ids
}

// The history of every agent supports all commands.
func TestBrowser(t *testing.T) {
	for name, keep := range kept {
		t.Run(name, func(t *testing.T) {
			s := keep(t)
			if s.name != name {
				t.Errorf("the name is %q", s.name)
			}
			between := time.Date(2026, 1, 1, 18, 0, 0, 0, time.UTC)
			for _, tt := range []struct {
				filter agent.HistoryFilter
				want   []string
			}{
				{agent.HistoryFilter{}, []string{newID, oldID}},
				{agent.HistoryFilter{Since: between}, []string{newID}},
				{agent.HistoryFilter{Until: between}, []string{oldID}},
				{agent.HistoryFilter{Dir: "/srv/p"}, []string{newID, oldID}},
				{agent.HistoryFilter{Dir: "/srv/q"}, nil},
			} {
				if got := found(t, s, tt.filter); !slices.Equal(got, tt.want) {
					t.Errorf("%+v finds %q, want %q", tt.filter, got, tt.want)
				}
			}
			t.Run("locate", func(t *testing.T) { locates(t, s) })
			t.Run("show", func(t *testing.T) { shows(t, s) })
			t.Run("grep", func(t *testing.T) { greps(t, s) })
			t.Run("render", func(t *testing.T) { renders(t, s) })
		})
	}
}

func locates(t *testing.T, s *source) {
	if id, err := s.Locate(t.Context(), oldID); err != nil || id != oldID {
		t.Errorf("the session is %q, %v", id, err)
	}
	if _, err := s.Locate(t.Context(), "03a1de9a-3164-7f42-a449-0a13e079865e"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a session that does not exist: %v", err)
	}
	w := &sessionWork{ctx: t.Context(), sources: []*source{s}}
	for arg, want := range map[string]string{newID: newID, newID[:6]: newID, "write the manual": newID, "FFFF": "", "0": ""} {
		if _, id, err := w.find(arg); id != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", arg, id, err)
		}
	}
}

func shows(t *testing.T, s *source) {
	text, err := s.Show(t.Context(), oldID, agent.HistoryShow{})
	if err != nil || len(text.Parts) != 2 {
		t.Fatalf("the conversation is %+v, %v", text.Parts, err)
	}
	if last, err := s.Show(t.Context(), oldID, agent.HistoryShow{Last: 1}); err != nil || len(last.Parts) != 1 {
		t.Errorf("the last message is %+v, %v", last.Parts, err)
	}
	if wire, err := s.Show(t.Context(), oldID, agent.HistoryShow{JSON: true}); err != nil || wire.Wire == nil {
		t.Errorf("as JSON it is %v, %v", wire.Wire, err)
	}
}

func greps(t *testing.T, s *source) {
	for text, want := range map[string]int{"I did find the BUG": 1, "the": 4, "nowhere": 0} {
		n := 0
		for m, err := range s.Grep(t.Context(), agent.HistoryGrep{Text: text}) {
			if err != nil {
				t.Fatal(err)
			}
			if m.Row.ID != oldID && m.Row.ID != newID {
				t.Errorf("a place in %q", m.Row.ID)
			}
			n++
		}
		if n != want {
			t.Errorf("%q is found %d times, want %d", text, n, want)
		}
	}
}

func renders(t *testing.T, s *source) {
	var b strings.Builder
	if err := s.Render(t.Context(), &b, oldID, agent.HistoryRender{Format: "markdown"}); err != nil || !strings.Contains(b.String(), "I did find the bug.") {
		t.Errorf("the export is %q, %v", b.String(), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Render(ended, &b, oldID, agent.HistoryRender{Format: "markdown"}); err == nil {
		t.Error("an export is made after the end of its context")
	}
}
