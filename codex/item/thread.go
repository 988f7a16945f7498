package item

import "github.com/seed7221b0f9/parley/internal/jsonwire"

// Thread is a conversation as the server describes it, with its turns if they were requested. Times
// are Unix seconds.
type Thread struct {
	ID                   string   `json:"id"`
	SessionID            string   `json:"sessionId,omitempty"`
	ForkedFromID         string   `json:"forkedFromId,omitempty"`
	ParentThreadID       string   `json:"parentThreadId,omitempty"` // set for a subagent
	Name                 string   `json:"name,omitempty"`
	Preview              string   `json:"preview"`
	Ephemeral            bool     `json:"ephemeral"`
	HistoryMode          string   `json:"historyMode,omitempty"` // legacy, paginated
	ModelProvider        string   `json:"modelProvider"`
	Model                string   `json:"model,omitempty"`
	ReasoningEffort      string   `json:"reasoningEffort,omitempty"`
	CreatedAt            int64    `json:"createdAt"`
	UpdatedAt            int64    `json:"updatedAt"`
	RecencyAt            int64    `json:"recencyAt,omitempty"`
	Status               Status   `json:"status"`
	Path                 string   `json:"path,omitempty"`
	CWD                  string   `json:"cwd"`
	CLIVersion           string   `json:"cliVersion"`
	Originator           string   `json:"originator,omitempty"`
	Source               JSON     `json:"source,omitempty"` // a name, or an object for subagents
	ThreadSource         string   `json:"threadSource,omitempty"`
	AgentNickname        string   `json:"agentNickname,omitempty"`
	AgentRole            string   `json:"agentRole,omitempty"`
	GitInfo              *GitInfo `json:"gitInfo,omitempty"`
	CanAcceptDirectInput *bool    `json:"canAcceptDirectInput,omitempty"`
	Turns                []Turn   `json:"turns"`
}

// GitInfo is the state of the git repository in the thread's directory at the creation of the
// thread.
type GitInfo struct {
	Branch    string `json:"branch,omitempty"`
	SHA       string `json:"sha,omitempty"`
	OriginURL string `json:"originUrl,omitempty"`
}

// The values of Status.Type, and of the flags that a thread of the type active can have.
const (
	ThreadNotLoaded    = "notLoaded"
	ThreadIdle         = "idle"
	ThreadSystemError  = "systemError"
	ThreadActive       = "active"
	WaitingOnApproval  = "waitingOnApproval"
	WaitingOnUserInput = "waitingOnUserInput"
)

// Status is the current activity of a thread. ActiveFlags is set for the type active, and names the
// reasons why it waits.
type Status struct {
	Type        string   `json:"type"`
	ActiveFlags []string `json:"activeFlags,omitempty"`
}

// Turn is the work on one prompt. Status is StatusInProgress, StatusCompleted, StatusInterrupted or
// StatusFailed. ItemsView determines which Items are present: none (notLoaded), a summary, or all
// (full). Times are Unix seconds.
type Turn struct {
	ID          string     `json:"id"`
	RootTurnID  string     `json:"rootTurnId,omitempty"`
	Status      string     `json:"status"`
	Items       []Item     `json:"items"`
	ItemsView   string     `json:"itemsView,omitempty"`
	Error       *TurnError `json:"error,omitempty"`
	StartedAt   *int64     `json:"startedAt,omitempty"`
	CompletedAt *int64     `json:"completedAt,omitempty"`
	DurationMs  *int64     `json:"durationMs,omitempty"`
}

// TurnError is the reason why a turn failed: a message for people, and the class of the error.
type TurnError struct {
	Message           string    `json:"message"`
	CodexErrorInfo    ErrorInfo `json:"codexErrorInfo,omitzero"`
	AdditionalDetails string    `json:"additionalDetails,omitempty"`
	Misalignment      JSON      `json:"misalignment,omitempty"`
}

// ErrorInfo classifies an error. The wire has a word, or an object with one member named after the
// class; Kind holds the class of both. The zero value means that the server sent none.
type ErrorInfo struct {
	Kind           string
	HTTPStatusCode int64  // for the classes that have one; 0 if it was not sent
	TurnKind       string // for activeTurnNotSteerable

	text string
}

// The most important classes of errors. The list is not complete, and newer servers may add others.
const (
	ErrorContextWindowExceeded         = "contextWindowExceeded"
	ErrorUsageLimitExceeded            = "usageLimitExceeded"
	ErrorRateLimitExceeded             = "rateLimitExceeded"
	ErrorServerOverloaded              = "serverOverloaded"
	ErrorInternalServerError           = "internalServerError"
	ErrorUnauthorized                  = "unauthorized"
	ErrorBadRequest                    = "badRequest"
	ErrorModelNotFound                 = "modelNotFound"
	ErrorSandboxError                  = "sandboxError"
	ErrorOther                         = "other"
	ErrorHTTPConnectionFailed          = "httpConnectionFailed"
	ErrorResponseStreamDisconnected    = "responseStreamDisconnected"
	ErrorResponseTooManyFailedAttempts = "responseTooManyFailedAttempts"
	ErrorActiveTurnNotSteerable        = "activeTurnNotSteerable"
)

var _ = jsonwire.Register(func(d *jsonwire.Decoder) ErrorInfo {
	start := d.Offset()
	info := ErrorInfo{}
	switch d.Kind() {
	case '"':
		info.Kind, _ = d.String()
	case '{':
		for m := d.Members(); m.Next(); {
			if info.Kind != "" {
				d.Skip()
				continue
			}
			info.Kind = m.Key
			var detail struct {
				HTTPStatusCode int64  `json:"httpStatusCode"`
				TurnKind       string `json:"turnKind"`
			}
			d.Into(&detail)
			info.HTTPStatusCode, info.TurnKind = detail.HTTPStatusCode, detail.TurnKind
		}
	default:
		d.Skip()
		return info
	}
	info.text = d.Since(start)
	return info
})

// IsZero reports whether the server sent no class for the error. It supports the option omitzero.
func (e ErrorInfo) IsZero() bool { return e.Kind == "" && e.text == "" }

// Raw returns the JSON of the class as it was read, or as it would be sent if it was constructed.
func (e ErrorInfo) Raw() JSON {
	switch {
	case e.text != "":
		return JSON(e.text)
	case e.Kind == "":
		return "null"
	case e.HTTPStatusCode != 0:
		return ValueOf(map[string]any{e.Kind: map[string]any{"httpStatusCode": e.HTTPStatusCode}})
	case e.TurnKind != "":
		return ValueOf(map[string]any{e.Kind: map[string]any{"turnKind": e.TurnKind}})
	}
	return ValueOf(e.Kind)
}

// MarshalJSON returns the class in the form in which the server sent it; see Raw.
func (e ErrorInfo) MarshalJSON() ([]byte, error) { return []byte(e.Raw()), nil }

// TokenUsage holds the token counts of a thread, in total and of the last request to the model. The
// server reports no cost.
type TokenUsage struct {
	Total              TokenCount `json:"total"`
	Last               TokenCount `json:"last"`
	ModelContextWindow *int64     `json:"modelContextWindow,omitempty"`
}

// TokenCount counts the tokens of one request or of a thread, by kind. InputTokens includes the
// cached ones.
type TokenCount struct {
	TotalTokens           int64 `json:"totalTokens"`
	InputTokens           int64 `json:"inputTokens"`
	CachedInputTokens     int64 `json:"cachedInputTokens"`
	CacheWriteInputTokens int64 `json:"cacheWriteInputTokens,omitempty"`
	OutputTokens          int64 `json:"outputTokens"`
	ReasoningOutputTokens int64 `json:"reasoningOutputTokens"`
}

// Goal is a long-term goal of a thread, for which the server starts turns without a prompt.
type Goal struct {
	ThreadID        string `json:"threadId"`
	Objective       string `json:"objective"`
	Status          string `json:"status"`
	TokenBudget     *int64 `json:"tokenBudget,omitempty"`
	TokensUsed      int64  `json:"tokensUsed"`
	TimeUsedSeconds int64  `json:"timeUsedSeconds"`
	CreatedAt       int64  `json:"createdAt"`
	UpdatedAt       int64  `json:"updatedAt"`
}

// Settings are the settings of the next turn of a thread: its directory, its model, its effort and
// its permissions.
type Settings struct {
	CWD               string `json:"cwd"`
	Model             string `json:"model"`
	ModelProvider     string `json:"modelProvider"`
	Effort            string `json:"effort,omitempty"`
	Summary           string `json:"summary,omitempty"`
	ServiceTier       string `json:"serviceTier,omitempty"`
	ApprovalPolicy    JSON   `json:"approvalPolicy"` // a word, or an object {granular}
	ApprovalsReviewer string `json:"approvalsReviewer"`
	SandboxPolicy     JSON   `json:"sandboxPolicy"`
	CollaborationMode JSON   `json:"collaborationMode,omitempty"`
}

// PlanStep is one step of the plan that the agent follows. Status is pending, inProgress or
// completed.
type PlanStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// HookRun is one run of a configured hook: its event, its state and its output.
type HookRun struct {
	ID            string       `json:"id"`
	EventName     string       `json:"eventName"`
	HandlerType   string       `json:"handlerType"`
	ExecutionMode string       `json:"executionMode"`
	Scope         string       `json:"scope"`
	Source        string       `json:"source,omitempty"`
	SourcePath    string       `json:"sourcePath"`
	Status        string       `json:"status"` // running, completed, failed, blocked, stopped
	StatusMessage string       `json:"statusMessage,omitempty"`
	DisplayOrder  int64        `json:"displayOrder"`
	StartedAt     int64        `json:"startedAt"`
	CompletedAt   *int64       `json:"completedAt,omitempty"`
	DurationMs    *int64       `json:"durationMs,omitempty"`
	Entries       []HookOutput `json:"entries"`
}

// HookOutput is one piece of the output of a hook, such as a warning, with its kind.
type HookOutput struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}
