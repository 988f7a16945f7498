package claudeevent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
	"github.com/seed7221b0f9/parley/transcript"
)

// transcripts returns the folder with the trees of session files and the CLI's live output.
// PARLEY_TRANSCRIPT_CORPUS overrides it.
func transcripts() string {
	if dir := os.Getenv("PARLEY_TRANSCRIPT_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "testdata", "transcripts")
}

// TestTranscripts compares a live session with the same session loaded from its
// file: blocks of answers, tool calls, their inputs, results and states, and their order.
func TestTranscripts(t *testing.T) {
	var sessions []*savedSession
	var cases []nodefold.Case
	for _, name := range scenarios(t, transcripts()) {
		dir := filepath.Join(transcripts(), name)
		if _, err := os.Stat(filepath.Join(dir, "stdout.jsonl")); err != nil {
			continue // made by the SDK's functions: no live output exists
		}
		files, err := filepath.Glob(filepath.Join(dir, "projects", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			s := newSavedSession(t, dir, file)
			sessions = append(sessions, s)
			cases = append(cases, nodefold.Case{Name: s.name(), Messages: s.run.lines})
		}
	}
	if len(sessions) == 0 {
		t.Fatal("nothing to compare")
	}
	inNode := nodefold.Fold(t, cases)
	for _, s := range sessions {
		t.Run(s.name(), func(t *testing.T) {
			got := inNode[s.name()]
			if want := canonical(t, s.run.conv); got.State != want {
				t.Errorf("the folds of the file differ: %s (-Go +TypeScript)\n%s", got.Error, diffJSON(t, want, got.State))
			}
			checkRoundTrip(t, s.run)
			compareSession(t, s)
		})
	}
}

// savedSession holds the stages of a session file on its way to a screen.
type savedSession struct {
	dir, id string
	lines   map[string]message.JSON // by uuid
	run     *run
}

func newSavedSession(t *testing.T, dir, file string) *savedSession {
	t.Helper()
	s := &savedSession{dir: dir, id: strings.TrimSuffix(filepath.Base(file), ".jsonl"), lines: entriesByUUID(t, file)}
	s.run = foldFile(t, file)
	return s
}

func (s *savedSession) name() string { return filepath.Base(s.dir) + "/" + s.id[:min(8, len(s.id))] }

// part holds the compared members of a block.
type part struct {
	UUID, Type, Text, Signature string
	Tool                        *toolPart
	Data                        any
}

type toolPart struct {
	ID, Name, Status             string
	Input, Result, ToolUseResult any
}

// parts returns the blocks of answers in each thread, in order.
func parts(conv *event.Conversation) map[string][]part {
	all := map[string][]part{}
	for _, thread := range conv.Threads {
		for _, it := range thread.Items {
			if it.Message == nil || it.Message.Role != "assistant" {
				continue
			}
			for _, b := range it.Message.Blocks {
				p := part{UUID: b.UUID, Type: b.Type, Text: b.Text.String(), Signature: b.Signature.String(), Data: b.Data.Value()}
				if b.Tool != nil {
					p.Tool = &toolPart{b.Tool.ID, b.Tool.Name, b.Tool.Status, b.Tool.Input.Value(), b.Tool.Result.Value(), b.Tool.ToolUseResult.Value()}
					if thread.ParentToolUseID != "" {
						p.Tool.ToolUseResult = nil // files of subagents do not have it
					}
				}
				all[thread.ParentToolUseID] = append(all[thread.ParentToolUseID], p)
			}
		}
	}
	return all
}

func compareSession(t *testing.T, s *savedSession) {
	t.Helper()
	session, lines := s.id, s.lines
	saved, live := parts(s.run.conv), parts(foldLive(t, s.dir, session, lines))
	for parent, liveParts := range live {
		branch := map[string]bool{}
		for _, p := range saved[parent] {
			branch[p.UUID] = true
		}
		var kept []part
		for _, p := range liveParts {
			switch {
			case branch[p.UUID]:
				kept = append(kept, p)
			case parent != "" || lines[p.UUID] == "":
				t.Errorf("%s: the file has no %s %q of %q", session, p.Type, p.UUID, parent)
			}
		}
		want := saved[parent]
		if parent != "" {
			// The live output has less of a subagent than its file.
			want = only(want, liveParts)
		}
		if diff := cmp.Diff(kept, want); diff != "" {
			t.Errorf("%s, thread %q (-live +file):\n%s", session, parent, diff)
		}
	}
	if len(live[""]) == 0 && len(saved[""]) > 0 {
		t.Errorf("%s: the file has %d blocks, none was live", session, len(saved[""]))
	}
}

func only(parts, wanted []part) []part {
	uuids := map[string]bool{}
	for _, p := range wanted {
		uuids[p.UUID] = true
	}
	var kept []part
	for _, p := range parts {
		if uuids[p.UUID] {
			kept = append(kept, p)
		}
	}
	return kept
}

func entriesByUUID(t *testing.T, file string) map[string]message.JSON {
	t.Helper()
	lines := map[string]message.JSON{}
	for _, line := range readLines(t, file) {
		var e struct{ UUID string }
		if json.Unmarshal([]byte(line), &e) == nil && e.UUID != "" {
			lines[e.UUID] = message.JSON(line)
		}
	}
	return lines
}

// foldLive folds the live output of a session. A fork includes the live output of its parent
// session.
func foldLive(t *testing.T, dir, session string, lines map[string]message.JSON) *event.Conversation {
	t.Helper()
	var c claudeevent.Converter
	conv := &event.Conversation{}
	for _, m := range decode(readLines(t, filepath.Join(dir, "stdout.jsonl"))) {
		if h := m.Head(); h.SessionID != session && lines[h.UUID] == "" {
			continue
		}
		for _, ev := range c.Add(m) {
			if cut, ok := ev.(*event.Truncate); ok && cut.All {
				continue // the session's file has the part before the reset
			}
			conv.Apply(ev)
		}
	}
	for _, ev := range c.End(nil) {
		conv.Apply(ev)
	}
	return conv
}

// foldFile folds a session file and those of its subagents in the order of package transcript.
func foldFile(t *testing.T, file string) *run {
	t.Helper()
	var c claudeevent.Converter
	var events []event.Event
	fold := func(messages []*transcript.Message, err error, parent string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			events = append(events, c.Entry(message.JSON(m.Entry.Raw()), parent)...)
		}
	}
	session := transcript.File(file)
	messages, err := session.Conversation(t.Context(), &transcript.ConversationOptions{System: true})
	fold(messages, err, "")
	agents, err := session.Subagents()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		messages, err := a.Conversation(t.Context())
		fold(messages, err, a.ToolUseID)
	}
	return follow(t, events)
}
