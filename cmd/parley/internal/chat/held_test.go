package chat

import (
	"slices"
	"testing"
)

// TestHeld: lines that a program sends during a turn or a command are held until it has ended, because the agent could
// merge them into the turn. That includes a line that was meant for a withdrawn question.
func TestHeld(t *testing.T) {
	for name, c := range map[string]*loop{
		"a turn runs":    {o: &Options{}, prompts: prompts{list: []*prompt{{text: "first"}}}},
		"a command runs": {o: &Options{}, doing: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.ui = &lineUI{c: c}
			c.submit("second")
			c.submit("third")
			if want := []string{"second", "third"}; !slices.Equal(c.held, want) {
				t.Errorf("held are %q, not %q", c.held, want)
			}
		})
	}
}
