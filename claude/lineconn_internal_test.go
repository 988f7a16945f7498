package claude

import (
	"strings"
	"testing"
)

// An answer and a prompt have the same id whenever they are written, so that a host writes each of
// them once. All other lines get a new id each time.
func TestLineID(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"deny"}}}`: "answer-r1",
		`{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"no"}}`:                     "answer-r1",
		`{"type":"user","uuid":"u1","message":{"role":"user","content":"go"}}`:                                          "prompt-u1",
	} {
		if got := lineID(line); got != want {
			t.Errorf("%s has the id %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{
		`{"type":"control_request","request_id":"i1","request":{"subtype":"interrupt"}}`,
		`{"type":"user","message":{"role":"user","content":"go"}}`, `{"type":"user","uuid":"` + strings.Repeat("u", 300) + `"}`,
	} {
		if a, b := lineID(line), lineID(line); a == b || !strings.HasPrefix(a, "line-") {
			t.Errorf("%.80s has the ids %q and %q", line, a, b)
		}
	}
}
