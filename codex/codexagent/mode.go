package codexagent

import (
	"cmp"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// The permission modes.
const (
	modeDefault = "default"
	modeEdits   = "acceptEdits" // as default: edits in the workspace are never asked for
	modePlan    = "plan"        // nothing is changed
	modeBypass  = "bypassPermissions"
)

func modes(bypass bool) []string {
	list := []string{modeDefault, modeEdits, modePlan}
	if bypass {
		list = append(list, modeBypass)
	}
	return list
}

// policies are the words for Codex's own approval policies. A session whose policy and sandbox
// are those of no mode says one of them, and can be resumed with it.
var policies = []string{"untrusted", "on-request", "never", "on-failure", "granular"}

// permissions are the approval policy and the sandbox of a mode. An empty mode leaves both
// to the configuration, a policy of Codex's own the sandbox.
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

// sandboxes are the names of sandboxes by the types of their policies.
var sandboxes = map[string]string{"workspaceWrite": "workspace-write", "readOnly": "read-only", "dangerFullAccess": "danger-full-access"}

// modeOf is the mode of an approval policy and a sandbox: the session's own if it has both,
// else the first that has, else the policy. That everything is allowed is a mode only where
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

// nameMode puts the mode in the place of the approval policy.
func (s *Session) nameMode(ev event.Event) {
	switch ev := ev.(type) {
	case *event.SystemInit:
		ev.PermissionMode = s.modeOf(ev.PermissionMode, ev.Sandbox)
	case *event.SessionInfo:
		if ev.PermissionMode != nil && ev.Sandbox != nil {
			ev.PermissionMode = new(s.modeOf(*ev.PermissionMode, *ev.Sandbox))
		}
	}
}
