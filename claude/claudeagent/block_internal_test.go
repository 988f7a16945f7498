package claudeagent

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// A block of any type is decoded, and an invalid block is an error.
func TestBlock(t *testing.T) {
	text, err := block(json.RawMessage(`{"type":"text","text":"hi"}`))
	if b, ok := text.(*message.Text); err != nil || !ok || b.Text != "hi" {
		t.Errorf("%#v, %v; want err == nil and ok and b.Text == \"hi\"", text, err)
	}
	image, err := block(json.RawMessage(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`))
	if _, ok := image.(*message.Image); err != nil || !ok {
		t.Errorf("%#v, %v; want err == nil and ok", image, err)
	}
	if _, err := block(json.RawMessage(`"hi"`)); err == nil {
		t.Error("a string is taken for a block")
	}
}
