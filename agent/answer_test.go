package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
)

// TestQuestionAnswer_joined checks that notes are added to the answers for an agent without a field
// for notes.
func TestQuestionAnswer_joined(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers string
		notes   map[string]string
		want    string
	}{
		{"no notes", `{"Which?":"Red"}`, nil, `{"Which?":"Red"}`},
		{"a note", `{"When?":["Mo","Tu"],"Which?":"Red"}`, map[string]string{"Which?": "but pale"}, `{"When?":["Mo","Tu"],"Which?":"Red, but pale"}`},
		{"a note to no answer", `{"Which?":""}`, map[string]string{"Which?": "pale"}, `{"Which?":"pale"}`},
		{"a note to another question", `{"Which?":"Red"}`, map[string]string{"Why?": "so"}, `{"Which?":"Red"}`},
		{"no object", `7`, map[string]string{"Which?": "pale"}, `7`},
	} {
		a := &agent.QuestionAnswer{Answers: json.RawMessage(tt.answers), Notes: tt.notes}
		if got := string(a.Joined()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
