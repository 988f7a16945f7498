package claude_test

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
)

// officialAnswer is the n-th line of the official SDK's input as this SDK would
// write it where it is an answer to a request for permission and a rule lets the
// two differ; "" if it would not write it.
func (c *comparison) officialAnswer(n int, line string) string {
	for _, a := range c.call.Answers {
		if a.AnswerLine != n || a.Subtype != "can_use_tool" {
			continue
		}
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			c.t.Fatal(err)
		}
		response, _ := l["response"].(map[string]any)
		body, _ := response["response"].(map[string]any)
		switch {
		case a.CancelledByLine > 0 && c.allowed("a request that was taken back is not answered"):
			return ""
		case body["behavior"] == "allow" && body["updatedInput"] == nil && c.allowed("an Allow says what runs"):
			body["updatedInput"] = c.askedInput(a)
		case body != nil && body["behavior"] != "allow" && body["behavior"] != "deny" && c.allowed("nonsense is an error"):
			delete(response, "response")
			response["subtype"], response["error"] = "error", claudetest.ErrUnsayable.Error()
		}
		text, err := json.Marshal(l)
		if err != nil {
			c.t.Fatal(err)
		}
		return string(text)
	}
	return line
}

// askedInput is what the tool of a request would have run with.
func (c *comparison) askedInput(a claudetest.Answer) any {
	var l struct {
		Request struct {
			Input claude.JSON `json:"input"`
		} `json:"request"`
	}
	if err := json.Unmarshal([]byte(c.proc.Stdout[a.Line-1]), &l); err != nil {
		c.t.Fatal(err)
	}
	return l.Request.Input.Value()
}
