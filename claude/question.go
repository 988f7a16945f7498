package claude

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// QuestionRequest holds one to four questions that the agent asks the user with the tool
// AskUserQuestion, each with options.
type QuestionRequest struct {
	Questions []tool.Question
	*PermissionRequest
}

// QuestionAnswer answers a [QuestionRequest]. Every question must be answered or skipped with
// [QuestionAnswer.Skip]; otherwise sending it is an error, and the agent does not get the
// answers.
type QuestionAnswer struct {
	// Answers maps the text of a question to its answer: the label of an option or any other
	// text. Several labels are separated by a comma. See [QuestionAnswer.Choose].
	Answers map[string]string
	// Annotations maps the text of a question to its annotation.
	Annotations map[string]tool.QuestionAnnotation
	// Declined means that the user does not want to answer. Message is the text that the agent
	// then reads, by default a general sentence; Interrupt also ends the turn.
	Declined  bool
	Message   string
	Interrupt bool
}

// Sentences that the model reads.
const (
	unansweredMessage = "The user was not asked: the tool was allowed, but the question was not answered."
	declinedMessage   = "The user declined to answer."
	skippedAnswer     = "(the user skipped this question)"
)

// Choose answers a question, given by its text, with one or more labels of its options or with
// other texts.
func (a *QuestionAnswer) Choose(question string, answers ...string) {
	if a.Answers == nil {
		a.Answers = map[string]string{}
	}
	a.Answers[question] = strings.Join(answers, ", ")
}

// Skip leaves a question, given by its text, without an answer. The agent learns that the
// question was skipped.
func (a *QuestionAnswer) Skip(question string) {
	if a.Annotations == nil {
		a.Annotations = map[string]tool.QuestionAnnotation{}
	}
	note := a.Annotations[question]
	note.Unanswered = "skipped"
	a.Annotations[question] = note
}

func (p *PermissionRequest) asksQuestion() bool {
	return tool.Canonical(p.ToolName) == tool.AskUserQuestion
}

func newQuestionRequest(p *PermissionRequest) *QuestionRequest {
	return &QuestionRequest{Questions: questions(p.Input).Questions, PermissionRequest: p}
}

// questions decodes the input of AskUserQuestion, as far as it is valid.
func questions(input message.JSON) (in tool.AskUserQuestionInput) {
	_ = jsonwire.Unmarshal(string(input), &in) // malformed input has no questions
	return in
}

// answersItself reports whether an updated input has answers that the input does not have.
// Answers in the input come from the model, not from the user.
func answersItself(input, updated message.JSON) bool {
	if updated == "" {
		return false
	}
	answers := questions(updated).Answers
	return len(answers) > 0 && !reflect.DeepEqual(answers, questions(input).Answers)
}

func (a *QuestionAnswer) answerPermission(p *PermissionRequest) (permissionAnswer, error) {
	switch {
	case a == nil:
		return permissionAnswer{}, errNilResult
	case !p.asksQuestion():
		return permissionAnswer{}, fmt.Errorf("claude: a QuestionAnswer is not an answer to a request for %s", p.ToolName)
	case a.Declined:
		d := &Deny{Message: a.Message, Interrupt: a.Interrupt}
		d.Message = cmp.Or(d.Message, declinedMessage)
		return d.answerPermission(p)
	}
	answers, err := a.complete(questions(p.Input).Questions)
	if err != nil {
		return permissionAnswer{}, err
	}
	updated, err := jsonwire.Overlay(string(p.Input), struct {
		Answers     map[string]string                  `json:"answers"`
		Annotations map[string]tool.QuestionAnnotation `json:"annotations,omitempty"`
	}{answers, a.annotations(p.tellsUnanswered)})
	if err != nil {
		return permissionAnswer{}, err
	}
	return (&Allow{UpdatedInput: message.JSON(updated)}).answer(p)
}

// complete returns the answers, one for each question, or an error.
func (a *QuestionAnswer) complete(asked []tool.Question) (map[string]string, error) {
	answers := maps.Clone(a.Answers)
	if answers == nil {
		answers = map[string]string{}
	}
	for _, q := range asked {
		if answers[q.Question] != "" {
			continue
		}
		if a.Annotations[q.Question].Unanswered == "" {
			return nil, fmt.Errorf("claude: QuestionAnswer has no answer to %q", q.Question)
		}
		answers[q.Question] = skippedAnswer
	}
	if len(answers) == 0 {
		return nil, errors.New("claude: QuestionAnswer has no answers")
	}
	return answers, nil
}

// annotations returns the annotations that the CLI accepts: an older CLI refuses an answer with
// an annotation of a skipped question.
func (a *QuestionAnswer) annotations(tellsUnanswered bool) map[string]tool.QuestionAnnotation {
	out := map[string]tool.QuestionAnnotation{}
	for q, note := range a.Annotations {
		if !tellsUnanswered {
			note.Unanswered = ""
		}
		if note != (tool.QuestionAnnotation{}) {
			out[q] = note
		}
	}
	return out
}
