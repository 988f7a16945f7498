package chat

import (
	"slices"
	"testing"
)

// A program's line that was read as the answer to a question, which was then withdrawn, is a prompt: it waits for the end
// of the turn that runs, into which the agent could take it.
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
