package session

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
)

// An answer is the same after it was in the log, also without its optional members.
func TestKeptAnswer(t *testing.T) {
	object := json.RawMessage(`{"a":null}`)
	for _, want := range []agent.Answer{
		&agent.PermissionAnswer{}, &agent.PermissionAnswer{Allow: true, Choice: "c", Scope: "turn", UpdatedInput: object, UpdatedPermissions: object},
		&agent.PlanAnswer{}, &agent.PlanAnswer{Approve: true, Mode: "plan", Plan: "p"},
		&agent.QuestionAnswer{}, &agent.QuestionAnswer{Answers: object},
		&agent.ElicitationAnswer{}, &agent.ElicitationAnswer{Action: "accept", Content: object},
	} {
		kept := newKeptAnswer("r1", want)
		if kept == nil {
			t.Errorf("%#v cannot be kept", want)
			continue
		}
		text, err := json.Marshal(kept)
		var read keptAnswer
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.answer()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, -want +got\n%s", text, err, diff)
		}
	}
}
