package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestServe_killedClaude is like TestServe_killed with the real CLI, one session at a time. Its
// requests pass through the key proxy.
func TestServe_killedClaude(t *testing.T) {
	turns := short.Count(1, 2, 20)
	var replies []claudetest.Reply
	for range turns {
		replies = append(replies, claudetest.Use("Bash", map[string]any{"command": "echo kept >> kept", "description": "Add a line"}), claudetest.Say("It is written."))
	}
	checkKilledReal(wrapWorld(newKeyHostWorld(t, "sk-ant-key-of-the-killed-server", claudetest.Replies(replies...)), testSeed(t)), turns, short.Count(1, 2, 40))
}

// TestServe_killedCodex is like TestServe_killed with the real codex.
func TestServe_killedCodex(t *testing.T) {
	turns := short.Count(1, 1, 12)
	var replies []codextest.Reply
	for n := range turns {
		replies = append(replies, codextest.Calls(codextest.EscalatedCommand(fmt.Sprint("call_", n+1), "echo kept >> kept", "May I?")), codextest.Say("It is written."))
	}
	checkKilledReal(wrapWorld(newCodexHostWorld(t, false, replies...), testSeed(t)), turns, short.Count(1, 1, 20))
}

// checkKilledReal runs turns of a real agent, each with a tool that waits for a person, while the server is killed.
func checkKilledReal(w *killWorld, turns, points int) {
	t := w.t
	t.Helper()
	before := w.agents()
	kills := w.runKilled(1, turns, points, 4, w.killAt)
	t.Logf("%d kills", kills)
	if kills < (points+1)/2 {
		t.Errorf("the server was killed %d times, want about %d", kills, points)
	}
	s := w.sessions[0]
	w.checkSnapshot(s)
	s.close()
	if n := strings.Count(conversationText(&s.view.Conversation), "It is written."); n != turns {
		t.Errorf("the answer is there %d times, want %d:\n%s", n, turns, conversationText(&s.view.Conversation))
	}
	text, err := os.ReadFile(filepath.Join(w.project, "kept"))
	if n := strings.Count(string(text), "kept\n"); n != turns || err != nil {
		t.Errorf("the tool has written %q, error %v, want %d lines", text, err, turns)
	}
	if after := w.agents(); len(before) != 0 || len(after) != 1 || after[0].Exit != nil {
		t.Errorf("the agents are %+v before and %+v after the turns, want none and one", before, after)
	}
	w.end(syscall.SIGINT)
}
