package message

import (
	"fmt"
	"reflect"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// MCPProvenance names an MCP server and the place that defines it. Base trust on Source, because
// a server can have any name.
type MCPProvenance struct {
	Name   string `json:"name"`
	Source string `json:"source"` // sdk for a server in this process; user, project, plugin, …
}

// PermissionUpdate changes the permission rules. Type decides which of the other fields are
// used: Rules and Behavior for rules, Mode for [UpdateSetMode], Directories for directories.
// Destination is always needed.
//
// An update that the CLI sent is encoded unchanged, including members that have no field here;
// only fields that the program changed get their new values.
type PermissionUpdate struct {
	Type        PermissionUpdateType
	Rules       []PermissionRule
	Behavior    PermissionBehavior
	Mode        PermissionMode
	Directories []string
	Destination PermissionDestination

	raw JSON
}

// PermissionUpdateType is a kind of update. The set is open: a newer CLI
// may send values that have no constant here.
type PermissionUpdateType string

// The kinds of updates that are known. The name of each tells which fields of [PermissionUpdate]
// it uses.
const (
	UpdateAddRules          PermissionUpdateType = "addRules"
	UpdateReplaceRules      PermissionUpdateType = "replaceRules"
	UpdateRemoveRules       PermissionUpdateType = "removeRules"
	UpdateSetMode           PermissionUpdateType = "setMode"
	UpdateAddDirectories    PermissionUpdateType = "addDirectories"
	UpdateRemoveDirectories PermissionUpdateType = "removeDirectories"
)

// PermissionDestination is the place that stores an update. The set is open: a newer CLI may
// send values that have no constant here.
type PermissionDestination string

// The destinations that are known. An update in one of the settings outlives the session; the
// last two end with it.
const (
	DestinationUserSettings    PermissionDestination = "userSettings"
	DestinationProjectSettings PermissionDestination = "projectSettings"
	DestinationLocalSettings   PermissionDestination = "localSettings"
	DestinationSession         PermissionDestination = "session"
	DestinationCLIArg          PermissionDestination = "cliArg"
)

// PermissionBehavior is the effect of a rule. The set is open: a newer CLI may send values that
// have no constant here.
type PermissionBehavior string

// The behaviors of rules: the tool runs without asking, it does not run, or permission is asked
// for.
const (
	BehaviorAllow PermissionBehavior = "allow"
	BehaviorDeny  PermissionBehavior = "deny"
	BehaviorAsk   PermissionBehavior = "ask"
)

// PermissionRule is a permission rule: a tool, limited to the calls that match RuleContent if
// that is set.
type PermissionRule struct {
	ToolName    string `json:"toolName"`
	RuleContent string `json:"ruleContent,omitempty"`
}

// String returns the rule in the form that settings have, such as Bash(git log:*), or only the
// tool's name.
func (r PermissionRule) String() string {
	if r.RuleContent == "" {
		return r.ToolName
	}
	return r.ToolName + "(" + r.RuleContent + ")"
}

// Raw returns the text that the update was decoded from, or "" for one that the program built.
func (u PermissionUpdate) Raw() JSON { return u.raw }

// updateFields are the members of an update.
type updateFields struct {
	Type        PermissionUpdateType  `json:"type"`
	Rules       []PermissionRule      `json:"rules,omitzero"`
	Behavior    PermissionBehavior    `json:"behavior,omitempty"`
	Mode        PermissionMode        `json:"mode,omitempty"`
	Directories []string              `json:"directories,omitzero"`
	Destination PermissionDestination `json:"destination,omitempty"`
}

func (u *PermissionUpdate) fields() updateFields {
	return updateFields{u.Type, u.Rules, u.Behavior, u.Mode, u.Directories, u.Destination}
}

var _ = jsonwire.Register(func(d *jsonwire.Decoder) PermissionUpdate {
	start := d.Offset()
	var f updateFields
	d.Into(&f)
	return PermissionUpdate{f.Type, f.Rules, f.Behavior, f.Mode, f.Directories, f.Destination, JSON(d.Since(start))}
})

// UnmarshalJSON decodes an update by the rules for messages: unknown members and values are
// kept and are not errors.
func (u *PermissionUpdate) UnmarshalJSON(text []byte) error {
	return jsonwire.Unmarshal(string(text), u)
}

// unchanged reports whether u equals the text that it was decoded from.
func (u *PermissionUpdate) unchanged() bool {
	if u.raw == "" {
		return false
	}
	var was PermissionUpdate
	return jsonwire.Unmarshal(string(u.raw), &was) == nil && reflect.DeepEqual(*u, was)
}

// MarshalJSON writes the members that belong to the type of the update. It fails for an update
// that the CLI would not accept, because the CLI would then discard the whole answer.
func (u PermissionUpdate) MarshalJSON() ([]byte, error) {
	f := u.fields()
	if u.unchanged() {
		return []byte(u.raw), nil
	}
	switch u.Type {
	case UpdateAddRules, UpdateReplaceRules, UpdateRemoveRules:
		f.Mode, f.Directories = "", nil
		if f.Rules == nil {
			f.Rules = []PermissionRule{}
		}
		if f.Behavior == "" {
			return nil, fmt.Errorf("claude: PermissionUpdate %s has no Behavior", u.Type)
		}
		for _, r := range f.Rules {
			if r.ToolName == "" {
				return nil, fmt.Errorf("claude: PermissionUpdate %s has a rule without ToolName", u.Type)
			}
		}
	case UpdateSetMode:
		f.Rules, f.Behavior, f.Directories = nil, "", nil
		if f.Mode == "" {
			return nil, fmt.Errorf("claude: PermissionUpdate %s has no Mode", u.Type)
		}
	case UpdateAddDirectories, UpdateRemoveDirectories:
		f.Rules, f.Behavior, f.Mode = nil, "", ""
		if f.Directories == nil {
			f.Directories = []string{}
		}
	default:
		return nil, fmt.Errorf("claude: PermissionUpdate has no known Type: %q", u.Type)
	}
	if f.Destination == "" {
		return nil, fmt.Errorf("claude: PermissionUpdate %s has no Destination", u.Type)
	}
	return jsonwire.Overlay(string(u.raw), f)
}
