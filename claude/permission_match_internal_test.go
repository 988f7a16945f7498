package claude

import (
	"fmt"
	"testing"

	"github.com/seed7221b0f9/parley/claude/hook"
)

// matches predicts which hooks the CLI calls: the matcher is a list of names, separated by bars or
// commas, or a regular expression that matches anywhere in a name; former names of a tool count too.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		matcher, tool string
		want          bool
	}{
		{"", "Bash", true}, {"*", "Bash", true}, {"Bash", "Bash", true}, {"Bash", "BashOutput", false}, {"Write|Edit", "Edit", true}, {"Write|Edit", "Bash", false},
		{"Write,Edit", "Edit", true}, {"Bash, Write", "Write", true}, {"Bash | Write", "Write", true}, {"Bash, Write", "Wri", false},
		{"Edit$", "MultiEdit", true}, {"^Edit", "MultiEdit", false}, {"mcp__.*", "mcp__a__b", true}, {"__write", "mcp__a__write", false}, {".*__write", "mcp__a__write", true},
		{"mcp__a", "mcp__a__b", false}, {"Ba.*", "Bash", true}, {"Task", "Agent", true}, {"Agent", "Task", true}, {"^Task$", "Agent", true}, {"^Kill.*", "TaskStop", true},
		{"(?!Read).*", "Bash", true}, {"[", "Bash", true}, {" ", "Bash", false},
	} {
		if got := matches(tt.matcher, tt.tool); got != tt.want {
			t.Errorf("%q matches %s: %v", tt.matcher, tt.tool, got)
		}
	}
}

// The state of a call is removed when the call is over, and never before, for any number of calls.
func TestPermissionHooks_many(t *testing.T) {
	var h permissionHooks
	h.update("slow", func(c *permissionCall) { c.begun++ })
	h.update("asked", func(c *permissionCall) { c.asked++; c.waiting++ })
	for i := range 10 * maxPermissionCalls {
		h.update(fmt.Sprint("quick ", i), func(c *permissionCall) { c.begun++; c.ended++ })
	}
	if n := len(h.calls); n > maxPermissionCalls || n != len(h.order) {
		t.Errorf("%d calls are remembered, %d in order", n, len(h.order))
	}
	h.update("slow", func(c *permissionCall) {
		c.ended++
		c.deny = &hook.PermissionRequestDecision{Behavior: hook.DecisionDeny}
	})
	if c := h.update("slow", nil); c.begun != 1 || c.deny == nil {
		t.Errorf("of the slow one is left: %+v", c)
	}
	if c := h.update("asked", nil); c.waiting != 1 {
		t.Errorf("of the one that waits is left: %+v", c)
	}
}
