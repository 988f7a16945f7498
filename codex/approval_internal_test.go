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
		old, tool                      string // for older requests, and for a tool: its action and how long it is valid
	}{
		"nothing":                {Decision{}, `"decline"`, `"decline"`, `{}`, "turn", "denied", "decline "},
		"Accept":                 {Accept, `"accept"`, `"accept"`, string(asked), "turn", "approved", "accept "},
		"AcceptForSession":       {AcceptForSession, `"acceptForSession"`, `"acceptForSession"`, string(asked), "session", "approved_for_session", "accept session"},
		"AcceptAlways":           {AcceptAlways, `"decline"`, `"decline"`, `{}`, "turn", "denied", "accept always"},
		"Decline":                {Decline, `"decline"`, `"decline"`, `{}`, "turn", "denied", "decline "},
		"Cancel":                 {Cancel, `"cancel"`, `"cancel"`, `{}`, "turn", "abort", "cancel "},
		"Grant":                  {Grant(own, false), `"decline"`, `"decline"`, string(own), "turn", "denied", "decline "},
		"Grant for the session":  {Grant(own, true), `"decline"`, `"decline"`, string(own), "session", "denied", "decline "},
		"Grant of nothing":       {Grant("", false), `"decline"`, `"decline"`, `{}`, "turn", "denied", "decline "},
		"AcceptWithAmendment":    {AcceptWithAmendment([]string{"ls"}), `{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}`, `"decline"`, `{}`, "turn", "denied", "decline "},
		"ApplyNetworkAmendment":  {ApplyNetworkAmendment(item.NetworkAmendment{Host: "h", Action: "allow"}), `{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"h","action":"allow"}}}`, `"decline"`, `{}`, "turn", "denied", "decline "},
		"Grant of nothing, ever": {Grant("", true), `"decline"`, `"decline"`, `{}`, "session", "denied", "decline "},
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
		if got, want := text(c.d.legacy()), `{"decision":"`+c.old+`"}`; got != want {
			t.Errorf("%s of an older request is %s, want %s", name, got, want)
		}
		var tool struct {
			Action  string
			Content *struct{}
			Meta    struct{ Persist string } `json:"_meta"`
		}
		if err := json.Unmarshal([]byte(text(c.d.elicitation())), &tool); err != nil {
			t.Fatal(err)
		}
		if got := tool.Action + " " + tool.Meta.Persist; got != c.tool || (tool.Content != nil) != (tool.Action == "accept") {
			t.Errorf("%s of a tool is %q with content: %v, want %q", name, got, tool.Content != nil, c.tool)
		}
	}
}
