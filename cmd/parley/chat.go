package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/spf13/cobra"
)

func newChat(code *int) *cobra.Command {
	flags := &runFlags{}
	cmd := &cobra.Command{
		Use:     "chat [flags]",
		Short:   "Talk with an agent",
		Long:    chatLong,
		Example: chatExample,
		Args:    term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = flags.chat(cmd.Context())
			return err
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SortFlags = false
	flags.registerChat(cmd)
	return cmd
}

// chat runs the command and returns the exit code. An error is one of usage.
func (f *runFlags) chat(ctx context.Context) (int, error) {
	opts, err := f.build()
	if err != nil {
		return 0, err
	}
	con := term.NewConsole(term.WantColor(f.noColor, os.Getenv))
	if f.agent == agentCodex {
		return f.chatCodex(ctx, con)
	}
	_, typed := term.TerminalWidth(os.Stdin)
	agent, err := f.chooseAgent(opts, false, con.Out.TTY && typed)
	if err != nil {
		return 0, err
	}
	f.listen(opts, con)
	c := newChatLoop(con, f.newPrinter(con))
	c.out.mark = agent.mark
	defer c.work.Wait()
	ctx, c.end = context.WithCancelCause(ctx)
	defer c.end(nil)
	c.ctx, c.agent = ctx, agent
	defer c.watchSignals()()

	if agent.note != "" {
		con.Note(agent.note)
	}
	c.answers(opts)
	if f.continued != "" {
		if c.first, err = history.HandOver(ctx, con, f.continued, ""); err != nil {
			return c.verdict(err)
		}
	}
	err = c.connect(opts)
	if err == nil {
		err = c.talk(os.Stdin)
	}
	return c.verdict(err)
}

// newPrinter is the printer that the flags ask for.
func (f *runFlags) newPrinter(con *term.Console) *printer {
	p := newPrinter(con, time.Now)
	p.stream, p.thinking = con.Out.TTY, con.Aside().TTY
	if f.changed("show-thinking") {
		p.thinking = f.showThinking
	}
	return p
}

// chatUI is where prompts come from. Its methods are called from the loop.
type chatUI interface {
	// start begins to read what is typed.
	start()
	// hold is called before something may change that the ui shows, changed after it.
	hold()
	changed()
	// stop leaves the terminal as it was.
	stop()
}

// chatLoop is a conversation. Everything in it happens in one goroutine, which
// does what others post.
type chatLoop struct {
	ctx    context.Context
	end    context.CancelCauseFunc
	con    *term.Console
	out    *printer
	client *claude.Client
	// messages are all of the client's, from before the first prompt on.
	messages iter.Seq2[message.Message, error]
	agent    agentChoice
	ui       chatUI
	work     sync.WaitGroup

	connected atomic.Bool
	posted    chan func()
	over      chan struct{} // closed when nothing that is posted is done any more

	turns       []*chatTurn // without an end yet, in the order they were sent
	asks        []*chatAsk  // what the agent wants to know, the first was put
	early       []*chatAsk  // whose calls were not shown yet
	doing       int         // commands that the CLI has not answered yet
	last        *message.Result
	lost        error           // why the last prompt has no result
	told        bool            // that was said
	shown       map[string]bool // results, by uuid
	leaving     bool            // the conversation is to end
	ended       bool            // the CLI has
	endErr      error
	signal      *term.SignalError
	interrupts  int
	lastCtrlC   time.Time
	lastSession string
	first       string   // a prompt that was not typed: a conversation that is handed over
	held        []string // prompts of a program that wait until nothing runs
}

// chatTurn is a prompt on its way to its answer.
type chatTurn struct {
	turn   *claude.Turn
	text   string
	queued bool // it was sent while another ran
	begun  time.Time
	result string // the uuid of its result, when it has one that was not shown yet
}

func newChatLoop(con *term.Console, out *printer) *chatLoop {
	return &chatLoop{con: con, out: out, posted: make(chan func(), 64), over: make(chan struct{}), shown: map[string]bool{}}
}

// post has something done in the loop.
func (c *chatLoop) post(f func()) {
	select {
	case c.posted <- f:
	case <-c.over:
	}
}

// do runs something that may take long beside the loop, from which it is called;
// what it returns is then done in the loop.
func (c *chatLoop) do(f func(ctx context.Context) func()) {
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

// controlLimit bounds how long the CLI may take to answer a control request.
const controlLimit = 15 * time.Second

// connect starts the agent.
func (c *chatLoop) connect(opts *claude.Options) error {
	client, err := claude.Connect(c.ctx, opts)
	if err != nil {
		r := &runner{con: c.con, out: c.out}
		return r.refused(err)
	}
	c.client, c.messages = client, client.Messages(c.ctx)
	c.connected.Store(true)
	return nil
}

// talk runs the conversation to its end.
func (c *chatLoop) talk(in *os.File) error {
	defer c.client.Close()
	// A goroutine that posts must not wait for a loop that has ended.
	defer close(c.over)
	c.work.Go(c.follow)
	ui, err := c.newUI(in)
	if err != nil {
		return err
	}
	c.ui = ui
	defer ui.stop()
	ui.start()
	if c.first != "" {
		c.send(c.first)
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
			c.putEarly(true) // a call that is not shown by now will not be
		}
		c.ui.changed()
		if err := c.out.err(); err != nil {
			return term.OutputFailed(err)
		}
	}
	return c.endErr
}

// more does what else has been posted, so that it is all shown at once.
func (c *chatLoop) more() {
	for range cap(c.posted) {
		select {
		case f := <-c.posted:
			f()
		default:
			return
		}
	}
}

// follow takes the messages to the loop.
func (c *chatLoop) follow() {
	var last error
	for m, err := range c.messages {
		if last = err; err == nil {
			c.post(func() { c.show(m) })
		}
	}
	c.post(func() { c.ended, c.endErr = true, last })
}

// show shows a message.
func (c *chatLoop) show(m message.Message) {
	switch m := m.(type) {
	case *message.CommandLifecycle:
		if m.State == message.CommandStarted {
			c.begun(m.CommandUUID)
		}
	case *message.Init:
		c.lastSession = strings.Clone(m.SessionID)
		for _, id := range m.UserMessageUUIDs {
			c.begun(id)
		}
	}
	c.out.message(m)
	c.putEarly(false)
	if r, ok := m.(*message.Result); ok {
		c.last, c.lost = r, nil
		c.shown[strings.Clone(r.UUID)] = true
		c.turns = slices.DeleteFunc(c.turns, func(t *chatTurn) bool { return t.result != "" && t.result == r.UUID })
		c.summary(r)
	}
}

// begun notes that the turn of a prompt has begun.
func (c *chatLoop) begun(id string) {
	for _, t := range c.turns {
		if t.turn.ID == id && t.begun.IsZero() {
			t.begun = time.Now()
			if t.queued {
				c.echo(t.text)
			}
		}
	}
}

// summary tells of a turn on the terminal what it took.
func (c *chatLoop) summary(r *message.Result) {
	if !c.con.Out.TTY || r.IsError || r.NumTurns == 0 {
		return
	}
	text := "✓ " + term.Seconds(time.Duration(r.DurationMS)*time.Millisecond)
	if r.Usage != nil {
		text += " · " + term.Count(r.Usage.InputTokens) + " in, " + term.Count(r.Usage.OutputTokens) + " out"
	}
	c.con.Lock()
	defer c.con.Unlock()
	c.con.Out.Line(c.con.Out.Paint(term.Dim, text))
}

// echo shows a prompt above its answer.
func (c *chatLoop) echo(text string) {
	to := c.con.Out
	if !to.TTY || c.lines() {
		return
	}
	c.con.Lock()
	defer c.con.Unlock()
	to.Begin(term.Prose, "")
	for i, line := range strings.Split(to.Wrapped(term.Sanitize(text), 3), "\n") {
		mark := "… "
		if i == 0 {
			mark = "> "
		}
		to.Print(to.Paint(term.Bold, mark+line) + "\n")
	}
}

// note says something that is not the agent's.
func (c *chatLoop) note(text string) {
	c.con.Lock()
	defer c.con.Unlock()
	for line := range strings.SplitSeq(text, "\n") {
		for part := range strings.SplitSeq(c.con.Err.Wrapped(term.Sanitize(line), 1), "\n") {
			c.con.Err.Line(c.con.Err.Paint(term.Dim, part))
		}
	}
}

func (c *chatLoop) busy() bool { return len(c.turns) > 0 }

// submit takes what was typed: a command of the program's own, an answer to what
// the agent asks, or a prompt.
func (c *chatLoop) submit(text string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "" || c.leaving:
		return
	case c.local(strings.TrimRight(text, " \t\n")):
		return
	case c.asking() && c.reply(text):
		return
	case c.unknownCommand(text):
		return
	case !c.person() && (c.busy() || c.doing > 0):
		c.held = append(c.held, text) // the CLI would take it into the turn that runs
		return
	}
	c.send(text)
}

func (c *chatLoop) send(text string) {
	t := &chatTurn{text: text, queued: c.busy()}
	if !t.queued {
		c.echo(text)
	}
	turn, err := c.client.Send(c.ctx, claude.Text(text))
	if err != nil {
		if c.ctx.Err() == nil && !c.ended {
			c.con.Complain(err.Error())
			c.lost, c.told = err, true
		}
		return
	}
	t.turn = turn
	c.turns = append(c.turns, t)
	if t.queued && c.con.Out.TTY {
		c.note("↳ queued: " + term.Shorten(term.OneLine(text), max(c.con.Out.Width-12, 20)) + "\n  it runs when this turn is over; /cancel takes it back")
	}
	c.work.Go(func() {
		result, err := turn.Wait(c.ctx)
		c.post(func() { c.finished(t, result, err) })
	})
}

// finished notes that a turn is over, which it is when its result was shown.
func (c *chatLoop) finished(t *chatTurn, result *message.Result, err error) {
	if result != nil && result.UUID != "" && !c.shown[result.UUID] {
		t.result = strings.Clone(result.UUID)
		return
	}
	c.turns = slices.DeleteFunc(c.turns, func(other *chatTurn) bool { return other == t })
	switch {
	case errors.Is(err, claude.ErrCancelled):
		c.note("taken back: " + term.Shorten(term.OneLine(t.text), 60))
	case result == nil && !c.leaving:
		c.lost, c.told = err, false
	}
}

// verdict is the exit code, said with what is left to say.
func (c *chatLoop) verdict(err error) (int, error) {
	if usage, ok := errors.AsType[*term.UsageError](err); ok {
		return 0, usage
	}
	if c.client != nil {
		c.farewell()
	}
	v := verdict{}
	switch {
	case c.signal != nil:
		v.code = c.signal.Code()
	case c.leaving && c.lines() && c.lost != nil:
		if v = judge(c.lost, c.last, false); c.told {
			v.say = ""
		}
	case c.leaving && c.lines() && c.last != nil && c.last.IsError:
		v = judge(nil, c.last, c.interrupts > 0)
	case c.leaving && !errors.As(err, new(*term.OutputError)):
	case err != nil:
		v = judge(err, c.last, false)
	default:
		v = verdict{term.ExitCLIDied, "the agent's CLI has ended"}
	}
	if v.say != "" {
		c.con.Complain(v.say)
	}
	return v.code, nil
}

// farewell prints the command with which the conversation goes on.
func (c *chatLoop) farewell() {
	c.con.Lock()
	defer c.con.Unlock()
	c.out.live.flush()
	c.con.Out.End()
	id := c.client.SessionID()
	if id == "" {
		id = c.lastSession
	}
	switch {
	case id == "" || c.last == nil:
	case c.agent.kind == agentClaude:
		c.con.Err.Line(c.con.Err.Paint(term.Dim, "session "+term.Sanitize(id)+"\ngo on with: parley chat --resume "+term.Sanitize(id)))
	default:
		c.con.Err.Line(c.con.Err.Paint(term.Dim, "session "+term.Sanitize(id)+" (nothing of it is kept)"))
	}
}
