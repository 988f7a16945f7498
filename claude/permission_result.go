package claude

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// PermissionResult is the answer to a [PermissionRequest]: *[Allow], *[Deny],
// *[QuestionAnswer] for questions and *[PlanDecision] for plans. nil is an error, and the
// tool does not run.
type PermissionResult interface {
	answerPermission(p *PermissionRequest) (permissionAnswer, error)
}

// Allow is a [PermissionResult] that allows a tool call. It does not answer questions: an
// Allow of AskUserQuestion without answers in its UpdatedInput is sent as a refusal; see
// [QuestionAnswer].
type Allow struct {
	// UpdatedInput, a JSON object, replaces the input of the tool; "" keeps it.
	UpdatedInput message.JSON
	// UpdatedPermissions change the rules, such as the request's Suggestions.
	UpdatedPermissions []message.PermissionUpdate
	Classification     DecisionClassification
}

// Deny is a [PermissionResult] that denies a tool call. The model reads Message and
// continues, unless Interrupt is set.
type Deny struct {
	// Message is the text that the model reads. If it is empty, the model reads a general
	// sentence.
	Message string
	// Interrupt ends the turn as well. The model then never sees Message.
	Interrupt      bool
	Classification DecisionClassification
}

// DecisionClassification records who made a decision and for how long it holds. Values other
// than the constants are passed on unchanged.
type DecisionClassification string

// The classifications that the CLI currently knows. The decision is in the type of the
// result, not in its classification.
const (
	ClassifiedTemporary DecisionClassification = "user_temporary" // the user, for this call
	ClassifiedPermanent DecisionClassification = "user_permanent" // the user, also for later calls
	ClassifiedReject    DecisionClassification = "user_reject"    // the user refused
)

// deniedMessage is the text that the model reads for a Deny without a message.
const deniedMessage = "Permission to use this tool was denied."

// permissionAnswer is an answer on the wire. It never contains null, because the CLI would
// reject the whole answer.
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

// encode returns the answer of r in the CLI's form.
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
		// Older CLIs require it in every answer.
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

// isObject reports whether j is a JSON object.
func isObject(j message.JSON) bool {
	return jsonwire.NewDecoder(string(j)).Kind() == '{' && validJSON(j)
}
