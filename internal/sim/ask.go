package sim

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// errNobody is returned if no user can be asked.
var errNobody = errors.New("no user can be asked here")

// answer is the answer to a permission request.
type answer struct {
	Behavior     string       `json:"behavior"`
	Message      string       `json:"message"`
	UpdatedInput message.JSON `json:"updatedInput"`
}

// ask asks whether a tool may run. It returns errNobody if no user can be asked, and
// errInterrupted if the turn was interrupted meanwhile.
func (t *turn) ask(id, tool string, input any, more map[string]any) (*answer, error) {
	if name, _ := t.a.cli.Flag("permission-prompt-tool"); name != "stdio" {
		return nil, errNobody
	}
	fields := map[string]any{"tool_name": tool, "display_name": tool, "input": input, "tool_use_id": id}
	maps.Copy(fields, more)
	t.a.tell(message.StateRequiresAction)
	pending := t.a.cli.StartRequest("can_use_tool", fields)
	select {
	case <-pending.Done():
	case <-t.ctx.Done():
		pending.Cancel()
		return nil, errInterrupted
	}
	t.a.tell(message.StateRunning)
	text, err := pending.Wait()
	if err != nil {
		return nil, err
	}
	a := &answer{}
	return a, json.Unmarshal(text, a)
}

// asking returns a call that asks before it runs.
func (c call) asking() call {
	c.asks = true
	return c
}

// askingAlways returns a call that asks each time.
func (c call) askingAlways() call {
	c.asks, c.again = true, true
	return c
}

// permitted asks for permission if the call needs it. Its error is the outcome of the
// call.
func (t *turn) permitted(id string, c call) error {
	t.a.mu.Lock()
	asks := c.asks && (c.again || !t.a.asked)
	t.a.mu.Unlock()
	if !asks {
		return nil
	}
	a, err := t.ask(id, c.name, c.input, map[string]any{"description": "The simulated agent asks once.", "permission_suggestions": []message.PermissionUpdate{{
		Type: message.UpdateAddRules, Rules: []message.PermissionRule{{ToolName: c.name}}, Behavior: message.BehaviorAllow, Destination: message.DestinationSession}}})
	switch {
	case errors.Is(err, errNobody):
		return nil // parley run asks no user, and the tour continues
	case err != nil:
		return err
	case a.Behavior != "allow":
		return errors.New(a.Message)
	}
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.asked = true
	return nil
}

var colours = tool.AskUserQuestionInput{Questions: []tool.Question{
	{Question: "Which colour?", Header: "Colour", Options: []tool.QuestionOption{{Label: "Red", Description: "like a rose", Preview: "colour:\n  name: red\n  code: \"#b3261e\""}, {Label: "Blue", Description: "like the sea", Preview: "colour:\n  name: blue\n  code: \"#1e5fb3\""}}},
	{Question: "Which days?", Header: "Days", MultiSelect: true, Options: []tool.QuestionOption{{Label: "Monday"}, {Label: "Tuesday"}, {Label: "Friday"}}},
}}

// askTour asks questions and shows a plan.
func askTour(t *turn) error {
	return steps(func() error { return questionTour(t) }, func() error { return planTour(t) })
}

// questionTour asks questions.
func questionTour(t *turn) error {
	said := "You answered:\n"
	question := call{name: tool.AskUserQuestion, input: members(colours)}
	question.run = t.interview(question, func(a *answer) string {
		var in tool.AskUserQuestionInput
		_ = a.UpdatedInput.Decode(&in) // no answers then
		for _, q := range colours.Questions {
			said += "\n- " + q.Question + " " + in.Answers[q.Question]
		}
		return "The user has answered."
	})
	return steps(t.useStep(hello+"I have two questions.", question), func() error { return t.say(said) })
}

// planTour shows a plan.
func planTour(t *turn) error {
	plan := call{name: tool.ExitPlanMode, input: map[string]any{"plan": "# Plan\n\n1. Paint it.\n2. Let it dry."}}
	approved := "The plan was not approved."
	plan.run = t.interview(plan, func(*answer) string {
		approved = "The plan was approved."
		return approved
	})
	return steps(t.useStep(hello+"I have a plan.", plan), func() error { return t.say(approved) })
}

// interview returns the run function of a call that only asks.
func (t *turn) interview(c call, then func(*answer) string) func(context.Context, string) (string, error) {
	return func(_ context.Context, id string) (string, error) {
		a, err := t.ask(id, c.name, c.input, map[string]any{"requires_user_interaction": true})
		switch {
		case err != nil:
			return "", err
		case a.Behavior != "allow":
			return "", errors.New(a.Message)
		}
		return then(a), nil
	}
}

func members(v any) (m map[string]any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		panic(err) // a fixed value
	}
	return m
}
