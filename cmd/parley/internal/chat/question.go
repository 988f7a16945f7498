package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// skipWord skips a question.
const skipWord = "-"

// question asks the agent's questions, one after the other.
func (c *loop) question(q *event.QuestionRequest) *ask {
	if q.Kind == event.QuestionElicitation {
		return c.elicitation(q)
	}
	answers := map[string]any{}
	next := 0
	show := func() {
		if len(q.Questions) == 0 {
			c.put("The agent sent a request without questions.", skipWord+" continues")
			return
		}
		c.put(q.Questions[next].Question, questionLines(q.Questions[next])...)
	}
	return &ask{
		id: q.RequestID, call: q.ToolUseID, show: show,
		answer: func(text string) (agent.Answer, bool) {
			if len(q.Questions) == 0 {
				return &agent.QuestionAnswer{Declined: true}, true
			}
			asked := q.Questions[next]
			key := cmp.Or(asked.ID, asked.Question)
			if strings.TrimSpace(text) == skipWord {
				answers[key] = nil
			} else if chosen := choice(asked, text); len(chosen) > 0 {
				answers[key] = chosen
			} else {
				return nil, false
			}
			if next++; next < len(q.Questions) {
				show()
				return nil, true
			}
			next = 0 // asked again if the answer is refused
			raw, err := json.Marshal(answers)
			return &agent.QuestionAnswer{Answers: raw, Declined: err != nil}, true
		},
		nobody: func() agent.Answer {
			c.con.Note("the agent's question is not answered, because there is no user to ask")
			return noAnswer(q)
		},
	}
}

// noAnswer declines to answer.
func noAnswer(q *event.QuestionRequest) agent.Answer {
	if q.Kind == event.QuestionElicitation {
		return &agent.ElicitationAnswer{Action: "decline"}
	}
	return &agent.QuestionAnswer{Declined: true, Message: "There is no user to answer the question."}
}

// elicitation asks for an MCP server: to fill in a form, or to open a link. Any line declines an
// invalid form.
func (c *loop) elicitation(q *event.QuestionRequest) *ask {
	a := &ask{id: q.RequestID, call: q.ToolUseID, nobody: func() agent.Answer {
		c.con.Note("an MCP server's question is declined, because there is no user to ask")
		return noAnswer(q)
	}}
	lines := []string{q.URL, "y you have opened it · n no"}
	if q.URL == "" {
		fields, err := formFields(q.Schema)
		if err == nil {
			f := &form{c: c, q: q, fields: fields, next: -1, values: map[string]any{}}
			a.show, a.answer = f.show, f.answer
			return a
		}
		lines = []string{"a form, which cannot be filled in here (" + err.Error() + ") · n declines"}
	}
	a.show = func() { c.put(questionLine(q), lines...) }
	a.answer = func(text string) (agent.Answer, bool) {
		switch answer, _ := yesNo(text); {
		case answer == "n":
			return noAnswer(q), true
		case answer == "y" && q.URL != "":
			return &agent.ElicitationAnswer{Action: "accept"}, true
		}
		return nil, false
	}
	return a
}

// optionLines numbers and describes options.
func optionLines(options []event.QuestionOption) (lines []string) {
	for i, o := range options {
		text := fmt.Sprintf("%d. %s", i+1, term.OneLine(o.Label))
		if o.Description != "" {
			text += " – " + term.OneLine(o.Description)
		}
		if lines = append(lines, text); o.Preview != "" {
			lines = append(lines, "   "+strings.ReplaceAll(o.Preview, "\n", "\n   "))
		}
	}
	return lines
}

func questionLines(q event.Question) []string {
	how := "a number, or an answer in your own words · " + skipWord + " skips"
	if q.MultiSelect {
		how = "numbers such as 1,3, or an answer in your own words · " + skipWord + " skips"
	}
	return append(optionLines(q.Options), how)
}

// choice returns the choices of a line: options by their numbers, or the text itself. An unknown
// number gives nil.
func choice(q event.Question, text string) (labels []string) {
	text = strings.TrimSpace(text)
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(f)
		if err != nil || len(q.Options) == 0 {
			return []string{text}
		}
		if n < 1 || n > len(q.Options) {
			return nil
		}
		labels = append(labels, q.Options[n-1].Label)
	}
	if len(labels) > 1 && !q.MultiSelect {
		return nil
	}
	return labels
}

// questionLine returns the server and its message. A question of the agent itself has no server name.
func questionLine(q *event.QuestionRequest) string {
	return strings.TrimSpace(cmp.Or(q.MCPServerName, "The agent") + " asks: " + q.Message)
}
