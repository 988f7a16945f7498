package message

import "strings"

// ResultError is returned for a turn that failed, that is, for a [Result] with IsError set. Result
// holds the details, such as the subtype and the error texts.
type ResultError struct{ Result *Result }

// Result is the last message of a turn. Only IsError reports whether the turn failed: a turn that
// an API error ended has the subtype success, the text of the error in Result and its HTTP status
// in APIErrorStatus.
//
// Usage counts the main loop of this turn alone. ModelUsage, TotalCostUSD and DurationAPIMS are
// totals of the process so far, including subagents, so take them from the last result and do
// not add them up. They restart with a [ConversationReset]; a resumed session starts from the
// totals that it saved.
type Result struct {
	Header
	Subtype          ResultSubtype         `json:"subtype"`
	IsError          bool                  `json:"is_error"`
	Result           string                `json:"result,omitempty"` // the answer; absent when the subtype is an error
	Errors           []string              `json:"errors,omitempty"` // what went wrong, when the subtype is an error
	StructuredOutput JSON                  `json:"structured_output,omitempty"`
	NumTurns         int64                 `json:"num_turns"`
	DurationMS       int64                 `json:"duration_ms"`
	DurationAPIMS    int64                 `json:"duration_api_ms"`
	TotalCostUSD     float64               `json:"total_cost_usd"`
	StopReason       string                `json:"stop_reason,omitempty"`
	TerminalReason   TerminalReason        `json:"terminal_reason,omitempty"`
	Usage            *Usage                `json:"usage,omitempty"`
	ModelUsage       map[string]ModelUsage `json:"modelUsage,omitempty"`

	ModelUsageSinceLastResult map[string]ModelUsage `json:"model_usage_since_last_result,omitempty"`
	PermissionDenials         []PermissionDenial    `json:"permission_denials,omitempty"`
	DeferredToolUse           *DeferredToolUse      `json:"deferred_tool_use,omitempty"`
	UserMessageUUID           string                `json:"user_message_uuid,omitempty"`
	UserMessageUUIDs          []string              `json:"user_message_uuids,omitempty"`
	QueuedTurnCount           int64                 `json:"queued_turn_count,omitempty"` // above 0: more results follow without further input
	ResultIndex               *int64                `json:"result_index,omitempty"`      // counts from 0; a gap means that a result was lost
	Origin                    *Origin               `json:"origin,omitempty"`
	APIErrorStatus            int64                 `json:"api_error_status,omitempty"`
	APIErrorType              string                `json:"api_error_type,omitempty"`
	StartupFailureReason      string                `json:"startup_failure_reason,omitempty"`
	InvalidConfigFile         *InvalidConfigFile    `json:"invalid_config_file,omitempty"`
	LocalCommand              string                `json:"local_command,omitempty"`
	ResumeReason              string                `json:"resume_reason,omitempty"`
	SubagentStats             *SubagentStats        `json:"subagent_stats,omitempty"`
	SafetyStops               int64                 `json:"safety_stops,omitempty"`
	CredentialExpiresAt       string                `json:"credential_expires_at,omitempty"`
	FastModeState             string                `json:"fast_mode_state,omitempty"`
	FastModeDisabledReason    string                `json:"fast_mode_disabled_reason,omitempty"`

	ResultTimings
}

// ResultTimings holds the CLI's measurements of a turn: times in milliseconds, which are 0 if they
// were not measured, and the tokens of the first request.
type ResultTimings struct {
	TTFTMS                      int64  `json:"ttft_ms,omitempty"`
	TTFTStreamMS                int64  `json:"ttft_stream_ms,omitempty"`
	TimeToRequestMS             int64  `json:"time_to_request_ms,omitempty"`
	TimeToRequestFromSpawnMS    int64  `json:"time_to_request_from_spawn_ms,omitempty"`
	TimeOriginMS                int64  `json:"time_origin_ms,omitempty"`
	RequestSentWallMS           int64  `json:"request_sent_wall_ms,omitempty"`
	FirstContentFrameMS         int64  `json:"first_content_frame_ms,omitempty"`
	FirstStreamPostMS           int64  `json:"first_stream_post_ms,omitempty"`
	FirstStreamPostAckMS        int64  `json:"first_stream_post_ack_ms,omitempty"`
	FirstStreamPostQueueWaitMS  int64  `json:"first_stream_post_queue_wait_ms,omitempty"`
	FirstStreamPostQueuedBehind string `json:"first_stream_post_queued_behind,omitempty"`
	FirstStreamPostWallMS       int64  `json:"first_stream_post_wall_ms,omitempty"`
	FirstTextPostMS             int64  `json:"first_text_post_ms,omitempty"`
	FirstTextPostQueueWaitMS    int64  `json:"first_text_post_queue_wait_ms,omitempty"`
	FirstTextPostQueuedBehind   string `json:"first_text_post_queued_behind,omitempty"`
	FirstTextPostWallMS         int64  `json:"first_text_post_wall_ms,omitempty"`
	WarmSpareClaimed            bool   `json:"warm_spare_claimed,omitempty"`

	FirstRequestInputTokens              *int64 `json:"first_request_input_tokens,omitempty"`
	FirstRequestCacheReadInputTokens     *int64 `json:"first_request_cache_read_input_tokens,omitempty"`
	FirstRequestCacheCreationInputTokens *int64 `json:"first_request_cache_creation_input_tokens,omitempty"`
}

// ResultSubtype is how a turn ended. The set is open: a newer CLI
// may send values that have no constant here.
type ResultSubtype string

// The subtypes that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ResultSuccess                  ResultSubtype = "success"
	ResultDuringExecution          ResultSubtype = "error_during_execution"
	ResultMaxTurns                 ResultSubtype = "error_max_turns"
	ResultMaxBudget                ResultSubtype = "error_max_budget_usd"
	ResultMaxStructuredOutputRetry ResultSubtype = "error_max_structured_output_retries"
)

// TerminalReason is the reason why a turn stopped, such as completed, max_turns or api_error. It
// is more detailed than [ResultSubtype]. The set is open: the CLI sends values that have no
// constant here.
type TerminalReason string

// The terminal reasons that programs need most. The two aborted ones mean an interrupt while the
// model was answering or while tools were running.
const (
	TerminalCompleted        TerminalReason = "completed"
	TerminalAbortedStreaming TerminalReason = "aborted_streaming"
	TerminalAbortedTools     TerminalReason = "aborted_tools"
	TerminalMaxTurns         TerminalReason = "max_turns"
	TerminalAPIError         TerminalReason = "api_error"
	TerminalPromptTooLong    TerminalReason = "prompt_too_long"
	TerminalBudgetExhausted  TerminalReason = "budget_exhausted"
	TerminalToolDeferred     TerminalReason = "tool_deferred"
	TerminalHookStopped      TerminalReason = "hook_stopped"
)

// PermissionDenial is a tool call of the turn that was not allowed to run, by a rule, a
// callback or the mode.
type PermissionDenial struct {
	ToolName  string `json:"tool_name"`
	ToolUseID string `json:"tool_use_id"`
	ToolInput JSON   `json:"tool_input"`
}

// DeferredToolUse is the tool call on which the turn stopped because a hook answered it with
// the decision "defer".
type DeferredToolUse struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input JSON   `json:"input"`
}

// InvalidConfigFile names the configuration file that prevented the CLI from starting, and its
// backup if one exists.
type InvalidConfigFile struct {
	Path           string `json:"path"`
	IsGlobal       bool   `json:"is_global"`
	BackupSearched bool   `json:"backup_searched"`
	BackupPath     string `json:"backup_path,omitempty"`
}

// SubagentStats counts the subagents of a turn: those that were requested, refused, started and
// ended before they were done.
type SubagentStats struct {
	Requested           SubagentsRequested `json:"requested"`
	Refused             SubagentsRefused   `json:"refused"`
	Killed              SubagentsKilled    `json:"killed"`
	Spawned             int64              `json:"spawned"`
	SpawnedBySubagents  int64              `json:"spawned_by_subagents"`
	StartedInBackground int64              `json:"started_in_background"`
	Completed           int64              `json:"completed"`
	Failed              int64              `json:"failed"`
	MaxDepth            int64              `json:"max_depth"`
	ByType              map[string]int64   `json:"by_type,omitempty"`
}

// SubagentsRequested counts the requested subagents by the requested mode: background, foreground,
// or unspecified.
type SubagentsRequested struct {
	Background int64 `json:"background"`
	Foreground int64 `json:"foreground"`
	Unset      int64 `json:"unset"`
}

// SubagentsRefused counts the subagents that were not started, by the limit that prevented it.
type SubagentsRefused struct {
	Budget           int64 `json:"budget"`
	ConcurrencyLimit int64 `json:"concurrency_limit"`
	DepthLimit       int64 `json:"depth_limit"`
}

// SubagentsKilled counts the subagents that were ended before they were done, by who ended
// them.
type SubagentsKilled struct {
	Parent int64 `json:"parent"`
	System int64 `json:"system"`
	User   int64 `json:"user"`
}

// Text returns the text to show to a person: the answer, or the texts of the errors joined by "; "
// if the subtype is an error.
func (m *Result) Text() string {
	if m.Subtype != ResultSuccess && len(m.Errors) > 0 {
		return strings.Join(m.Errors, "; ")
	}
	return m.Result
}

// Err returns nil for a successful turn and a *[ResultError] that holds the result for one that
// failed.
func (m *Result) Err() error {
	if !m.IsError {
		return nil
	}
	return &ResultError{Result: m}
}
