package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// chatAsk is something that the agent wants of the user. Its functions are called
// in the loop.
type chatAsk struct {
	call string // the tool call that it is about
	// show asks, again where the answer was none.
	show func()
	// answer takes a line.
	answer func(text string) reply
	// it is not reported that there will be no answer.
	nobody func()
}

// reply is what a line was for a question.
type reply int

const (
	notUnderstood reply = iota // ask again
	goesOn                     // it was an answer; there is more to ask
	settled
)

// errLeft is what a callback fails with when the program ends.
var errLeft = errors.New("the conversation has ended")

// askUser puts a question to the user and waits for what done is called with.
func askUser[R any](ctx context.Context, c *chatLoop, call string, build func(done func(R)) *chatAsk) (result R, err error) {
	got := make(chan R, 1)
	ask := build(func(r R) { got <- r })
	ask.call = call
	c.post(func() { c.ask(ask) })
	select {
	case result = <-got:
		return result, nil
	case <-ctx.Done():
		c.post(func() { c.withdraw(ask) })
		return result, context.Cause(ctx)
	case <-c.over:
		return result, errLeft
	}
}

// answers makes the user the one who is asked.
func (c *chatLoop) answers(opts *claude.Options) {
	opts.CanUseTool = c.permit
	opts.OnQuestion = c.question
	opts.OnPlan = c.plan
}

// asking reports whether a question was put.
func (c *chatLoop) asking() bool { return len(c.asks) > 0 }

// ask puts a question when its call has been shown. Requests overtake messages.
func (c *chatLoop) ask(a *chatAsk) {
	c.early = append(c.early, a)
	c.putEarly(false)
}

// putEarly puts the questions whose calls were shown, or all of them.
func (c *chatLoop) putEarly(all bool) {
	c.early = slices.DeleteFunc(c.early, func(a *chatAsk) bool {
		if !all && !c.out.shows(a.call) {
			return false
		}
		if c.asks = append(c.asks, a); len(c.asks) == 1 {
			a.show()
		}
		return true
	})
}

// withdraw forgets a question that the agent no longer asks.
func (c *chatLoop) withdraw(a *chatAsk) {
	c.early = slices.DeleteFunc(c.early, func(other *chatAsk) bool { return other == a })
	i := slices.Index(c.asks, a)
	if i < 0 {
		return
	}
	c.note("that is no longer asked")
	c.settle(i)
}

// settle takes a question away and asks the next.
func (c *chatLoop) settle(i int) {
	c.asks = slices.Delete(c.asks, i, i+1)
	if i == 0 && c.asking() {
		c.asks[0].show()
	}
}

// reply takes a line as an answer. It reports false for one that is none and
// was not typed by a person, who can be asked again.
func (c *chatLoop) reply(text string) bool {
	a := c.asks[0]
	switch a.answer(text) {
	case settled:
		c.settle(0)
	case notUnderstood:
		if !c.person() {
			a.nobody()
			c.settle(0)
			return false
		}
		a.show()
	}
	return true
}

// unanswered says no to everything that is asked: there is no user to say more.
func (c *chatLoop) unanswered() {
	for c.asking() {
		c.asks[0].nobody()
		c.settle(0)
	}
}

// person reports whether a user types.
func (c *chatLoop) person() bool {
	u, ok := c.ui.(*lineUI)
	return !ok || u.prompt
}

// put shows a question: what it is about, and then what can be answered.
func (c *chatLoop) put(title string, lines ...string) {
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

// yesNo is an answer with the words after it: y, a for always, "all", n, or "" for
// anything else.
func yesNo(text string) (answer, words string) {
	word, words, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(strings.TrimRight(word, ",.:")) {
	case "y", "yes":
		answer = "y"
	case "a", "always":
		answer = "a"
	case "all":
		answer = "all"
	case "n", "no":
		return "n", strings.TrimSpace(words)
	}
	if words != "" {
		return "", "" // a sentence that happens to begin with it
	}
	return answer, ""
}
