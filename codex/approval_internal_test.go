package codex

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestDecision checks the wire form of each decision: a grant for once does not apply to the
// session, and an empty grant is a refusal.
func TestDecision(t *testing.T) {
	const asked, own = item.JSON(`{"network":true}`), item.JSON(`{"fileSystem":{}}`)
	for name, c := range map[string]struct {
		d                              Decision
		command, patch, granted, scope string
	}{
		"nothing":                {Decision{}, `"decline"`, `"decline"`, `{}`, "turn"},
		"Accept":                 {Accept, `"accept"`, `"accept"`, string(asked), "turn"},
		"AcceptForSession":       {AcceptForSession, `"acceptForSession"`, `"acceptForSession"`, string(asked), "session"},
		"AcceptAlways":           {AcceptAlways, `"decline"`, `"decline"`, `{}`, "turn"},
		"Decline":                {Decline, `"decline"`, `"decline"`, `{}`, "turn"},
		"Cancel":                 {Cancel, `"cancel"`, `"cancel"`, `{}`, "turn"},
		"Grant":                  {Grant(own, false), `"decline"`, `"decline"`, string(own), "turn"},
		"Grant for the session":  {Grant(own, true), `"decline"`, `"decline"`, string(own), "session"},
		"Grant of nothing":       {Grant("", false), `"decline"`, `"decline"`, `{}`, "turn"},
		"Grant of nothing, ever": {Grant("", true), `"decline"`, `"decline"`, `{}`, "session"},
	} {
		text := func(v any) string {
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		if got, want := text(c.d.command()), `{"decision":`+c.command+`}`; got != want {
			t.Errorf("%s of a command is %s, want %s", name, got, want)
		}
		if got, want := text(c.d.fileChange()), `{"decision":`+c.patch+`}`; got != want {
			t.Errorf("%s of a patch is %s, want %s", name, got, want)
		}
		if got, want := text(c.d.grants(asked)), `{"permissions":`+c.granted+`,"scope":"`+c.scope+`"}`; got != want {
			t.Errorf("%s of permissions is %s, want %s", name, got, want)
		}
	}
}
