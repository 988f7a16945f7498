package ui_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/ui"
)

// transcripts is where the trees of session files are, with what the CLI wrote to its
// output meanwhile. PARLEY_TRANSCRIPT_CORPUS names other ones of the same form.
func transcripts() string {
	if dir := os.Getenv("PARLEY_TRANSCRIPT_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "testdata", "transcripts")
}

// TestTranscripts compares a session that was live with the same one from its file:
// blocks of answers, tool calls, their inputs, results and states, and their order.
func TestTranscripts(t *testing.T) {
	compared := 0
	for _, name := range scenarios(t, transcripts()) {
		dir := filepath.Join(transcripts(), name)
		if _, err := os.Stat(filepath.Join(dir, "stdout.jsonl")); err != nil {
			continue // made by the SDK's functions: nothing was live
		}
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, "projects", "*", "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				compareSession(t, dir, file)
				compared++
			}
		})
	}
	if compared == 0 {
		t.Fatal("nothing was compared")
	}
}

// part is what is compared of a block.
type part struct {
	UUID, Type, Text, Signature string
	Tool                        *toolPart
	Data                        any
}

type toolPart struct {
	ID, Name, Status             string
	Input, Result, ToolUseResult any
}

// parts are the blocks of answers in each thread, in order.
func parts(conv *ui.Conversation) map[string][]part {
	all := map[string][]part{}
	for _, thread := range conv.Threads {
		for _, it := range thread.Items {
			if it.Message == nil || it.Message.Role != "assistant" {
				continue
			}
			for _, b := range it.Message.Blocks {
				p := part{UUID: b.UUID, Type: b.Type, Text: b.Text.String(), Signature: b.Signature, Data: b.Data.Value()}
				if b.Tool != nil {
					p.Tool = &toolPart{b.Tool.ID, b.Tool.Name, b.Tool.Status, b.Tool.Input.Value(), b.Tool.Result.Value(), b.Tool.ToolUseResult.Value()}
					if thread.ParentToolUseID != "" {
						p.Tool.ToolUseResult = nil // files of subagents have none
					}
				}
				all[thread.ParentToolUseID] = append(all[thread.ParentToolUseID], p)
			}
		}
	}
	return all
}

func compareSession(t *testing.T, dir, file string) {
	t.Helper()
	session := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	lines := entriesByUUID(t, file)
	saved := parts(foldFile(t, dir, file, lines))
	live := parts(foldLive(t, dir, session, lines))
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
			// The output has less of a subagent than its file.
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

func entriesByUUID(t *testing.T, file string) map[string]claude.JSON {
	t.Helper()
	lines := map[string]claude.JSON{}
	for _, line := range readLines(t, file) {
		var e struct{ UUID string }
		if json.Unmarshal([]byte(line), &e) == nil && e.UUID != "" {
			lines[e.UUID] = claude.JSON(line)
		}
	}
	return lines
}

// foldLive folds what the CLI wrote in a session. What a fork took over was live in
// the session that it was forked from.
func foldLive(t *testing.T, dir, session string, lines map[string]claude.JSON) *ui.Conversation {
	t.Helper()
	var c ui.Converter
	conv := &ui.Conversation{}
	for _, m := range decode(readLines(t, filepath.Join(dir, "stdout.jsonl"))) {
		if h := m.Head(); h.SessionID != session && lines[h.UUID] == "" {
			continue
		}
		for _, ev := range c.Add(m) {
			conv.Apply(ev)
		}
	}
	for _, ev := range c.End(nil) {
		conv.Apply(ev)
	}
	return conv
}

// foldFile folds a session file and those of its subagents. The order is that of the
// official SDK's answer beside the file.
func foldFile(t *testing.T, dir, file string, lines map[string]claude.JSON) *ui.Conversation {
	t.Helper()
	session := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	var c ui.Converter
	conv := &ui.Conversation{}
	fold := func(order string, lines map[string]claude.JSON, parent string) {
		var messages []struct{ UUID string }
		if err := json.Unmarshal(mustRead(t, filepath.Join(dir, order)), &messages); err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			for _, ev := range c.Entry(lines[m.UUID], parent) {
				conv.Apply(ev)
			}
		}
	}
	fold("expected."+session+".messages.system.json", lines, "")
	agents, err := filepath.Glob(filepath.Join(strings.TrimSuffix(file, ".jsonl"), "subagents", "agent-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range agents {
		base := strings.TrimSuffix(agent, ".jsonl")
		var meta struct{ ToolUseID string }
		if err := json.Unmarshal(mustRead(t, base+".meta.json"), &meta); err != nil {
			t.Fatal(err)
		}
		id := strings.TrimPrefix(filepath.Base(base), "agent-")
		fold("expected."+session+".subagent."+id+".json", entriesByUUID(t, agent), meta.ToolUseID)
	}
	return conv
}
