package item

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Request is a message of the server that the client has to answer. The set of types is closed: one
// with a method that this package does not know is an *[UnknownRequest].
//
//sumtype:decl
type Request interface {
	// Head returns the common fields of requests.
	Head() *Ask
	// Raw returns a copy of the whole line, nil for a request that was not decoded.
	Raw() json.RawMessage

	request()
}

// Ask holds the common fields of the server's requests. ID is the JSON of the request's id.
type Ask struct {
	ID          JSON   `json:"-"`
	ThreadID    string `json:"threadId,omitempty"`
	TurnID      string `json:"turnId,omitempty"`
	ItemID      string `json:"itemId,omitempty"`
	StartedAtMs int64  `json:"startedAtMs,omitempty"`

	line string
}

// Head returns a. It implements [Request] for all types that embed an Ask.
func (a *Ask) Head() *Ask { return a }

// Raw returns a copy of the whole line, nil for a request that was not decoded.
func (a *Ask) Raw() json.RawMessage { return JSON(a.line).Bytes() }

func (*Ask) request() {}

// CommandApproval asks whether a command may run. The answer is a decision. The item with the same
// ItemID is the command. AvailableDecisions suggests buttons for a user interface; other decisions
// are accepted too.
type CommandApproval struct {
	Ask
	Kind                            string             `json:"kind,omitempty"`
	ApprovalID                      string             `json:"approvalId,omitempty"`
	Command                         string             `json:"command,omitempty"`
	CWD                             string             `json:"cwd,omitempty"`
	Reason                          string             `json:"reason,omitempty"`
	CommandActions                  []CommandAction    `json:"commandActions,omitempty"`
	AvailableDecisions              []JSON             `json:"availableDecisions,omitempty"`
	AdditionalPermissions           JSON               `json:"additionalPermissions,omitempty"`
	NetworkApprovalContext          JSON               `json:"networkApprovalContext,omitempty"`
	ProposedExecpolicyAmendment     []string           `json:"proposedExecpolicyAmendment,omitempty"`
	ProposedNetworkPolicyAmendments []NetworkAmendment `json:"proposedNetworkPolicyAmendments,omitempty"`
	EnvironmentID                   string             `json:"environmentId,omitempty"`
}

// NetworkAmendment is a rule for a host that the server proposes to store: to allow or to deny it.
type NetworkAmendment struct {
	Host   string `json:"host"`
	Action string `json:"action"`
}

// FileChangeApproval asks whether a patch may be applied. The patch is not in the request but in the
// item with the same ItemID, which precedes it. The answer is a decision.
type FileChangeApproval struct {
	Ask
	Reason    string `json:"reason,omitempty"`
	GrantRoot string `json:"grantRoot,omitempty"`
}

// PermissionsApproval asks for more permissions, of which a part can be granted, for the
// turn or for the session.
type PermissionsApproval struct {
	Ask
	CWD           string `json:"cwd"`
	Reason        string `json:"reason,omitempty"`
	Permissions   JSON   `json:"permissions"`
	EnvironmentID string `json:"environmentId,omitempty"`
}

// UserInputRequest asks the user questions. Unless IsBlocking is set, the agent continues without
// waiting for the answers.
type UserInputRequest struct {
	Ask
	Questions        []Question `json:"questions"`
	IsBlocking       bool       `json:"isBlocking"`
	AutoResolutionMs *int64     `json:"autoResolutionMs,omitempty"`
}

// Question is one question. Answers are by ID. With IsOther a free text answer is possible; an
// answer to a question with IsSecret must not be shown or stored.
type Question struct {
	ID       string   `json:"id"`
	Header   string   `json:"header"`
	Question string   `json:"question"`
	Options  []Option `json:"options,omitempty"`
	IsOther  bool     `json:"isOther,omitempty"`
	IsSecret bool     `json:"isSecret,omitempty"`
}

// Option is an answer that a user can choose: a short label and an explanation.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// ElicitationRequest is a question of an MCP server to the user: a form, an address to open, or a
// mode of the vendor. The server also uses it to ask whether a tool of an MCP server may run: see
// [ElicitationRequest.Approval].
type ElicitationRequest struct {
	Ask
	ServerName      string `json:"serverName"`
	Mode            string `json:"mode"` // form, url, openai/form, openai/userVerification
	Message         string `json:"message,omitempty"`
	RequestedSchema JSON   `json:"requestedSchema,omitempty"`
	URL             string `json:"url,omitempty"`
	ElicitationID   string `json:"elicitationId,omitempty"`
	Title           string `json:"title,omitempty"`
	Description     string `json:"description,omitempty"`
	Challenge       string `json:"challenge,omitempty"`
	Meta            JSON   `json:"_meta,omitempty"`
}

// ApprovalMeta is the _meta of an elicitation that is an approval. Persist is "session", "always",
// or a list of them.
type ApprovalMeta struct {
	Kind            string `json:"codex_approval_kind"`
	Persist         JSON   `json:"persist,omitempty"`
	ToolTitle       string `json:"tool_title,omitempty"`
	ToolDescription string `json:"tool_description,omitempty"`
	ToolParams      JSON   `json:"tool_params,omitempty"`
	ConnectorName   string `json:"connector_name,omitempty"`
}

// Approval reports whether the elicitation is an approval of a tool, and returns its metadata. An
// approval must not be shown as a question of the MCP server, because accepting it runs the tool.
func (r *ElicitationRequest) Approval() (ApprovalMeta, bool) {
	var m ApprovalMeta
	var kind struct {
		Value JSON `json:"codex_approval_kind"`
	}
	if r.Meta.IsNull() || DecodeValue(r.Meta, &m) != nil || DecodeValue(r.Meta, &kind) != nil {
		return m, false
	}
	return m, !kind.Value.IsNull() // also for an unknown kind, which is not a question
}

// ToolCallRequest asks the client to run a tool that the client defined when it started the thread.
type ToolCallRequest struct {
	Ask
	CallID    string `json:"callId"`
	Namespace string `json:"namespace,omitempty"`
	Tool      string `json:"tool"`
	Arguments JSON   `json:"arguments"`
}

// AuthTokensRefresh asks the client for new tokens, if the client holds the login instead of the
// server.
type AuthTokensRefresh struct {
	Ask
	Reason            string `json:"reason"`
	PreviousAccountID string `json:"previousAccountId,omitempty"`
}

// AttestationGenerate asks the client for an attestation. It has no members besides those of
// [Ask].
type AttestationGenerate struct{ Ask }

// CurrentTimeRead asks the client for the current time. It has no members besides those of
// [Ask].
type CurrentTimeRead struct{ Ask }

// ApplyPatchApproval asks for approval of a patch in the form of older servers; newer ones send
// a FileChangeApproval.
type ApplyPatchApproval struct {
	Ask
	ConversationID string `json:"conversationId"`
	CallID         string `json:"callId"`
	FileChanges    JSON   `json:"fileChanges"`
	Reason         string `json:"reason,omitempty"`
	GrantRoot      string `json:"grantRoot,omitempty"`
}

// ExecCommandApproval asks for approval of a command in the form of older servers; newer ones
// send a CommandApproval.
type ExecCommandApproval struct {
	Ask
	ConversationID string   `json:"conversationId"`
	CallID         string   `json:"callId"`
	ApprovalID     string   `json:"approvalId,omitempty"`
	Command        []string `json:"command"`
	CWD            string   `json:"cwd"`
	Reason         string   `json:"reason,omitempty"`
	ParsedCmd      JSON     `json:"parsedCmd"`
}

// UnknownRequest is a request with an unknown method. Raw returns all of it.
type UnknownRequest struct {
	Ask
	Method string `json:"-"`
	Params JSON   `json:"-"`
}

// requestTypes is the decode table of requests.
var requestTypes = jsonwire.Table[Request]{
	"item/commandExecution/requestApproval": func() Request { return new(CommandApproval) },
	"item/fileChange/requestApproval":       func() Request { return new(FileChangeApproval) },
	"item/permissions/requestApproval":      func() Request { return new(PermissionsApproval) },
	"item/tool/requestUserInput":            func() Request { return new(UserInputRequest) },
	"mcpServer/elicitation/request":         func() Request { return new(ElicitationRequest) },
	"item/tool/call":                        func() Request { return new(ToolCallRequest) },
	"account/chatgptAuthTokens/refresh":     func() Request { return new(AuthTokensRefresh) },
	"attestation/generate":                  func() Request { return new(AttestationGenerate) },
	"currentTime/read":                      func() Request { return new(CurrentTimeRead) },
	"applyPatchApproval":                    func() Request { return new(ApplyPatchApproval) },
	"execCommandApproval":                   func() Request { return new(ExecCommandApproval) },
}

var requestNames = requestTypes.Names()

// RequestMethod returns the name of a request on the wire, such as "item/tool/call", including
// unknown ones.
func RequestMethod(r Request) string {
	if u, ok := r.(*UnknownRequest); ok {
		return u.Method
	}
	return requestNames[reflect.TypeOf(r)]
}

// RequestMethods returns the names of all requests that this package has types for, in no
// particular order.
func RequestMethods() []string { return slices.Collect(maps.Keys(requestTypes)) }

// newRequest decodes a request from the parts of its line.
func newRequest(e *envelope, line string) Request {
	create, ok := requestTypes[e.Method]
	if !ok {
		create = func() Request { return &UnknownRequest{Method: e.Method, Params: e.Params} }
	}
	r := create()
	if !e.Params.IsNull() {
		_ = jsonwire.Unmarshal(string(e.Params), r)
	}
	r.Head().line, r.Head().ID = line, e.ID
	return r
}
