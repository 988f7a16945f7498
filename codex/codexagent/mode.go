package codexagent

import (
	"cmp"
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// The permission modes.
const (
	modeDefault = "default"
	modeEdits   = "acceptEdits" // like default: edits in the workspace never need approval
	modePlan    = "plan"        // read-only
	modeBypass  = "bypassPermissions"
)

func modes(bypass bool) []string {
	list := []string{modeDefault, modeEdits, modePlan}
	if bypass {
		list = append(list, modeBypass)
	}
	return list
}

// policies are Codex's approval policies. A session with a policy and a sandbox that match no mode
// reports one of them, and can be resumed with it.
var policies = []string{"untrusted", "on-request", "never", "on-failure", "granular"}

// permissions returns the approval policy and the sandbox of a mode. An empty mode leaves both to
// the configuration; one of Codex's policies leaves the sandbox to it.
func permissions(mode string) (policy, sandbox string) {
	switch mode {
	case modeDefault, modeEdits:
		return "on-request", "workspace-write"
	case modePlan:
		return "on-request", "read-only"
	case modeBypass:
		return "never", "danger-full-access"
	case "untrusted", "on-request", "never":
		return mode, ""
	}
	return "", ""
}

var sandboxPolicies = map[string]item.JSON{
	"workspace-write": `{"type":"workspaceWrite"}`, "read-only": `{"type":"readOnly"}`, "danger-full-access": `{"type":"dangerFullAccess"}`,
}

// sandboxes maps the types of sandbox policies to the names of the sandboxes.
var sandboxes = map[string]string{"workspaceWrite": "workspace-write", "readOnly": "read-only", "dangerFullAccess": "danger-full-access"}

// modeOf returns the mode of an approval policy and a sandbox: the session's mode if it matches,
// else the first that matches, else the policy. The mode that allows everything is returned only if
// the caller allows it.
func (s *Session) modeOf(policy, sandbox string) string {
	fits := func(mode string) bool {
		p, box := permissions(mode)
		return p == policy && box == sandboxes[sandbox]
	}
	if own := cmp.Or(s.mode, s.opts.Mode); own != "" && fits(own) {
		return own
	}
	for _, mode := range modes(s.opts.AllowBypass) {
		if fits(mode) {
			return mode
		}
	}
	return policy
}

// complete adds two members to an event: the mode in place of the approval policy, and the
// structured output.
func (s *Session) complete(ev event.Event) {
	switch ev := ev.(type) {
	case *event.ResultMessage:
		if s.provider.OutputSchema != "" && !ev.IsError && json.Valid([]byte(ev.Result)) {
			ev.StructuredOutput = event.NewJSON(ev.Result)
		}
	case *event.SystemInit:
		ev.PermissionMode = s.modeOf(ev.PermissionMode, ev.Sandbox)
	case *event.SessionInfo:
		if ev.PermissionMode != nil && ev.Sandbox != nil {
			ev.PermissionMode = new(s.modeOf(*ev.PermissionMode, *ev.Sandbox))
		}
	}
}
