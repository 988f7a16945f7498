package chat

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Aliases of a command are known and completed, also after the agent has sent a new list, but not
// listed.
func TestCommands_aliases(t *testing.T) {
	c, _, _ := testLoop(t)
	c.relearn(`[{"name":"clear","aliases":["reset","new"]},{"name":"context"}]`)
	if got := c.help(); !strings.Contains(got, "Commands of the agent: /clear /context") || strings.Contains(got, "/reset") {
		t.Errorf("/help lists %q", got)
	}
	if c.unknownCommand("/reset") || !c.unknownCommand("/zzzzzz") {
		t.Error("/reset is not known, or /zzzzzz is")
	}
	if got := c.completions("/re"); !slices.Contains(got, "/reset") {
		t.Errorf("/re is completed to %q", got)
	}
}

// A form of the agent itself has no server name.
func TestAsks(t *testing.T) {
	for name, want := range map[string]string{"": "The agent asks: Who?", "demo": "demo asks: Who?"} {
		if got := questionLine(&event.QuestionRequest{MCPServerName: name, Message: "Who?"}); got != want {
			t.Errorf("a form of %q begins with %q", name, got)
		}
	}
}

// The line of a result without a duration omits it.
func TestTotals_noDuration(t *testing.T) {
	var with, without totals
	with.add(&event.ResultMessage{NumTurns: 1, DurationMS: 1500})
	without.add(&event.ResultMessage{NumTurns: 1})
	if got := with.String(); !strings.HasPrefix(got, "1 turn · 1.5s · 0 in") {
		t.Errorf("with a duration: %q", got)
	}
	if got := without.String(); !strings.HasPrefix(got, "1 turn · 0 in") {
		t.Errorf("without a duration: %q", got)
	}
}
