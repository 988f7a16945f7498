package chat

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

const formSchema = `{"type":"object","required":["name","size"],"properties":{
	"name":{"type":"string","title":"Your name","minLength":2,"maxLength":5},
	"size":{"type":"string","enum":["s","l"],"enumNames":["Small","Large"]},
	"count":{"type":"integer","minimum":1,"maximum":9,"default":3},
	"ratio":{"type":"number"},
	"sure":{"type":"boolean","description":"Are you sure?"},
	"mail":{"type":"string","format":"email"},
	"many":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"a","title":"A"},{"const":"b"},{"const":"c"}]}}}}`

// A form is filled in field by field, in the order of its schema. After an invalid line the form
// asks again.
func TestForm(t *testing.T) {
	for _, tt := range []struct {
		name, lines string // "?" after a line that is not understood
		action      string
		content     string
	}{
		{"whole", "y|Ada|2|7|0.5|yes|a@example.org|1,3", "accept", `{"count":7,"mail":"a@example.org","many":["a","c"],"name":"Ada","ratio":0.5,"size":"l","sure":true}`},
		{"skipped", "y|Ada|Small|-|-|-|-|-", "accept", `{"count":3,"name":"Ada","size":"s"}`},
		{"wrong", "perhaps?|y|A?|Ada Ada?|-? |Ada|3?|1,2?|-?|1|0?|10?|x?|1|x?|inf?|-Infinity?|nan?|1e999?|1|maybe?|n|nobody?|-|1,2,3?|4?|b", "accept", `{"count":1,"many":["b"],"name":"Ada","ratio":1,"size":"s","sure":false}`},
		{"declined", "n", "decline", ""},
		{"cancelled", "c", "cancel", ""},
		{"declined later", "y|Ada|/n", "decline", ""},
		{"cancelled later", "y|/c", "cancel", ""},
		{"a text like a command", "y| /n|/c", "cancel", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _, shown := testLoop(t)
			a := c.elicitation(&event.QuestionRequest{Kind: event.QuestionElicitation, MCPServerName: "demo", Message: "Who?", Schema: formSchema})
			a.show()
			var got agent.Answer
			for line := range strings.SplitSeq(tt.lines, "|") {
				if got != nil {
					t.Fatalf("answered before %q", line)
				}
				text, wrong := strings.CutSuffix(strings.TrimRight(line, " "), "?")
				answer, understood := a.answer(text)
				if understood == wrong {
					t.Fatalf("%q: understood %v", text, understood)
				}
				got = answer
			}
			answer, ok := got.(*agent.ElicitationAnswer)
			if !ok || answer.Action != tt.action || string(answer.Content) != tt.content {
				t.Errorf("the answer is %+v with %s, shown was %s", got, answer.Content, shown)
			}
		})
	}
}

// The requirements of a field are shown.
func TestForm_lines(t *testing.T) {
	c, _, shown := testLoop(t)
	a := c.elicitation(&event.QuestionRequest{Kind: event.QuestionElicitation, MCPServerName: "demo", Message: "Who?", Schema: formSchema})
	a.show()
	for _, line := range []string{"y", "Ada", "1", "-", "1", "y", "-"} {
		a.answer(line)
	}
	for _, want := range []string{
		"? demo asks: Who?\n  a form with 7 fields · y fills it in · n declines · c cancels\n",
		"? Your name\n  a text · /n declines · /c cancels\n",
		"? size\n  1. Small\n  2. Large\n  a number · /n declines",
		"? count\n  a whole number · - takes 3 · /n", "? sure\n  Are you sure?\n  y yes · n no · - skips", "a text (email)", "1. A\n  2. b\n  3. c\n  numbers such as 1,3",
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not in %s", want, shown)
		}
	}
}

// A form that cannot be read is declined, not accepted.
func TestForm_unreadable(t *testing.T) {
	c, _, _ := testLoop(t)
	a := c.elicitation(&event.QuestionRequest{Kind: event.QuestionElicitation, Schema: `{"properties":{"x":{"enum":[1]}}}`})
	a.show()
	if _, understood := a.answer("y"); understood {
		t.Error("a form that cannot be read was accepted")
	}
	if answer, _ := a.answer("n"); answer.(*agent.ElicitationAnswer).Action != "decline" {
		t.Errorf("the answer is %+v", answer)
	}
}
