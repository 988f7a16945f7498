package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// skipWord leaves a question without an answer.
const skipWord = "-"

// question asks the agent's questions, one after the other.
func (c *chatLoop) question(ctx context.Context, q *claude.QuestionRequest) (*claude.QuestionAnswer, error) {
	return askUser(ctx, c, q.ToolUseID, func(done func(*claude.QuestionAnswer)) *chatAsk {
		var answer claude.QuestionAnswer
		next := 0
		show := func() { c.put(q.Questions[next].Question, questionLines(q.Questions[next])...) }
		return &chatAsk{
			show: func() {
				if len(q.Questions) == 0 {
					c.put("The agent asks, but has no question.", skipWord+" goes on")
					return
				}
				show()
			},
			answer: func(text string) reply {
				if len(q.Questions) == 0 {
					done(&claude.QuestionAnswer{Declined: true})
					return settled
				}
				asked := q.Questions[next]
				if strings.TrimSpace(text) == skipWord {
					answer.Skip(asked.Question)
				} else if chosen := choice(asked, text); len(chosen) > 0 {
					answer.Choose(asked.Question, chosen...)
				} else {
					return notUnderstood
				}
				if next++; next < len(q.Questions) {
					show()
					return goesOn
				}
				done(&answer)
				return settled
			},
			nobody: func() {
				c.con.Note("the agent's question is not answered, because there is no user to ask")
				done(&claude.QuestionAnswer{Declined: true, Message: "There is no user to answer the question."})
			},
		}
	})
}

func questionLines(q tool.Question) (lines []string) {
	for i, o := range q.Options {
		text := fmt.Sprintf("%d. %s", i+1, term.OneLine(o.Label))
		if o.Description != "" {
			text += " – " + term.OneLine(o.Description)
		}
		if lines = append(lines, text); o.Preview != "" {
			lines = append(lines, "   "+strings.ReplaceAll(o.Preview, "\n", "\n   "))
		}
	}
	how := "a number, or an answer in your own words · " + skipWord + " skips"
	if q.MultiSelect {
		how = "numbers such as 1,3, or an answer in your own words · " + skipWord + " skips"
	}
	return append(lines, how)
}

// choice is what a line chooses: options by their numbers, or its own words. A
// number that no option has chooses nothing.
func choice(q tool.Question, text string) (labels []string) {
	text = strings.TrimSpace(text)
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
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
