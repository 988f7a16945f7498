package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// command is a slash command of the program itself.
type command struct {
	name, args, about string
	run               func(c *loop, arg string)
	has               func(s agent.Session) bool // reports whether a session supports it; nil means always
}

// commands take precedence over those of the agent.
var commands []command

func init() { // in init, because some commands refer to the table
	commands = []command{
		{"help", "", "list the commands", func(c *loop, _ string) { c.note(c.help()) }, nil},
		{"quit", "", "end the conversation (also Ctrl-D)", func(c *loop, _ string) { c.leave() }, nil},
		{"model", "NAME", "change the model; without a name, list the models", (*loop).setModel, is[agent.ModelSetter]},
		{"mode", "MODE", "change the permission mode", (*loop).setMode, is[agent.ModeSetter]},
		{"cost", "", "show the usage and cost of this conversation", (*loop).cost, nil},
		{"interrupt", "", "interrupt the running turn (also Ctrl-C)", func(c *loop, _ string) { c.interrupt() }, nil},
		{"queue", "", "list the queued prompts", (*loop).listQueue, nil},
		{"cancel", "[N]", "withdraw the last queued prompt, or the Nth", (*loop).cancel, is[agent.Canceler]},
		{"release", "", "run the held prompts", hold(agent.Holder.Release), is[agent.Holder]},
		{"continue", "", "continue an interrupted turn", hold(agent.Holder.Continue), is[agent.Holder]},
		{"allow", "", "answer the open request with yes", func(c *loop, _ string) { c.decide("y") }, is[agent.Joined]},
		{"deny", "[WHY]", "answer the open request with no", func(c *loop, why string) { c.decide("n " + why) }, is[agent.Joined]},
		{"answer", "TEXT", "answer the open request", (*loop).decide, is[agent.Joined]},
	}
}

func is[T any](s agent.Session) bool {
	_, ok := s.(T)
	return ok
}

// own returns the program's commands that the session supports.
func (c *loop) own() (list []command) {
	for _, cmd := range commands {
		if cmd.has == nil || cmd.has(c.session) {
			list = append(list, cmd)
		}
	}
	return list
}

// local runs a command of the program, and reports whether text is one.
func (c *loop) local(text string) bool {
	name, arg, _ := strings.Cut(text, " ")
	if name == "/exit" {
		name = "/quit"
	}
	for _, cmd := range c.own() {
		if "/"+cmd.name == name {
			cmd.run(c, strings.TrimSpace(arg))
			return true
		}
	}
	return false
}

// learn asks the agent for its models and commands. It does not start the agent of a joined
// session, whose conversation contains the commands. Without a list no input counts as a command.
func (c *loop) learn() {
	if joined, ok := c.session.(agent.Joined); ok {
		if past := joined.Past(); past != nil {
			if past.Init != nil {
				c.commands = past.Init.SlashCommands
			}
			c.relearn(past.Commands)
		}
		c.cataloged = true
		return
	}
	catalog, ok := c.session.(agent.Catalog)
	if !ok {
		return
	}
	c.do(func(ctx context.Context) func() {
		models, _ := catalog.Models(ctx) // without models there is no completion
		entries, err := catalog.Commands(ctx)
		return func() {
			c.models, c.cataloged = models, err == nil
			for _, e := range entries {
				c.addCommand(e.Name, event.JSON(e.Data))
			}
		}
	})
}

// relearn replaces the list of commands.
func (c *loop) relearn(list event.JSON) {
	if list == "" {
		return
	}
	c.commands, c.aliases, c.cataloged = nil, nil, true
	for _, e := range list.Elements() {
		name, _ := e.Member("name")
		c.addCommand(name.Text(), e)
	}
}

// addCommand adds a command of the agent, and its other names.
func (c *loop) addCommand(name string, data event.JSON) {
	c.commands = append(c.commands, name)
	aliases, _ := data.Member("aliases")
	for _, alias := range aliases.Elements() {
		c.aliases = append(c.aliases, alias.Text())
	}
}

// unknownCommand refuses a command that neither the program nor the agent has, and suggests a
// similar one. A line that begins with a space, or a path, is a prompt; so is a possible command of
// an agent that does not list its commands.
func (c *loop) unknownCommand(text string) bool {
	name, _, _ := strings.Cut(strings.TrimRight(text, "\n"), " ")
	name, isCommand := strings.CutPrefix(name, "/")
	if !isCommand || name == "" || strings.ContainsAny(name, "/\n\t") {
		return false
	}
	names := slices.Concat(c.commands, c.aliases, []string{"exit"})
	for _, cmd := range c.own() {
		names = append(names, cmd.name)
	}
	best := term.Nearest(name, names)
	if slices.Contains(names, name) || best == "" && !c.cataloged {
		return false
	}
	say := "unknown command /" + term.Shorten(term.OneLine(name), 40)
	if best != "" {
		say += "; did you mean /" + term.OneLine(best) + "? /help"
	} else {
		say += "; /help"
	}
	c.con.Complain(say + " lists them; a line that begins with a space is sent unchanged.")
	return true
}

func (c *loop) help() string {
	var b strings.Builder
	var names []string
	for _, cmd := range c.own() {
		fmt.Fprintf(&b, "%-16s %s\n", "/"+strings.TrimSpace(cmd.name+" "+cmd.args), cmd.about)
		names = append(names, cmd.name)
	}
	b.WriteString("A \\ at the end of a line, or Alt-Enter, continues on the next line. Tab completes commands.")
	prefix := "\nCommands of the agent:"
	for _, name := range c.commands {
		if !slices.Contains(names, name) {
			b.WriteString(prefix + " /" + term.OneLine(name))
			prefix = ""
		}
	}
	return b.String()
}

// after calls f on the agent and shows the text say if the call succeeds.
func (c *loop) after(name string, call func(ctx context.Context) (say string, err error)) {
	c.do(func(ctx context.Context) func() {
		say, err := call(ctx)
		return func() {
			if err != nil {
				c.con.Complain("/" + name + ": " + err.Error())
			} else if say != "" {
				c.note(say)
			}
		}
	})
}

func (c *loop) setModel(name string) {
	if name == "" {
		for _, m := range c.models {
			about, _ := event.JSON(m.Data).Member("displayName")
			c.note(strings.TrimSpace(fmt.Sprintf("%-16s %s", m.Name, about.Text())))
		}
		return
	}
	c.after("model", func(ctx context.Context) (string, error) {
		chosen, err := c.session.(agent.ModelSetter).SetModel(ctx, name)
		return "the model is now " + chosen, err
	})
}

func (c *loop) setMode(mode string) {
	setter := c.session.(agent.ModeSetter)
	modes := "permission modes: " + strings.Join(setter.Modes(), ", ")
	if mode == "" {
		c.note(modes)
		return
	}
	c.after("mode", func(ctx context.Context) (string, error) {
		err := setter.SetMode(ctx, mode)
		if errors.Is(err, agent.ErrInvalid) {
			err = fmt.Errorf("%w; %s", err, modes)
		}
		return "the permission mode is now " + mode, err
	})
}

func hold(f func(agent.Holder, context.Context) error) func(*loop, string) {
	return func(c *loop, _ string) {
		c.after("queue", func(ctx context.Context) (string, error) { return "", f(c.session.(agent.Holder), ctx) })
	}
}

// decide answers the open question.
func (c *loop) decide(text string) {
	if !c.asking() {
		c.note("no request is open")
		return
	}
	c.reply(text)
}

func (c *loop) cost(string) {
	if text := c.out.totals.String(); text != "" {
		c.note(text)
		return
	}
	c.note("no usage yet")
}

// waiting is a queued prompt: its id for Cancel and its text.
type waiting struct{ id, text string }

// waits returns the queue of the server, or else the prompts that were typed here.
func (c *loop) waits() (list []waiting) {
	for _, item := range c.queue {
		text := resultText(item.Content)
		if item.Status != "" {
			text = item.Status + ": " + text
		}
		list = append(list, waiting{item.ID, text})
	}
	if c.o.Agent.Shared {
		return list
	}
	for _, p := range c.prompts.waiting() {
		list = append(list, waiting{p.id, p.text})
	}
	return list
}

// queued returns the number of queued prompts.
func (c *loop) queued() int { return len(c.waits()) }

func (c *loop) listQueue(string) {
	list := c.waits()
	if len(list) == 0 {
		c.note("the queue is empty")
	}
	for i, w := range list {
		c.note(fmt.Sprintf("%d. %s", i+1, term.Shorten(term.OneLine(w.text), 60)))
	}
}

func (c *loop) cancel(arg string) {
	list := c.waits()
	n := len(list)
	if arg != "" {
		n, _ = strconv.Atoi(arg)
	}
	if n < 1 || n > len(list) {
		c.note("no such prompt in the queue; /queue lists them")
		return
	}
	w := list[n-1]
	if p := c.prompts.find(w.id); p != nil {
		p.canceled = true
	}
	c.do(func(ctx context.Context) func() {
		err := c.session.(agent.Canceler).Cancel(ctx, w.id)
		return func() {
			p := c.prompts.find(w.id)
			switch {
			case err != nil:
				c.con.Complain("/cancel: " + err.Error())
				if p != nil {
					p.canceled = false
				}
			case p != nil:
				c.prompts.end(errTakenBack, func(other *prompt) bool { return other == p })
			}
		}
	})
}

// completions returns the possible words at the end of text.
func (c *loop) completions(text string) []string {
	name, arg, hasArg := strings.Cut(text, " ")
	var words []string
	switch {
	case !strings.HasPrefix(text, "/"):
	case !hasArg:
		arg = name
		for _, cmd := range c.own() {
			words = append(words, "/"+cmd.name)
		}
		for _, name := range slices.Concat(c.commands, c.aliases) {
			words = append(words, "/"+term.OneLine(name))
		}
	case name == "/mode":
		if m, ok := c.session.(agent.ModeSetter); ok {
			words = m.Modes()
		}
	case name == "/model":
		for _, m := range c.models {
			words = append(words, term.OneLine(m.Name))
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, arg) })
	slices.Sort(words)
	return slices.Compact(words)
}
