package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript"
)

// TestRepair repairs sessions with each kind of fault: the copy has no fault, the session is
// unchanged, and all readable content is kept.
func TestRepair(t *testing.T) {
	short.SkipQuick(t, "repairs many sessions")
	opts := &transcript.RepairOptions{ExamineOptions: transcript.ExamineOptions{MaxLine: oversized}}
	for _, fault := range faultinject.Faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "projects", "-home-dev-project")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(short.Count(3, 10, 25)) {
				s, _ := writeDamaged(t, dir, seed, fault)
				before, err := os.ReadFile(s.Path)
				if err != nil {
					t.Fatal(err)
				}
				done, err := s.Repair(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				if done.Session == nil || len(done.Changes) == 0 || len(done.Left) > 0 {
					t.Fatalf("seed %d: %+v, left %v", seed, done, done.Left)
				}
				checkRepaired(t, s, done, &opts.ExamineOptions)
				if after, _ := os.ReadFile(s.Path); !bytes.Equal(before, after) {
					t.Fatalf("seed %d: the session itself has changed", seed)
				}
			}
		})
	}
}

// checkRepaired examines a repaired session again.
func checkRepaired(t *testing.T, s *transcript.Session, done *transcript.Repair, opts *transcript.ExamineOptions) {
	t.Helper()
	findings, err := done.Session.Examine(t.Context(), opts)
	if err != nil || len(findings) > 0 {
		t.Fatalf("%v, %v is still wrong", err, findings)
	}
	was, err := s.Conversation(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	is, err := done.Session.Conversation(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// A repair restores hidden messages. It removes only lines that cannot be sent: lines with only
	// empty thinking, and results without a call. Where an entry occurs twice, another conversation
	// than the last may be chosen.
	other := slices.ContainsFunc(done.Findings, func(f *transcript.Finding) bool {
		return f.Fault == transcript.DuplicateUUID && f.Severity == transcript.BreaksResume
	})
	if len(is)+1 < len(was) && !other {
		t.Fatalf("%d messages, there were %d", len(is), len(was))
	}
	checkSendable(t, is)
	info, err := done.Session.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := "prompt 1"; !bytes.Contains([]byte(info.CustomTitle), []byte("(repaired)")) || info.SessionID == s.ID {
		t.Fatalf("title %q of %s, want %q (repaired)", info.CustomTitle, info.SessionID, want)
	}
}

// TestRepairIntact finds no fault in intact sessions.
func TestRepairIntact(t *testing.T) {
	dir := t.TempDir()
	s, _ := writeDamaged(t, dir, 1, "")
	done, err := s.Repair(t.Context(), nil)
	if err != nil || done.Session != nil || len(done.Findings)+len(done.Changes) > 0 {
		t.Fatalf("%+v, %v; want err == nil and done.Session == nil and len(done.Findings)+len(done.Changes) <= 0", done, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("there are %v", files)
	}
}

// TestRepairDryRun reports the changes without making them.
func TestRepairDryRun(t *testing.T) {
	dir := t.TempDir()
	s, injury := writeDamaged(t, dir, 3, "missing-parent")
	done, err := s.Repair(t.Context(), &transcript.RepairOptions{DryRun: true})
	if err != nil || done.Session != nil || len(done.Changes) == 0 {
		t.Fatalf("%+v, %v; want err == nil and done.Session == nil and len(done.Changes) != 0", done, err)
	}
	c := done.Changes[0]
	members := c.Members()
	if c.Line != injury.Line || c.Action != "changed" || len(members) != 1 || members[0].Name != "parentUuid" {
		t.Errorf("line %d of %+v: %+v", injury.Line, c, members)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("there are %v", files)
	}
}

// TestRepairGlued keeps a record that was appended to a torn line.
func TestRepairGlued(t *testing.T) {
	dir := t.TempDir()
	s, _ := writeDamaged(t, dir, 5, "torn-tail")
	f, err := os.OpenFile(s.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"tag","tag":"glued","sessionId":"` + s.ID + `"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	done, err := s.Repair(t.Context(), nil)
	if err != nil || done.Session == nil {
		t.Fatalf("%+v, %v; want err == nil and done.Session != nil", done, err)
	}
	info, err := done.Session.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("glued", info.Tag); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
}

// TestRepair_otherFiles copies the other files of a session, except the mark that it is archived and
// the history of files, which stay with the original.
func TestRepair_otherFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "projects", "-home-dev-project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, _ := writeDamaged(t, dir, 3, "missing-parent")
	const history = `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}` + "\n"
	f, err := os.OpenFile(s.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(history)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	side := strings.TrimSuffix(s.Path, ".jsonl")
	for name, text := range map[string]string{"archived.json": `{"archived":true}`, "tool-results/x.txt": "output"} {
		path := filepath.Join(side, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	done, err := s.Repair(t.Context(), nil)
	if err != nil || done.Session == nil {
		t.Fatalf("%+v, %v; want err == nil and done.Session != nil", done, err)
	}
	if diff := cmp.Diff(map[string]string{"tool-results/x.txt": "output"}, fileTree(t, strings.TrimSuffix(done.Session.Path, ".jsonl"))); diff != "" {
		t.Errorf("beside the copy (-want +got):\n%s", diff)
	}
	if text, err := os.ReadFile(done.Session.Path); err != nil || strings.Contains(string(text), "file-history") {
		t.Errorf("the copy has the history of files, %v", err)
	}
}

// checkSendable checks a conversation by the rules of the API: the calls of an answer are answered
// first, and only calls are answered.
func checkSendable(t *testing.T, messages []*transcript.Message) {
	t.Helper()
	open := map[string]bool{}
	for _, j := range transcript.Join(messages) {
		results := 0
		for _, b := range j.Blocks() {
			switch b := b.(type) {
			case *message.ToolUse:
				open[b.ID] = true
			case *message.ToolResult:
				if results++; !open[b.ToolUseID] {
					t.Fatalf("%s answers %s, which is not open", j.UUID, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			case *message.Thinking:
				if b.Thinking == "" {
					t.Fatalf("%s has empty thinking", j.UUID)
				}
			}
		}
		if j.Type == "user" && results == 0 && len(open) > 0 {
			t.Fatalf("%s comes before the answers to %v", j.UUID, open)
		}
	}
	if len(open) > 0 {
		t.Fatalf("%v are not answered", open)
	}
}

// TestRepairManyFaults damages the sessions of the corpus in many ways at once. The repaired sessions
// have no fault, and a second repair finds no fault.
func TestRepairAnything(t *testing.T) {
	short.SkipQuick(t, "repairs many sessions")
	sources := mainFiles(t)
	dir := filepath.Join(t.TempDir(), "projects", "-home-dev-project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 8))
	for i := range damaged() {
		text, err := os.ReadFile(sources[rng.IntN(len(sources))])
		if err != nil {
			t.Fatal(err)
		}
		d := &damage{rng: rng, lines: bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))}
		for range 1 + rng.IntN(8) {
			d.once()
		}
		path := filepath.Join(dir, fmt.Sprintf("00000000-0000-4000-8000-%012d.jsonl", i))
		if err := os.WriteFile(path, d.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		done, err := transcript.File(path).Repair(t.Context(), nil)
		if err != nil || len(done.Left) > 0 {
			t.Fatalf("%d: %v: %v, left %v", i, d.done, err, done.Left)
		}
		if done.Session == nil {
			continue
		}
		again, err := done.Session.Repair(t.Context(), nil)
		if err != nil || len(again.Findings) > 0 {
			t.Fatalf("%d: %v: %v, %v; want err == nil and len(again.Findings) <= 0", i, d.done, err, again.Findings)
		}
	}
}
