package message_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// Content is read by encoding/json as it is by Decode, and written as it was read.
func TestContent_JSON(t *testing.T) {
	for text, want := range map[string]string{
		`"hi"`: "hi",
		`[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]`: "ab",
		`null`: "",
	} {
		var c message.Content
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.String() != want {
			t.Errorf("%s: %q, %v", text, c.String(), err)
		}
		if again, err := json.Marshal(c); text != "null" && (err != nil || string(again) != text) {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
	var c message.Content
	if err := json.Unmarshal([]byte(`{"type":"text"}`), &c); err == nil {
		t.Error("an object is taken for content")
	}
}
