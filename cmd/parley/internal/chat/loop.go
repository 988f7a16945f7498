package chat

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/random"
)

// Talk holds a conversation with the person or program at standard input and returns the exit code.
// An error is a usage error.
func Talk(ctx context.Context, o Options) (int, error) {
	c := newLoop(&o)
	defer c.work.Wait()
	c.ctx, c.end = context.WithCancelCause(ctx)
	defer c.end(nil)
	defer c.watchSignals()()
	if o.Agent.Note != "" {
		c.con.Note(o.Agent.Note)
	}
	first, err := "", error(nil)
	if o.Prompt != nil {
		first, err = o.Prompt(c.ctx, c.con.Note)
	}
	if err == nil {
		err = c.open()
	}
	if err == nil {
		err = c.talk(os.Stdin, first)
	}
	return c.verdict(err)
}

// ui is the source of prompts. Its methods are called from the loop.
type ui interface {
	// start starts reading input.
	start()
	// hold is called before a change of something that the ui shows, changed after it.
	hold()
	changed()
	// stop restores the terminal.
	stop()
}

// loop is a conversation. One goroutine runs all its functions, which others post.
type loop struct {
	o       *Options
	ctx     context.Context
	end     context.CancelCauseFunc
	con     *term.Console
	out     *printer
	session agent.Session
	ui      ui
	work    sync.WaitGroup

	connected atomic.Bool
	posted    chan func()
	over      chan struct{} // closed when the loop has ended
	gone      chan struct{} // closed when the events have ended

	prompts    prompts
	asks       []*ask            // open questions; the first is shown
	early      []*ask            // questions whose calls were not shown yet
	doing      int               // commands that the agent has not answered
	queue      []event.QueueItem // of a server
	state      string            // of the session, from a server
	models     []agent.Entry
	commands   []string // of the agent
	aliases    []string // aliases of commands
	cataloged  bool     // the list of commands is complete
	last       *event.ResultMessage
	lost       error // the reason why the last prompt has no result
	told       bool  // the reason was shown
	leaving    bool  // the conversation is ending
	ended      bool  // the session has
	endErr     error
	signal     *term.SignalError
	interrupts int
	lastCtrlC  time.Time
	held       []string // prompts of a program that wait for the end of the turn
}

func newLoop(o *Options) *loop {
	c := &loop{o: o, con: o.Console, out: o.printer(), posted: make(chan func(), 64), over: make(chan struct{}), gone: make(chan struct{})}
	c.prompts.begun = func(p *prompt) {
		if p.queued {
			c.echo(p.text)
		}
	}
	c.prompts.over = c.finished
	return c
}

// post runs a function in the loop.
func (c *loop) post(f func()) {
	select {
	case c.posted <- f:
	case <-c.over:
	}
}

// controlLimit limits the wait for the agent's answer to a request of the program.
const controlLimit = 15 * time.Second

// do runs a slow function outside the loop; the function that it returns is then called in the
// loop. It is called from the loop.
func (c *loop) do(f func(ctx context.Context) func()) {
	c.doing++
	c.work.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, controlLimit)
		defer cancel()
		then := f(ctx)
		c.post(func() {
			c.doing--
			if then != nil {
				then()
			}
		})
	})
}

// open starts the agent.
func (c *loop) open() (err error) {
	if c.session, err = c.o.Agent.Open(c.ctx, func(json.RawMessage) {}); err != nil {
		events, _ := refusal(err)
		for _, ev := range events {
			c.out.event(ev)
		}
		if c.last = lastResult(events); c.last != nil {
			c.out.end()
		}
		return err
	}
	c.connected.Store(true)
	return nil
}

// talk runs the conversation to its end.
func (c *loop) talk(in *os.File, first string) error {
	defer c.session.Close()
	defer close(c.over) // a goroutine that posts must not block after the end of the loop
	ui, err := c.newUI(in)
	if err != nil {
		return err
	}
	c.ui = ui
	defer ui.stop()
	c.past() // the screen renders its Markdown
	c.work.Go(c.follow)
	c.learn()
	ui.start()
	if first != "" {
		c.send(first)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !c.ended {
		select {
		case f := <-c.posted:
			c.ui.hold()
			f()
			c.more()
		case <-tick.C:
			c.ui.hold()
			c.putEarly(true) // calls that were not shown so far will not be
		}
		c.ui.changed()
		if err := c.out.err(); err != nil {
			return term.OutputFailed(err)
		}
	}
	return c.endErr
}

// more runs all other posted functions, so that their output appears at once.
func (c *loop) more() {
	for range cap(c.posted) {
		select {
		case f := <-c.posted:
			f()
		default:
			return
		}
	}
}

// follow passes the events to the loop.
func (c *loop) follow() {
	defer close(c.gone)
	var last error
	for ev, err := range c.session.Events(c.ctx) {
		if last = err; err == nil {
			c.post(func() { c.show(ev) })
		}
	}
	c.post(func() { c.ended, c.endErr = true, last })
}

// show shows an event.
func (c *loop) show(ev event.Event) {
	result, isResult := ev.(*event.ResultMessage)
	if !isResult {
		c.prompts.event(ev)
	}
	c.out.event(ev)
	switch ev := ev.(type) {
	case *event.UserMessage:
		c.showForeignPrompt(ev)
	case *event.QueueChanged:
		c.queue = ev.Items
	case *event.SessionState:
		c.state = ev.State
	case *event.SessionInfo:
		c.relearn(ev.Commands)
	case *event.PermissionRequest:
		c.ask(c.permission(ev))
	case *event.QuestionRequest:
		c.ask(c.question(ev))
	case *event.PermissionResolved:
		c.withdraw(ev.RequestID, ev.Behavior, ev.By)
	case *event.QuestionResolved:
		c.withdraw(ev.RequestID, ev.Action, ev.By)
	}
	c.putEarly(false)
	if isResult && result.ParentToolUseID == "" {
		c.last, c.lost = result, nil
		c.prompts.event(ev)
		c.summary(result)
	}
}

// showForeignPrompt shows a prompt that another client sent.
func (c *loop) showForeignPrompt(m *event.UserMessage) {
	if !c.o.Agent.Shared || !m.IsPrompt || m.IsReplay || c.prompts.find(m.UUID) != nil {
		return
	}
	var parts []string
	for _, b := range m.Blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		} else {
			parts = append(parts, "["+b.Type+"]")
		}
	}
	c.quote(strings.Join(parts, " "))
}

// summary shows the usage of a turn on the terminal.
func (c *loop) summary(r *event.ResultMessage) {
	if !c.con.Out.TTY || bad(r) || r.NumTurns == 0 {
		return
	}
	var parts []string
	if r.DurationMS > 0 { // as in totals
		parts = append(parts, term.Seconds(time.Duration(r.DurationMS)*time.Millisecond))
	}
	if r.Usage != "" {
		parts = append(parts, term.Count(int64(r.Usage.Number("input_tokens")))+" in, "+term.Count(int64(r.Usage.Number("output_tokens")))+" out")
	}
	text := "✓ " + strings.Join(parts, " · ")
	c.con.Lock()
	defer c.con.Unlock()
	c.con.Out.Line(c.con.Out.Paint(term.Dim, text))
}

// echo shows a prompt above its answer.
func (c *loop) echo(text string) {
	if c.con.Out.TTY && !c.lines() {
		c.quote(text)
	}
}

// quote shows a prompt.
func (c *loop) quote(text string) {
	c.con.Lock()
	defer c.con.Unlock()
	to := c.con.Out
	c.out.live.flush()
	to.Begin(term.Prose, "")
	for i, line := range strings.Split(to.Wrapped(term.Sanitize(text), 3), "\n") {
		mark := "… "
		if i == 0 {
			mark = "> "
		}
		to.Print(to.Paint(term.Bold, mark+line) + "\n")
	}
}

// note shows a message of the program.
func (c *loop) note(text string) {
	c.con.Lock()
	defer c.con.Unlock()
	for line := range strings.SplitSeq(text, "\n") {
		for part := range strings.SplitSeq(c.con.Err.Wrapped(term.Sanitize(line), 1), "\n") {
			c.con.Err.Line(c.con.Err.Paint(term.Dim, part))
		}
	}
}

// past shows the end of a joined conversation.
func (c *loop) past() {
	j, ok := c.session.(agent.Joined)
	if !ok || j.Past() == nil {
		return
	}
	conv := j.Past()
	c.out.cwd = conv.CWD
	c.note("— " + c.session.ID() + ", " + conv.State + " —")
	main := conv.Thread("")
	if main == nil {
		return
	}
	for _, it := range main.Items[max(0, len(main.Items)-20):] {
		if it.Message == nil {
			continue
		}
		for _, b := range it.Message.Blocks {
			switch text := b.Text.String(); {
			case b.Tool != nil && b.Tool.Status == event.ToolInterrupted:
				c.con.Lock()
				c.out.call(b.Tool.ID, b.Tool.Name, b.Tool.Input, "", false)
				c.out.outcome(b.Tool.ID, true, "interrupted: the agent ended before the tool")
				c.con.Unlock()
			case b.Type != "text" || text == "":
			case it.Message.Role == "user":
				c.quote(text)
			default:
				c.con.Lock()
				c.out.say(text)
				c.con.Out.End()
				c.con.Unlock()
			}
		}
	}
	c.out.answered = false
}

func (c *loop) busy() bool { return c.prompts.busy() }

// submit handles input: a command of the program, an answer to a question, or a prompt.
func (c *loop) submit(text string) {
	switch {
	case strings.TrimSpace(text) == "" || c.leaving:
		return
	case c.local(strings.TrimRight(text, " \t\n")):
		return
	case c.asking() && c.reply(text):
		return
	case c.unknownCommand(text):
		return
	case !c.person() && (c.busy() || c.doing > 0):
		c.held = append(c.held, text) // the agent could merge it into the running turn
		return
	}
	c.send(text)
}

func (c *loop) send(text string) {
	p := &prompt{id: random.UUID(), text: text, queued: c.busy()}
	if !p.queued {
		c.echo(text)
	}
	c.prompts.list = append(c.prompts.list, p) // before its events
	if p.queued && c.con.Out.TTY {
		hint := "\n  it runs after this turn"
		if is[agent.Canceler](c.session) {
			hint += "; /cancel withdraws it"
		}
		c.note("↳ queued: " + term.Shorten(term.OneLine(text), max(c.con.Out.Width-12, 20)) + hint)
	}
	ctx, cancel := context.WithTimeout(c.ctx, controlLimit)
	defer cancel()
	if err := c.session.Send(ctx, agent.Input{UUID: p.id, Text: text}); err != nil {
		c.unsent(p, err)
	}
}

// unsent removes a prompt that the agent did not accept.
func (c *loop) unsent(p *prompt, err error) {
	if c.prompts.find(p.id) == nil || c.ctx.Err() != nil || c.ended {
		return
	}
	c.prompts.end(err, func(other *prompt) bool { return other == p })
	if !errors.Is(err, agent.ErrClosed) { // the end of the events has the reason
		c.con.Complain(err.Error())
		c.told = true
	}
}

// finished handles the end of a prompt.
func (c *loop) finished(p *prompt, err error) {
	switch {
	case errors.Is(err, errTakenBack):
		c.note("withdrawn: " + term.Shorten(term.OneLine(p.text), 60))
	case errors.Is(err, errRemoved):
		c.note(err.Error() + ": " + term.Shorten(term.OneLine(p.text), 60))
		c.lost, c.told = err, true
	case err != nil && !c.leaving:
		c.lost, c.told = err, false
	}
}
