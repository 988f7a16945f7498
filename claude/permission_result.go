package claude

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// PermissionResult is the answer to a [PermissionRequest]: *[Allow], *[Deny], and
// *[QuestionAnswer] and *[PlanDecision] for the requests that they are for. A nil
// one is an error, and the tool does not run.
type PermissionResult interface {
	answerPermission(p *PermissionRequest) (permissionAnswer, error)
}

// Allow lets a tool run. It does not answer questions: an Allow of AskUserQuestion
// whose UpdatedInput has no answers is sent as a refusal; see [QuestionAnswer].
type Allow struct {
	// UpdatedInput, a JSON object, is what the tool runs with; "" is the input
	// that was asked about.
	UpdatedInput message.JSON
	// UpdatedPermissions change the rules, such as the request's Suggestions.
	UpdatedPermissions []message.PermissionUpdate
	Classification     DecisionClassification
}

// Deny is a [PermissionResult] that keeps the tool from running. The model reads Message and
// goes on, unless Interrupt is set.
type Deny struct {
	// Message is the text that the model reads. If it is empty, the model reads a general
	// sentence.
	Message string
	// Interrupt ends the turn as well. The model then never sees Message.
	Interrupt      bool
	Classification DecisionClassification
}

// DecisionClassification records who made a decision and for how long it holds. Other values
// than the constants are passed on as they are.
type DecisionClassification string

// The classifications that the CLI knows today. The decision itself is in the type of the
// result, not in its classification.
const (
	ClassifiedTemporary DecisionClassification = "user_temporary" // the user, for this call
	ClassifiedPermanent DecisionClassification = "user_permanent" // the user, for calls to come as well
	ClassifiedReject    DecisionClassification = "user_reject"    // the user said no
)

// deniedMessage is the text that the model reads for a Deny without a message.
const deniedMessage = "Permission to use this tool was denied."

// permissionAnswer is an answer on the wire. Nothing in it is ever null: the CLI
// would take the whole of it for a mistake.
type permissionAnswer struct {
	Behavior           string                     `json:"behavior"`
	Message            string                     `json:"message,omitempty"`
	Interrupt          bool                       `json:"interrupt,omitempty"`
	UpdatedInput       message.JSON               `json:"updatedInput,omitempty"`
	UpdatedPermissions []message.PermissionUpdate `json:"updatedPermissions,omitempty"`
	Classification     DecisionClassification     `json:"decisionClassification,omitempty"`
	ToolUseID          string                     `json:"toolUseID,omitempty"`
}

var (
	errNilResult = errors.New("claude: the permission callback gave no answer")
	errNotObject = errors.New("is not a JSON object")
)

// encode is the answer of r as the CLI wants it.
func (p *PermissionRequest) encode(r PermissionResult) ([]byte, error) {
	if r == nil {
		return nil, errNilResult
	}
	a, err := r.answerPermission(p)
	if err != nil {
		return nil, err
	}
	a.ToolUseID = p.ToolUseID
	return jsonwire.Marshal(a)
}

func (r *Allow) answerPermission(p *PermissionRequest) (permissionAnswer, error) {
	if r == nil {
		return permissionAnswer{}, errNilResult
	}
	if p.asksQuestion() && !answersItself(p.Input, r.UpdatedInput) {
		return (&Deny{Message: unansweredMessage}).answerPermission(p)
	}
	return r.answer(p)
}

func (r *Allow) answer(p *PermissionRequest) (permissionAnswer, error) {
	a := permissionAnswer{Behavior: "allow", UpdatedInput: r.UpdatedInput, UpdatedPermissions: r.UpdatedPermissions, Classification: r.Classification}
	if a.UpdatedInput == "" {
		// Older CLIs want it in every answer.
		if a.UpdatedInput = p.Input; !isObject(p.Input) {
			a.UpdatedInput = ""
		}
		return a, nil
	}
	if !isObject(a.UpdatedInput) {
		return a, fmt.Errorf("claude: Allow.UpdatedInput of %s %w", p.ToolName, errNotObject)
	}
	return a, nil
}

func (r *Deny) answerPermission(*PermissionRequest) (permissionAnswer, error) {
	if r == nil {
		return permissionAnswer{}, errNilResult
	}
	a := permissionAnswer{Behavior: "deny", Message: r.Message, Interrupt: r.Interrupt, Classification: r.Classification}
	a.Message = cmp.Or(a.Message, deniedMessage)
	return a, nil
}

// isObject reports whether j is a JSON object, and nothing else.
func isObject(j message.JSON) bool {
	return jsonwire.NewDecoder(string(j)).Kind() == '{' && validJSON(j)
}
