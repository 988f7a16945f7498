package claude

import (
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// Content is sent only with an accepted form: the page of a URL has its own.
func TestElicitationRequest_encode(t *testing.T) {
	content := map[string]any{"a": 1}
	for _, c := range []struct {
		mode    message.ElicitationMode
		action  message.ElicitationAction
		content map[string]any
		want    string
	}{
		{message.ElicitationForm, message.ElicitationAccept, content, `{"action":"accept","content":{"a":1}}`},
		{message.ElicitationForm, message.ElicitationAccept, nil, `{"action":"accept","content":{}}`},
		{"", message.ElicitationAccept, content, `{"action":"accept","content":{"a":1}}`},
		{message.ElicitationForm, message.ElicitationDecline, content, `{"action":"decline"}`},
		{message.ElicitationForm, message.ElicitationCancel, content, `{"action":"cancel"}`},
		{message.ElicitationURL, message.ElicitationAccept, content, `{"action":"accept"}`},
		{message.ElicitationURL, message.ElicitationAccept, nil, `{"action":"accept"}`},
		{message.ElicitationURL, message.ElicitationDecline, content, `{"action":"decline"}`},
		{message.ElicitationForm, "other", content, ""},
	} {
		e := &ElicitationRequest{Mode: c.mode}
		got, err := e.encode(&ElicitationResult{Action: c.action, Content: c.content})
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s with %v: %s, %v, want %s", c.mode, c.action, c.content, got, err, c.want)
		}
	}
	if _, err := (&ElicitationRequest{}).encode(nil); err == nil {
		t.Error("no answer is one")
	}
}
