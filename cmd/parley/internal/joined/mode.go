package joined

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// DefaultMode is the default ceiling of a machine: agents ask for permission.
const DefaultMode = string(message.ModeDefault)

const bypassMode = string(message.ModeBypassPermissions)

// ranks orders the permission modes by the number of actions that need no permission. The mode plan cannot be a
// ceiling, because the answer to a plan ends the mode.
var ranks = map[string]int{
	string(message.ModePlan): 0, string(message.ModeDontAsk): 0, DefaultMode: 1,
	string(message.ModeAcceptEdits): 2, string(message.ModeAuto): 3, bypassMode: 4,
}

// MaxModes are the modes that can be a ceiling, the lowest first.
var MaxModes = []string{DefaultMode, string(message.ModeAcceptEdits), string(message.ModeAuto), bypassMode}

// ceiling is the highest permission mode of a machine.
type ceiling struct{ mode string }

func newCeiling(mode string) (ceiling, error) {
	if !slices.Contains(MaxModes, mode) {
		return ceiling{}, fmt.Errorf("the highest permission mode is one of %s, not %q", strings.Join(MaxModes, ", "), mode)
	}
	return ceiling{mode}, nil
}

// allows reports whether a mode is known and not above the ceiling.
func (c ceiling) allows(mode string) bool {
	rank, known := ranks[mode]
	return known && rank <= ranks[c.mode]
}

// check returns an error if allows returns false.
func (c ceiling) check(mode string) error {
	if !c.allows(mode) {
		return fmt.Errorf("permission mode %q is above %s, the highest of this machine", mode, c.mode)
	}
	return nil
}
