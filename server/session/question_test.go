package session

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestQuestionReply checks every action with every kind of answers: a question is accepted only with an object that has members.
func TestQuestionReply(t *testing.T) {
	ev := &event.QuestionRequest{Kind: event.QuestionAsk}
	ev.RequestID = "r"
	p, ok := event.NewPrompt(ev)
	if !ok {
		t.Fatal("a question is no prompt")
	}
	c := &core{Requests: []pendingPrompt{{Prompt: p}}}
	for _, answers := range []event.JSON{``, `null`, `{}`, `[]`, `["a"]`, `"a"`, `1`, `true`, `{"q":"a"}`, `{"q":["a","b"]}`} {
		filled := answers != "" && answers[0] == '{' && answers != `{}`
		for action, valid := range map[string]bool{"accept": filled, "decline": true, "cancel": true, "": false, "allow": false, "Accept": false} {
			got, err := c.questionReply(api.QuestionRespondParams{RequestID: "r", Action: action, Answers: answers}, "by")
			if (err == nil) != valid {
				t.Errorf("%q with the answers %s: %v, want it valid: %v", action, answers, err, valid)
			}
			if a, ok := got.answer.(*agent.QuestionAnswer); err == nil && (!ok || a.Declined != (action != "accept")) {
				t.Errorf("%q with the answers %s is %+v for the agent, want it declined: %v", action, answers, got.answer, action != "accept")
			}
		}
	}
}
