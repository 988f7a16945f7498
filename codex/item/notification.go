package item

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Notification is a message of the server that needs no answer. The set of types is closed: one with
// a method that this package does not know is an *[UnknownNotification].
//
//sumtype:decl
type Notification interface {
	// Head returns the common fields of notifications.
	Head() *Note
	// Raw returns a copy of the whole line, nil for a notification that was not decoded.
	Raw() json.RawMessage

	notification()
}

// Note holds the common fields of notifications. The ids are empty if a notification is not about a
// thread or a turn, and for a few that have them elsewhere: use [ThreadOf] and [TurnOf].
type Note struct {
	ThreadID    string `json:"threadId,omitempty"`
	TurnID      string `json:"turnId,omitempty"`
	EmittedAtMs int64  `json:"-"` // next to params on the wire; 0 in older versions

	line string
}

// Head returns n. It implements [Notification] for all types that embed a Note.
func (n *Note) Head() *Note { return n }

// Raw returns a copy of the whole line, nil for a notification that was not decoded.
func (n *Note) Raw() json.RawMessage { return JSON(n.line).Bytes() }

// Size returns the length in bytes of the decoded line, or 0 for a notification that was not
// decoded.
func (n *Note) Size() int { return len(n.line) }

func (*Note) notification() {}

// UnknownNotification is a notification with an unknown method. Raw returns all of it.
type UnknownNotification struct {
	Note
	Method string `json:"-"`
	Params JSON   `json:"-"`
}

// notificationTypes is the decode table of notifications.
var notificationTypes = jsonwire.Table[Notification]{
	"thread/started":                            func() Notification { return new(ThreadStarted) },
	"thread/status/changed":                     func() Notification { return new(ThreadStatusChanged) },
	"thread/readState/changed":                  func() Notification { return new(ThreadReadStateChanged) },
	"thread/archived":                           func() Notification { return new(ThreadArchived) },
	"thread/unarchived":                         func() Notification { return new(ThreadUnarchived) },
	"thread/deleted":                            func() Notification { return new(ThreadDeleted) },
	"thread/closed":                             func() Notification { return new(ThreadClosed) },
	"thread/reverted":                           func() Notification { return new(ThreadReverted) },
	"thread/name/updated":                       func() Notification { return new(ThreadNameUpdated) },
	"thread/goal/updated":                       func() Notification { return new(ThreadGoalUpdated) },
	"thread/goal/cleared":                       func() Notification { return new(ThreadGoalCleared) },
	"thread/queue/changed":                      func() Notification { return new(ThreadQueueChanged) },
	"thread/settings/updated":                   func() Notification { return new(ThreadSettingsUpdated) },
	"thread/tokenUsage/updated":                 func() Notification { return new(ThreadTokenUsageUpdated) },
	"thread/compacted":                          func() Notification { return new(ThreadCompacted) },
	"thread/attachment/updated":                 func() Notification { return new(ThreadAttachmentUpdated) },
	"thread/project/updated":                    func() Notification { return new(ThreadProjectUpdated) },
	"turn/started":                              func() Notification { return new(TurnStarted) },
	"turn/completed":                            func() Notification { return new(TurnCompleted) },
	"turn/diff/updated":                         func() Notification { return new(TurnDiffUpdated) },
	"turn/plan/updated":                         func() Notification { return new(TurnPlanUpdated) },
	"turn/moderationMetadata":                   func() Notification { return new(TurnModerationMetadata) },
	"error":                                     func() Notification { return new(ErrorNotice) },
	"hook/started":                              func() Notification { return new(HookStarted) },
	"hook/completed":                            func() Notification { return new(HookCompleted) },
	"model/rerouted":                            func() Notification { return new(ModelRerouted) },
	"model/verification":                        func() Notification { return new(ModelVerification) },
	"model/safetyBuffering/updated":             func() Notification { return new(ModelSafetyBuffering) },
	"modelProvider/authRecoveryStarted":         func() Notification { return new(AuthRecoveryStarted) },
	"modelProvider/authRecoveryCompleted":       func() Notification { return new(AuthRecoveryCompleted) },
	"item/started":                              func() Notification { return new(ItemStarted) },
	"item/completed":                            func() Notification { return new(ItemCompleted) },
	"item/agentMessage/delta":                   func() Notification { return new(AgentMessageDelta) },
	"item/plan/delta":                           func() Notification { return new(PlanDelta) },
	"item/reasoning/summaryTextDelta":           func() Notification { return new(ReasoningSummaryDelta) },
	"item/reasoning/summaryPartAdded":           func() Notification { return new(ReasoningSummaryPartAdded) },
	"item/reasoning/textDelta":                  func() Notification { return new(ReasoningTextDelta) },
	"item/commandExecution/outputDelta":         func() Notification { return new(CommandOutputDelta) },
	"item/commandExecution/terminalInteraction": func() Notification { return new(TerminalInteraction) },
	"item/fileChange/outputDelta":               func() Notification { return new(FileChangeOutputDelta) },
	"item/fileChange/patchUpdated":              func() Notification { return new(FileChangePatchUpdated) },
	"item/mcpToolCall/progress":                 func() Notification { return new(MCPToolCallProgress) },
	"serverRequest/resolved":                    func() Notification { return new(RequestResolved) },
	"item/autoApprovalReview/started":           func() Notification { return new(AutoReviewStarted) },
	"item/autoApprovalReview/completed":         func() Notification { return new(AutoReviewCompleted) },
	"autoApprovalReview/strictReviewRequired":   func() Notification { return new(StrictReviewRequired) },
	"warning":                                   func() Notification { return new(Warning) },
	"guardianWarning":                           func() Notification { return new(GuardianWarning) },
	"deprecationNotice":                         func() Notification { return new(DeprecationNotice) },
	"configWarning":                             func() Notification { return new(ConfigWarning) },
	"mcpServer/startupStatus/updated":           func() Notification { return new(MCPServerStatusUpdated) },
	"mcpServer/oauthLogin/completed":            func() Notification { return new(MCPOAuthLoginCompleted) },
	"account/updated":                           func() Notification { return new(AccountUpdated) },
	"account/login/completed":                   func() Notification { return new(AccountLoginCompleted) },
	"account/rateLimits/updated":                func() Notification { return new(RateLimitsUpdated) },
	"skills/changed":                            func() Notification { return new(SkillsChanged) },
	"remoteControl/status/changed":              func() Notification { return new(RemoteControlStatusChanged) },
}

var notificationNames = notificationTypes.Names()

// Method returns the name of a notification on the wire, such as "turn/started", including unknown
// ones.
func Method(n Notification) string {
	switch n := n.(type) {
	case *UnknownNotification:
		return n.Method
	case *ItemCut:
		return "item/cut"
	}
	return notificationNames[reflect.TypeOf(n)]
}

// Methods returns the names of all notifications that this package has types for, in no
// particular order.
func Methods() []string { return slices.Collect(maps.Keys(notificationTypes)) }

// ThreadOf returns the id of the thread of a notification, or "".
func ThreadOf(n Notification) string {
	if n, ok := n.(*ThreadStarted); ok {
		return n.Thread.ID
	}
	return n.Head().ThreadID
}

// TurnOf returns the id of the turn of a notification, or "".
func TurnOf(n Notification) string {
	switch n := n.(type) {
	case *TurnStarted:
		return n.Turn.ID
	case *TurnCompleted:
		return n.Turn.ID
	}
	return n.Head().TurnID
}

// newNotification decodes a notification from the parts of its line.
func newNotification(e *envelope, line string) Notification {
	create, ok := notificationTypes[e.Method]
	if !ok {
		create = func() Notification { return &UnknownNotification{Method: e.Method, Params: e.Params} }
	}
	n := create()
	if !e.Params.IsNull() {
		// The line has been checked to be JSON, so the part is.
		_ = jsonwire.Unmarshal(string(e.Params), n)
	}
	n.Head().line, n.Head().EmittedAtMs = line, e.EmittedAtMs
	return n
}

// EncodeNotification returns the line of a notification: the original bytes if it was decoded, or
// else its fields.
func EncodeNotification(n Notification) ([]byte, error) {
	if raw := n.Raw(); raw != nil {
		return raw, nil
	}
	var params any = n
	if u, ok := n.(*UnknownNotification); ok {
		params = u.Params
	}
	b, err := jsonwire.Marshal(params)
	if err != nil {
		return nil, err
	}
	line := jsonwire.AppendString([]byte(`{"method":`), Method(n))
	return append(append(append(line, `,"params":`...), b...), '}'), nil
}

// ItemOf returns the id of the item of a notification, or "".
func ItemOf(n Notification) string {
	switch n := n.(type) {
	case *ItemStarted:
		return idOf(n.Item)
	case *ItemCompleted:
		return idOf(n.Item)
	case *ItemCut:
		return idOf(n.Item)
	case *AgentMessageDelta:
		return n.ItemID
	case *PlanDelta:
		return n.ItemID
	case *ReasoningSummaryDelta:
		return n.ItemID
	case *ReasoningSummaryPartAdded:
		return n.ItemID
	case *ReasoningTextDelta:
		return n.ItemID
	case *CommandOutputDelta:
		return n.ItemID
	case *TerminalInteraction:
		return n.ItemID
	case *FileChangeOutputDelta:
		return n.ItemID
	case *FileChangePatchUpdated:
		return n.ItemID
	case *MCPToolCallProgress:
		return n.ItemID
	}
	return ""
}

func idOf(i Item) string {
	if i == nil {
		return ""
	}
	return i.Head().ID
}
