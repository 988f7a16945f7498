package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const codexChatHelp = `/help            show this
/quit            end the conversation (also the end of the input)
/model NAME      change the model; without a name: list them
/mode MODE       change the permission mode
/interrupt       break the running turn off (also Ctrl-C)
A request is answered with y, s (yes, for this session) or n and why; a question with text.`

// chatCodex runs the command with Codex and returns the exit code. An error is one of usage.
func (f *runFlags) chatCodex(ctx context.Context, con *term.Console) (int, error) {
	if err := f.checkCodex(); err != nil {
		return 0, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	sigs := term.WatchSignals(ctx, end, con.Note)
	defer sigs.Stop()
	_, typed := term.TerminalWidth(os.Stdin)
	c := &codexChat{con: con, out: newEventPrinter(f.newPrinter(con)), sigs: sigs, typed: typed}
	first := ""
	var err error
	if f.continued != "" {
		first, err = history.HandOver(ctx, con, f.continued, "")
	}
	if err == nil {
		c.session, err = f.openCodex(ctx, con)
	}
	if err == nil {
		err = c.talk(ctx, os.Stdin, first)
		c.farewell()
	}
	if usage, ok := errors.AsType[*term.UsageError](err); ok {
		return 0, usage
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	v := verdict{}
	switch {
	case err != nil:
		v = codexVerdict(err, c.last, false)
	case !typed && c.last != nil && c.last.IsError:
		v.code = term.ExitFailed
	}
	if v.say != "" {
		con.Complain(v.say)
	}
	return v.code, nil
}

// codexChat is a conversation with Codex, line by line. Everything in it happens in the
// goroutine of talk.
type codexChat struct {
	con     *term.Console
	out     *eventPrinter
	sigs    *term.Signals
	typed   bool // a person types
	session agent.Session
	running int           // prompts without a result
	asks    []event.Event // requests that wait for an answer, the first was shown
	last    *event.ResultMessage
	left    bool
}

// heard is an event, or why there are no more.
type heard struct {
	event event.Event
	err   error
}

// talk runs the conversation to its end.
func (c *codexChat) talk(ctx context.Context, in *os.File, first string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	events := make(chan heard)
	work.Go(func() { c.listen(ctx, events) })
	defer work.Wait()
	defer func() { err = errors.Join(err, c.session.Close()) }()
	defer cancel()
	lines := readLines(ctx, in)
	if first != "" {
		if err := c.send(ctx, first); err != nil {
			return err
		}
	}
	for !c.left {
		next := lines
		if !c.typed && c.running > 0 && len(c.asks) == 0 {
			next = nil // a program's prompts wait for each other
		}
		select {
		case line, ok := <-next:
			if !ok {
				lines = nil
				c.inputEnded(ctx)
				break
			}
			if err := c.line(ctx, line); err != nil {
				c.con.Complain(err.Error())
			}
		case h, ok := <-events:
			if !ok || h.err != nil {
				return h.err
			}
			c.heard(h.event)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if lines == nil && c.running == 0 {
			c.left = true
		}
		if err := c.out.err(); err != nil {
			return term.OutputFailed(err)
		}
	}
	return nil
}

func (c *codexChat) listen(ctx context.Context, events chan<- heard) {
	defer close(events)
	for ev, err := range c.session.Events(ctx) {
		select {
		case events <- heard{ev, err}:
		case <-ctx.Done():
			return
		}
	}
}

// readLines reads lines until the input or ctx ends. A read of a terminal cannot be broken
// off: its goroutine is left to the end of the program.
func readLines(ctx context.Context, in *os.File) chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 8<<20)
		for s.Scan() {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// inputEnded declines what waits for an answer that cannot come any more.
func (c *codexChat) inputEnded(ctx context.Context) {
	for len(c.asks) > 0 {
		if c.answer(ctx, "n there is no user to ask") != nil {
			return
		}
	}
}

// heard shows an event and keeps what waits for an answer.
func (c *codexChat) heard(ev event.Event) {
	c.out.event(ev)
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		c.asks = append(c.asks, ev)
	case *event.QuestionRequest:
		c.asks = append(c.asks, ev)
	case *event.PermissionResolved:
		c.withdraw(ev.RequestID)
	case *event.QuestionResolved:
		c.withdraw(ev.RequestID)
	case *event.ResultMessage:
		if ev.ParentToolUseID == "" {
			c.running, c.last = max(0, c.running-1), ev
			if c.running == 0 {
				c.sigs.Turn(nil)
			}
		}
		return
	default:
		return
	}
	if len(c.asks) > 0 {
		c.put(c.asks[0])
	}
}

func requestID(ev event.Event) string {
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		return ev.RequestID
	case *event.QuestionRequest:
		return ev.RequestID
	}
	return ""
}

func (c *codexChat) withdraw(id string) {
	c.asks = slices.DeleteFunc(c.asks, func(ev event.Event) bool { return requestID(ev) == id })
}

// put shows a request.
func (c *codexChat) put(ev event.Event) {
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		c.con.Note("may it run? " + requestText(ev) + " [y, s for the session, n]")
	case *event.QuestionRequest:
		text := ev.Message
		for _, q := range ev.Questions {
			text = strings.TrimSpace(text + " " + q.Question)
			for _, o := range q.Options {
				text += " [" + o.Label + "]"
			}
		}
		c.con.Note(text)
	}
}

// line does what a line says.
func (c *codexChat) line(ctx context.Context, line string) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch {
	case word == "":
		return nil
	case word == "/quit" || word == "/exit":
		c.left = true
		return nil
	case word == "/help":
		c.con.Lock()
		defer c.con.Unlock()
		c.con.Err.Line(codexChatHelp)
		return nil
	case word == "/interrupt":
		_, err := c.session.Interrupt(ctx)
		return err
	case word == "/model":
		return c.setModel(ctx, strings.TrimSpace(rest))
	case word == "/mode":
		return c.setMode(ctx, strings.TrimSpace(rest))
	case strings.HasPrefix(word, "/") && !strings.Contains(word[1:], "/"):
		return errors.New("there is no command " + term.OneLine(word) + "; /help lists them")
	case len(c.asks) > 0:
		return c.answer(ctx, line)
	}
	return c.send(ctx, line)
}

func (c *codexChat) setModel(ctx context.Context, name string) error {
	if name == "" {
		models, err := c.session.(agent.Catalog).Models(ctx)
		for _, m := range models {
			c.con.Note(m.Name)
		}
		return err
	}
	chosen, err := c.session.(agent.ModelSetter).SetModel(ctx, name)
	if err == nil {
		c.con.Note("the model is now " + chosen)
	}
	return err
}

func (c *codexChat) setMode(ctx context.Context, mode string) error {
	setter := c.session.(agent.ModeSetter)
	if mode == "" {
		c.con.Note("the permission modes: " + strings.Join(setter.Modes(), ", "))
		return nil
	}
	err := setter.SetMode(ctx, mode)
	if err == nil {
		c.con.Note("the permission mode is now " + mode)
	}
	return err
}

func (c *codexChat) send(ctx context.Context, text string) error {
	if err := c.session.Send(ctx, agent.Input{UUID: newInputID(), Text: text}); err != nil {
		return err
	}
	c.running++
	c.sigs.Turn(func(ctx context.Context) error {
		_, err := c.session.Interrupt(ctx)
		return err
	})
	return nil
}

// answer answers the request that waits longest. A permission is given only to y, yes and s.
func (c *codexChat) answer(ctx context.Context, text string) error {
	ask := c.asks[0]
	var a agent.Answer
	switch ask := ask.(type) {
	case *event.PermissionRequest:
		a = permissionAnswer(text)
	case *event.QuestionRequest:
		a = questionAnswer(ask, text)
	}
	c.asks = c.asks[1:]
	err := c.session.Answer(ctx, requestID(ask), a)
	if errors.Is(err, agent.ErrNotOpen) {
		return nil // it was taken back meanwhile
	}
	return err
}

func permissionAnswer(text string) *agent.PermissionAnswer {
	word, why, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return &agent.PermissionAnswer{Allow: true}
	case "s":
		return &agent.PermissionAnswer{Allow: true, Scope: event.ScopeSession}
	case "n", "no":
		return &agent.PermissionAnswer{Message: why}
	}
	return &agent.PermissionAnswer{Message: text}
}

// questionAnswer gives one text as the answer to all questions, and refuses an MCP server's
// form, which a line cannot fill in.
func questionAnswer(q *event.QuestionRequest, text string) agent.Answer {
	if q.Kind == event.QuestionElicitation {
		return &agent.ElicitationAnswer{Action: "decline"}
	}
	answers := map[string]string{}
	for _, one := range q.Questions {
		key := one.ID
		if key == "" {
			key = one.Question
		}
		answers[key] = text
	}
	raw, err := json.Marshal(answers)
	return &agent.QuestionAnswer{Answers: raw, Declined: err != nil}
}

// farewell prints the command with which the conversation goes on.
func (c *codexChat) farewell() {
	c.out.end()
	if c.last != nil {
		id := term.Sanitize(c.session.ID())
		c.con.Err.Line(c.con.Err.Paint(term.Dim, "session "+id+"\ngo on with: parley chat --agent codex --resume "+id))
	}
}
