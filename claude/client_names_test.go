package claude_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"unicode"

	"github.com/seed7221b0f9/parley/claude"
)

// verbs are the allowed first words of the command methods of a Client.
var verbs = []string{"Answer", "Apply", "Ask", "Call", "Cancel", "Close", "Control", "Disable", "Enable", "End", "Export", "Fetch", "Generate",
	"Interrupt", "List", "Measure", "Move", "Pause", "Preview", "Query", "Rate", "Read", "Reconnect", "Register", "Reload", "Rename",
	"Resume", "Rewind", "Seed", "Send", "Set", "Stop", "Suggest", "Update", "Wait"}

// accessors are the methods of a Client that send no request to the CLI.
var accessors = []string{"Lines", "Messages", "ServerInfo", "SessionID", "Tasks", "View", "Visibility"}

// The name of a command method begins with a verb, and no parameter is a bool, which
// would be unclear at the call.
func TestClientCommandsAreVerbs(t *testing.T) {
	typ := reflect.TypeFor[*claude.Client]()
	used := map[string]bool{}
	for m := range typ.Methods() {
		word := firstWord(m.Name)
		used[word] = true
		used[m.Name] = true
		if !slices.Contains(verbs, word) && !slices.Contains(accessors, m.Name) {
			t.Errorf("%s is neither a verb nor an accessor", m.Name)
		}
		for in := range m.Type.Ins() {
			if in.Kind() == reflect.Bool {
				t.Errorf("%s has an argument that is a bool", m.Name)
			}
			if in == reflect.TypeFor[context.Context]() && slices.Contains(accessors, m.Name) && m.Name != "Messages" && m.Name != "Lines" {
				t.Errorf("%s takes a context and is called an accessor", m.Name)
			}
		}
	}
	for _, name := range slices.Concat(verbs, accessors) {
		if !used[name] {
			t.Errorf("no method begins with %s any more", name)
		}
	}
}

// firstWord returns the first word of a name in mixed caps.
func firstWord(name string) string {
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			return name[:i]
		}
	}
	return name
}
