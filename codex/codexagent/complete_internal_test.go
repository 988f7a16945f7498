package codexagent

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// TestComplete_output checks that a result has a structured output if one was requested, the turn
// succeeded, and its text is JSON.
func TestComplete_output(t *testing.T) {
	for _, tt := range []struct {
		schema item.JSON
		failed bool
		text   string
		want   event.JSON
	}{
		{`{}`, false, `{"a":1}`, `{"a":1}`}, {`{}`, false, `7`, `7`}, {"", false, `{"a":1}`, ""}, {`{}`, true, `{"a":1}`, ""}, {`{}`, false, `words`, ""}, {`{}`, false, ``, ""}, {"", true, "words", ""},
	} {
		s := &Session{provider: &Provider{OutputSchema: tt.schema}}
		r := &event.ResultMessage{Result: tt.text, IsError: tt.failed}
		if s.complete(r); r.StructuredOutput != tt.want {
			t.Errorf("with the schema %q, failed %v, the output of %q is %q, want %q", tt.schema, tt.failed, tt.text, r.StructuredOutput, tt.want)
		}
	}
}
