package claudeagent

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
)

// A note to an answer reaches the CLI as an annotation of the question, and the answer stays the label of an option.
func TestQuestion_notes(t *testing.T) {
	result, response, err := question(&agent.QuestionAnswer{Answers: json.RawMessage(`{"Which?":"Red"}`), Notes: map[string]string{"Which?": "but pale"}})
	if err != nil {
		t.Fatal(err)
	}
	a, ok := result.(*claude.QuestionAnswer)
	if !ok || a.Answers["Which?"] != "Red" || a.Annotations["Which?"].Notes != "but pale" {
		t.Errorf("the CLI gets %+v, want the answer Red and the note", result)
	}
	const want = `{"annotations":{"Which?":{"notes":"but pale"}},"answers":{"Which?":"Red"}}`
	if got, err := json.Marshal(response.UpdatedInput); err != nil || string(got) != want {
		t.Errorf("the log has %s, %v, want %s", got, err, want)
	}
}
