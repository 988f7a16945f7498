package event

// The kinds of a [PermissionRequest], which decide what a person is shown and what the answer
// has to contain.
const (
	PermissionTool    = "tool"    // may this tool run?
	PermissionPlan    = "plan"    // is this plan approved?
	PermissionProfile = "profile" // which of these permissions are granted, for how long?
)

// The kinds of a [QuestionRequest]: one that the model asks, and one that an MCP server asks.
const (
	QuestionAsk         = "ask_user_question" // the model asks
	QuestionElicitation = "elicitation"       // an MCP server asks
)

// The ways in which a [PermissionRequest] can end. The set is open: providers may have others.
const (
	ResolvedAllow     = "allow"
	ResolvedDeny      = "deny"
	ResolvedCancelled = "cancelled" // the agent took it back
	ResolvedExpired   = "expired"   // the agent that asked is gone
	ResolvedUnknown   = "unknown"   // it was answered elsewhere, and the answer is not known
)

// The times for which an answer to a [PermissionRequest] can hold. The set is open: providers
// may have others.
const (
	ScopeOnce    = "once"
	ScopeTurn    = "turn"
	ScopeSession = "session"
	ScopeAlways  = "always"
)

// PermissionRequest asks a person whether a tool may run, a plan is approved or a
// permission is granted. It waits until a *[PermissionResolved] with its request id,
// and silence is not an answer. A second event with the id of a request that waits replaces
// the first: the agent has reported more about the call.
type PermissionRequest struct {
	Header      `wire:"parent,session"`
	Kind        string       `json:"kind"` // PermissionTool, PermissionPlan, PermissionProfile
	RequestID   string       `json:"request_id"`
	ToolName    string       `json:"tool_name,omitempty"`
	DisplayName string       `json:"display_name,omitempty"`
	Description string       `json:"description,omitempty"`
	Input       JSON         `json:"input,omitempty"`
	ToolUseID   string       `json:"tool_use_id,omitempty"`
	ToolKind    string       `json:"tool_kind,omitempty"`              // the provider's kind of tool
	Content     JSON         `json:"content,omitempty"`                // what else the agent shows of the call: a list of blocks of type text, diff, …
	Locations   JSON         `json:"locations,omitempty"`              // the files that the call touches: a list of path and line
	Suggestions []Suggestion `json:"permission_suggestions,omitempty"` // what could be allowed beyond this call: the whole bundle
	Choices     []Choice     `json:"choices,omitempty"`                // the answers that the provider offers, where it names them
	Profile     JSON         `json:"profile,omitempty"`                // of PermissionProfile: what is asked for
	BlockedPath string       `json:"blocked_path,omitempty"`
	AgentID     string       `json:"agent_id,omitempty"`
	DefaultToNo bool         `json:"default_to_no,omitempty"` // the agent advises against it: what is offered first is to deny
	Request     JSON         `json:"request,omitempty"`       // the whole request, if the members above are not enough to decide
	Data        JSON         `json:"-"`                       // the whole request, as the provider sent it
}

// The kinds of a [Suggestion]. The set is open: providers may have others, which can be passed
// back unread.
const (
	SuggestRules       = "rules"
	SuggestMode        = "mode"
	SuggestDirectories = "directories"
)

// Suggestion is one change of the permissions that would spare later requests. One that
// is not of kind [SuggestRules] allows more than what was asked for: a mode change lets
// every edit run, a directory everything below it.
type Suggestion struct {
	Kind        string   `json:"kind"`                  // SuggestRules, SuggestMode, SuggestDirectories
	Label       string   `json:"label"`                 // what it does, for a person
	Rules       []string `json:"rules,omitempty"`       // as settings write them: Bash(touch f1 *)
	Behavior    string   `json:"behavior,omitempty"`    // allow, deny, ask
	Mode        string   `json:"mode,omitempty"`        // the permission mode from then on
	Directories []string `json:"directories,omitempty"` // that would be within reach
	Destination string   `json:"destination,omitempty"` // how long it holds: session, localSettings, …
	Update      JSON     `json:"update,omitempty"`      // what goes back to the agent when it is taken
}

// IsRule reports whether the suggestion adds permission rules and nothing else, so that it can
// be shown as rules.
func (s *Suggestion) IsRule() bool { return s.Kind == SuggestRules }

// Choice is one of the answers that the provider offers for a request. Data goes back to the
// agent unchanged.
type Choice struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Behavior string `json:"behavior"`        // allow, deny, cancelled
	Scope    string `json:"scope,omitempty"` // ScopeOnce, ScopeTurn, ScopeSession, ScopeAlways
	Data     JSON   `json:"data,omitempty"`  // what goes back to the agent when it is taken
}

// PermissionResolved ends a permission request: how it came out, for how long, and who
// answered.
type PermissionResolved struct {
	Header    `wire:"session"`
	RequestID string `json:"request_id"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Behavior  string `json:"behavior"`          // ResolvedAllow, ResolvedDeny, …
	Scope     string `json:"scope,omitempty"`   // how long it holds; empty is once
	Message   string `json:"message,omitempty"` // why it was denied
	By        string `json:"by,omitempty"`      // who answered
}

// QuestionRequest asks a person something. It remains open until a *[QuestionResolved] with the
// same request id arrives.
type QuestionRequest struct {
	Header        `wire:"parent,session"`
	Kind          string     `json:"kind"` // QuestionAsk, QuestionElicitation
	RequestID     string     `json:"request_id"`
	ToolUseID     string     `json:"tool_use_id,omitempty"`
	Questions     []Question `json:"questions,omitempty"`       // of the model's questions
	Blocking      *bool      `json:"blocking,omitempty"`        // whether the turn waits for the answer; nil where it is not known
	MCPServerName string     `json:"mcp_server_name,omitempty"` // of an elicitation, as all below
	Message       string     `json:"message,omitempty"`
	Mode          string     `json:"mode,omitempty"` // form, url
	Schema        JSON       `json:"requested_schema,omitempty"`
	URL           string     `json:"url,omitempty"`
	Data          JSON       `json:"-"` // the whole request, as the provider sent it
}

// Question is one question of the model with the options to choose from. Some allow a free text
// as well.
type Question struct {
	ID          string           `json:"id,omitempty"` // answers are by id where there is one, else by the question
	Header      string           `json:"header,omitempty"`
	Question    string           `json:"question"`
	Options     []QuestionOption `json:"options,omitempty"`
	MultiSelect bool             `json:"multiSelect,omitempty"`
	IsOther     bool             `json:"isOther,omitempty"`  // a text of one's own is an answer too
	IsSecret    bool             `json:"isSecret,omitempty"` // the answer is not to be shown
	Data        JSON             `json:"data,omitempty"`     // the whole question, as the provider sent it
}

// QuestionOption is an answer that a person can choose: a short label, an explanation, and
// perhaps a preview.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// QuestionResolved ends a question: it was answered, declined or cancelled, or it has expired.
// Answers are those that were given.
type QuestionResolved struct {
	Header    `wire:"session"`
	RequestID string `json:"request_id"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Action    string `json:"action"`            // accept, decline, cancel, expired, unknown
	Answers   JSON   `json:"answers,omitempty"` // of the model's questions, or the content of an elicitation
	By        string `json:"by,omitempty"`      // who answered
}
