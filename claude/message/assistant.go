package message

// Assistant is a part of the model's answer. The CLI writes one line for each finished content
// block, and all lines of one answer have the same Message.ID. Message.Usage has the numbers
// known when the answer began; the final numbers are in the [Result].
type Assistant struct {
	Header
	Message         APIMessage     `json:"message"`
	ParentToolUseID string         `json:"parent_tool_use_id,omitempty"` // set for a subagent: the tool use that started it
	Error           AssistantError `json:"error,omitempty"`              // set: the answer is the text of an API error

	RequestID         string          `json:"request_id,omitempty"`
	UserMessageUUID   string          `json:"user_message_uuid,omitempty"`  // the prompt that this answers
	UserMessageUUIDs  []string        `json:"user_message_uuids,omitempty"` // all of them, when several were merged
	ResumeReason      string          `json:"resume_reason,omitempty"`
	Supersedes        []string        `json:"supersedes,omitempty"` // uuids of messages that this one replaces
	Aborted           bool            `json:"aborted,omitempty"`
	AgentID           string          `json:"agent_id,omitempty"`
	SubagentType      string          `json:"subagent_type,omitempty"`
	TaskDescription   string          `json:"task_description,omitempty"`
	Timestamp         string          `json:"timestamp,omitempty"`
	ContextUsage      *ContextSummary `json:"context_usage,omitempty"`
	UsageReport       *UsageReport    `json:"usage_report,omitempty"`
	ToolUseMeta       []ToolUseMeta   `json:"tool_use_meta,omitempty"`
	IsAPIErrorMessage bool            `json:"is_api_error_message,omitempty"`
	APIErrorStatus    int64           `json:"api_error_status,omitempty"`
	APIErrorType      string          `json:"api_error_type,omitempty"`
	ThinkingDisplay   string          `json:"thinking_display,omitempty"`
	ThinkingMS        int64           `json:"thinking_duration_ms,omitempty"`

	ResumedFromIncompleteThinking bool             `json:"resumed_from_incomplete_thinking,omitempty"`
	LocalCommandSource            string           `json:"local_command_source,omitempty"`
	LocalCommandRun               *LocalCommandRun `json:"local_command_run,omitempty"`
}

// Text returns the text of the message's text blocks, joined without a separator. It is empty
// for a message of tool calls.
func (m *Assistant) Text() string { return TextOf(m.Message.Content) }

// APIMessage is an answer in the form of the Messages API, as far as it has arrived: its model,
// its blocks and its usage.
type APIMessage struct {
	ID                   string         `json:"id"`
	Type                 string         `json:"type"`
	Role                 string         `json:"role"`
	Model                string         `json:"model"` // "<synthetic>" for text that the CLI wrote itself
	Content              []ContentBlock `json:"content"`
	StopReason           string         `json:"stop_reason,omitempty"`
	StopSequence         string         `json:"stop_sequence,omitempty"`
	StopDetails          JSON           `json:"stop_details,omitempty"`
	Usage                *Usage         `json:"usage,omitempty"`
	Container            JSON           `json:"container,omitempty"`
	ContextManagement    JSON           `json:"context_management,omitempty"`
	Diagnostics          JSON           `json:"diagnostics,omitempty"`
	InputTransformations JSON           `json:"input_transformations,omitempty"`
}

// AssistantError is the reason why an answer is the text of an error and was not written by the
// model. The set is open: a newer CLI may send values that have no constant here.
type AssistantError string

// The errors that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ErrorAuthenticationFailed AssistantError = "authentication_failed"
	ErrorOAuthOrgNotAllowed   AssistantError = "oauth_org_not_allowed"
	ErrorAccountOnHold        AssistantError = "account_on_hold"
	ErrorVerificationRequired AssistantError = "verification_required"
	ErrorBilling              AssistantError = "billing_error"
	ErrorRateLimit            AssistantError = "rate_limit"
	ErrorOverloaded           AssistantError = "overloaded"
	ErrorInvalidRequest       AssistantError = "invalid_request"
	ErrorModelNotFound        AssistantError = "model_not_found"
	ErrorServer               AssistantError = "server_error"
	ErrorUnknown              AssistantError = "unknown"
	ErrorMaxOutputTokens      AssistantError = "max_output_tokens"
	ErrorCloudCredential      AssistantError = "cloud_credential_error"
)

// ToolUseMeta gives the names of a tool and its server for display, for one tool call of the
// message.
type ToolUseMeta struct {
	ID                string `json:"id"`
	ToolName          string `json:"tool_name,omitempty"`
	DisplayName       string `json:"display_name,omitempty"`
	ServerDisplayName string `json:"server_display_name,omitempty"`
}

// LocalCommandRun is a slash command with its arguments that the CLI ran by itself, without
// asking the model.
type LocalCommandRun struct {
	Command string `json:"command"`
	Args    string `json:"args"`
}

// ContextSummary reports how full the context window is, in total and by category, as the
// command /context shows it.
type ContextSummary struct {
	Model        string            `json:"model"`
	TotalTokens  int64             `json:"total_tokens"`
	RawMaxTokens int64             `json:"raw_max_tokens"`
	Percentage   float64           `json:"percentage"`
	OverLimit    *ContextOverLimit `json:"over_limit,omitempty"`
	Categories   []ContextCategory `json:"categories"`
	MCPTools     []ContextPart     `json:"mcp_tools"`
	MemoryFiles  []ContextPart     `json:"memory_files"`
	Agents       []ContextPart     `json:"agents"`
	Skills       []ContextPart     `json:"skills,omitempty"`
}

// ContextOverLimit reports by how many tokens the context exceeds the hard limit or the window
// at which it is compacted.
type ContextOverLimit struct {
	TokensOver int64  `json:"tokens_over"`
	Kind       string `json:"kind"` // hard_limit, compaction_window
}

// ContextCategory is one kind of content in the context window, such as the system prompt, and
// its size in tokens.
type ContextCategory struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
	Kind   string `json:"kind"` // used, free, buffer, deferred
	Color  string `json:"color,omitempty"`
}

// ContextPart is one tool, file, agent or skill in the context window, with its size in tokens.
// The list of [ContextSummary] that it is in decides which other members are set.
type ContextPart struct {
	Name       string `json:"name,omitempty"`
	ServerName string `json:"server_name,omitempty"`
	Path       string `json:"path,omitempty"`
	Type       string `json:"type,omitempty"`
	AgentType  string `json:"agent_type,omitempty"`
	Source     string `json:"source,omitempty"`
	PluginName string `json:"plugin_name,omitempty"`
	Tokens     int64  `json:"tokens"`
}

// UsageReport holds the output of the command /usage: the usage of the session and, undecoded,
// the rate limits of the account.
type UsageReport struct {
	Session    SessionUsage `json:"session"`
	RateLimits JSON         `json:"rate_limits,omitempty"`
}

// SessionUsage holds a session's totals so far: cost, durations, changed lines, and tokens by
// model.
type SessionUsage struct {
	TotalCostUSD       float64               `json:"total_cost_usd"`
	TotalAPIDurationMS int64                 `json:"total_api_duration_ms"`
	TotalDurationMS    int64                 `json:"total_duration_ms"`
	TotalLinesAdded    int64                 `json:"total_lines_added"`
	TotalLinesRemoved  int64                 `json:"total_lines_removed"`
	ModelUsage         map[string]ModelUsage `json:"model_usage,omitempty"`
}
