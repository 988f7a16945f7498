package server

import (
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/session"
)

// read parses the payload of an answer. Anything but an explicit approval is a refusal, and anything
// but an object with members leaves a question without answers.
func (a *runAnswer) read(payload json.RawMessage) {
	var members map[string]json.RawMessage // a struct would also accept names in other case
	if json.Unmarshal(payload, &members) != nil {
		return
	}
	a.approved = string(members["approved"]) == "true"
	_ = json.Unmarshal(members["reason"], &a.reason) // a reason that is not a string is ignored
	if string(members["approved"]) != "false" {
		a.answers = filledObject(members["answers"])
	}
	if edited, ok := members["editedArgs"]; ok {
		a.input = filledObject(edited)
		a.approved = a.approved && a.input != ""
	}
}

// filledObject returns a JSON object with members; any other value is absent.
func filledObject(value json.RawMessage) event.JSON {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || len(members) == 0 {
		return ""
	}
	return event.NewJSON(string(value))
}

// The JSON before and after the text of a text block.
const (
	textHead = `{"text":`
	textTail = `,"type":"text"}`
)

func textBlock(text string) event.JSON { return textHead + event.Quote(text) + textTail }

// fileBlock returns a file of a prompt as a block.
func fileBlock(mediaType, base64 string) (event.JSON, error) {
	kind := "document"
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		kind = "image"
	case mediaType != "application/pdf":
		return "", session.Invalid("a file of type %.50q is not supported; send an image, a PDF or text", mediaType)
	}
	return event.Encoded(map[string]any{"type": kind, "source": map[string]string{"type": "base64", "media_type": mediaType, "data": base64}}), nil
}
