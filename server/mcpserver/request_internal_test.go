package mcpserver

import "testing"

// TestQuestionAnswer checks that a question is accepted only with answers.
func TestQuestionAnswer(t *testing.T) {
	some := map[string]string{"q": "a"}
	for _, tt := range []struct {
		allow   bool
		answers map[string]string
		want    string
	}{{true, some, "accept"}, {true, nil, "decline"}, {true, map[string]string{}, "decline"}, {false, some, "decline"}, {false, nil, "decline"}} {
		got := questionAnswer(answerIn{SessionID: "s", RequestID: "r", Allow: tt.allow, Answers: tt.answers})
		if got.Action != tt.want || (got.Answers != "") != (tt.want == "accept") || got.SessionID != "s" || got.RequestID != "r" {
			t.Errorf("allow %v with the answers %v is %+v, want %s", tt.allow, tt.answers, got, tt.want)
		}
	}
}
