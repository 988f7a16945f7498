package chat

import (
	"slices"
	"testing"
)

// If a question is withdrawn after a program's line was read as its answer, the line is a prompt: it waits for the end of
// the running turn, because the agent could merge it into that turn.
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
