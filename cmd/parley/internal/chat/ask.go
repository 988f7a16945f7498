package chat

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// ask is a request of the agent to the user. The loop calls its functions.
type ask struct {
	id   string // of the request
	call string // the tool call of the request
	// show shows the question; it is called again if the answer was not understood.
	show func()
	// answer handles a line. It returns nil while more answers are needed.
	answer func(text string) (a agent.Answer, understood bool)
	// nobody is called if there is no user to answer. It shows that, and returns the answer to
	// send.
	nobody func() agent.Answer
}

// asking reports whether a question is open.
func (c *loop) asking() bool { return len(c.asks) > 0 }

// ask shows a question after its call has been shown.
func (c *loop) ask(a *ask) {
	if i := slices.IndexFunc(c.asks, func(o *ask) bool { return o.id == a.id }); i >= 0 {
		if c.asks[i] = a; i == 0 {
			a.show() // more details are known now
		}
		return
	}
	c.early = slices.DeleteFunc(c.early, func(o *ask) bool { return o.id == a.id })
	c.early = append(c.early, a)
	c.putEarly(a.call == "")
}

// putEarly shows the questions with calls that are already shown, or all questions.
func (c *loop) putEarly(all bool) {
	c.early = slices.DeleteFunc(c.early, func(a *ask) bool {
		if !all && !c.out.shows(a.call) {
			return false
		}
		if c.asks = append(c.asks, a); len(c.asks) == 1 {
			a.show()
		}
		return true
	})
}

// withdraw removes a question that was answered elsewhere or withdrawn by the agent.
func (c *loop) withdraw(id, how, by string) {
	same := func(a *ask) bool { return a.id == id }
	c.early = slices.DeleteFunc(c.early, same)
	i := slices.IndexFunc(c.asks, same)
	if i < 0 {
		return
	}
	if by != "" {
		c.note(how + " by " + by)
	} else {
		c.note("the request was withdrawn")
	}
	c.settle(i)
}

// settle removes a question and shows the next.
func (c *loop) settle(i int) {
	c.asks = slices.Delete(c.asks, i, i+1)
	if i == 0 && c.asking() {
		c.asks[0].show()
	}
}

// give answers the first question.
func (c *loop) give(answer agent.Answer) {
	a := c.asks[0]
	c.settle(0)
	c.do(func(ctx context.Context) func() {
		err := c.session.Answer(ctx, a.id, answer)
		if err == nil || errors.Is(err, agent.ErrNotOpen) || errors.Is(err, agent.ErrClosed) || c.ctx.Err() != nil {
			return nil
		}
		return func() { // the question is still open
			c.con.Complain(err.Error())
			if c.asks = append([]*ask{a}, c.asks...); c.person() {
				a.show()
			} else {
				c.give(a.nobody())
			}
		}
	})
}

// reply treats a line as an answer. It returns false if the line is invalid and comes from a
// program, which cannot be asked again.
func (c *loop) reply(text string) bool {
	a := c.asks[0]
	switch answer, understood := a.answer(text); {
	case answer != nil:
		c.give(answer)
	case understood:
	case !c.person():
		c.give(a.nobody())
		return false
	default:
		a.show()
	}
	return true
}

// unanswered declines all questions, because there is no user to answer.
func (c *loop) unanswered() {
	for c.asking() {
		c.give(c.asks[0].nobody())
	}
}

// put shows a question: its subject, then the possible answers.
func (c *loop) put(title string, lines ...string) {
	c.con.Lock()
	defer c.con.Unlock()
	to := c.con.Aside()
	mark := to.Paint(term.Yellow, "?")
	for part := range strings.SplitSeq(to.Wrapped(term.OneLine(title), 3), "\n") {
		to.Line(mark + " " + to.Paint(term.Bold, part))
		mark = " "
	}
	for _, text := range lines {
		for part := range strings.SplitSeq(to.Wrapped(term.Sanitize(text), 3), "\n") {
			to.Line("  " + part)
		}
	}
}

// yesNo parses an answer and returns the text after it. The answer is y, s for the session, a for always, "all", n, or
// "" if it is invalid.
func yesNo(text string) (answer, words string) {
	word, words, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(strings.TrimRight(word, ",.:")) {
	case "y", "yes":
		answer = "y"
	case "s", "session":
		answer = "s"
	case "a", "always":
		answer = "a"
	case "all":
		answer = "all"
	case "n", "no":
		return "n", strings.TrimSpace(words)
	}
	if words != "" {
		return "", "" // a sentence that happens to begin with the letter
	}
	return answer, ""
}
