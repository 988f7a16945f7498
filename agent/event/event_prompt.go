package event

// The kinds of a [PermissionRequest], which determine the display and the content of the answer.
const (
	PermissionTool    = "tool"    // may this tool run?
	PermissionPlan    = "plan"    // is this plan approved?
	PermissionProfile = "profile" // which of these permissions are granted, and for how long?
)

// The kinds of a [QuestionRequest]: one that the model asks, and one that an MCP server asks.
const (
	QuestionAsk         = "ask_user_question" // the model asks
	QuestionElicitation = "elicitation"       // an MCP server asks
)

// The outcomes of a [PermissionRequest]. The set is open: providers may have others.
const (
	ResolvedAllow     = "allow"
	ResolvedDeny      = "deny"
	ResolvedCancelled = "cancelled" // the agent withdrew it
	ResolvedExpired   = "expired"   // the agent that asked has ended
	ResolvedUnknown   = "unknown"   // it was answered elsewhere, with an unknown answer
)

// The scopes of an answer to a [PermissionRequest]. The set is open: providers may have others.
const (
	ScopeOnce    = "once"
	ScopeTurn    = "turn"
	ScopeSession = "session"
	ScopeAlways  = "always"
)

// PermissionRequest asks a person whether a tool may run, a plan is approved or a permission is
// granted. It waits until a *[PermissionResolved] with its request id; no answer is never an
// approval. A second event with the id of an open request replaces the first: the agent has
// reported more about the call.
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
	Content     JSON         `json:"content,omitempty"`                // further content of the call: a list of blocks of type text, diff, …
	Locations   JSON         `json:"locations,omitempty"`              // the files that the call uses: a list of path and line
	Suggestions []Suggestion `json:"permission_suggestions,omitempty"` // permissions that could be granted beyond this call: the whole bundle
	Choices     []Choice     `json:"choices,omitempty"`                // the answers that the provider offers, if any
	Profile     JSON         `json:"profile,omitempty"`                // for PermissionProfile: the requested permissions
	BlockedPath string       `json:"blocked_path,omitempty"`
	AgentID     string       `json:"agent_id,omitempty"`
	DefaultToNo bool         `json:"default_to_no,omitempty"` // the agent advises against it: offer denial first
	Request     JSON         `json:"request,omitempty"`       // the complete request, if the other fields are not sufficient for a decision
	Data        JSON         `json:"-"`                       // the complete request from the provider
}

// The kinds of a [Suggestion]. The set is open: providers may have others, which can be returned
// unread.
const (
	SuggestRules       = "rules"
	SuggestMode        = "mode"
	SuggestDirectories = "directories"
)

// Suggestion is one change of the permissions that avoids later requests. A suggestion that is not
// of kind [SuggestRules] allows more than the request: a mode change allows every edit, a directory
// everything below it.
type Suggestion struct {
	Kind        string   `json:"kind"`                  // SuggestRules, SuggestMode, SuggestDirectories
	Label       string   `json:"label"`                 // description for a person
	Rules       []string `json:"rules,omitempty"`       // in the form of settings: Bash(touch f1 *)
	Behavior    string   `json:"behavior,omitempty"`    // allow, deny, ask
	Mode        string   `json:"mode,omitempty"`        // the new permission mode
	Directories []string `json:"directories,omitempty"` // directories that would become accessible
	Destination string   `json:"destination,omitempty"` // the duration: session, localSettings, …
	Update      JSON     `json:"update,omitempty"`      // data for the agent when the suggestion is accepted
}

// IsRule reports whether the suggestion only adds permission rules, so that it can be shown as
// rules.
func (s *Suggestion) IsRule() bool { return s.Kind == SuggestRules }

// Choice is one of the answers that the provider offers for a request. Data is returned to the
// agent unchanged.
type Choice struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Behavior string `json:"behavior"`        // allow, deny, cancelled
	Scope    string `json:"scope,omitempty"` // ScopeOnce, ScopeTurn, ScopeSession, ScopeAlways
	Data     JSON   `json:"data,omitempty"`  // data for the agent when it is chosen
}

// PermissionResolved ends a permission request: its outcome, its scope, and who answered.
type PermissionResolved struct {
	Header    `wire:"session"`
	RequestID string `json:"request_id"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Behavior  string `json:"behavior"`          // ResolvedAllow, ResolvedDeny, …
	Scope     string `json:"scope,omitempty"`   // duration of the answer; empty is once
	Message   string `json:"message,omitempty"` // the reason of a denial
	By        string `json:"by,omitempty"`      // who answered
}

// QuestionRequest asks a person a question. It remains open until a *[QuestionResolved] with the
// same request id arrives.
type QuestionRequest struct {
	Header        `wire:"parent,session"`
	Kind          string     `json:"kind"` // QuestionAsk, QuestionElicitation
	RequestID     string     `json:"request_id"`
	ToolUseID     string     `json:"tool_use_id,omitempty"`
	Questions     []Question `json:"questions,omitempty"`       // for the model's questions
	Blocking      *bool      `json:"blocking,omitempty"`        // whether the turn waits for the answer; nil if unknown
	MCPServerName string     `json:"mcp_server_name,omitempty"` // for an elicitation, like all fields below
	Message       string     `json:"message,omitempty"`
	Mode          string     `json:"mode,omitempty"` // form, url
	Schema        JSON       `json:"requested_schema,omitempty"`
	URL           string     `json:"url,omitempty"`
	Data          JSON       `json:"-"` // the complete request from the provider
}

// Question is one question of the model with the options to choose from. Some allow a free text
// as well.
type Question struct {
	ID          string           `json:"id,omitempty"` // key of the answer if set, else the question is
	Header      string           `json:"header,omitempty"`
	Question    string           `json:"question"`
	Options     []QuestionOption `json:"options,omitempty"`
	MultiSelect bool             `json:"multiSelect,omitempty"`
	IsOther     bool             `json:"isOther,omitempty"`  // a free text is accepted too
	IsSecret    bool             `json:"isSecret,omitempty"` // the answer must not be shown
	Data        JSON             `json:"data,omitempty"`     // the complete question from the provider
}

// QuestionOption is an answer that a person can choose: a short label, an explanation, and
// optionally a preview.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// QuestionResolved ends a question: it was answered, declined or cancelled, or it has expired.
// Answers are the given ones.
type QuestionResolved struct {
	Header    `wire:"session"`
	RequestID string `json:"request_id"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Action    string `json:"action"`            // accept, decline, cancel, expired, unknown
	Answers   JSON   `json:"answers,omitempty"` // to the model's questions, or the content of an elicitation
	By        string `json:"by,omitempty"`      // who answered
}
