package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// chatCommand is a command of the program itself.
type chatCommand struct {
	name, args, about string
	run               func(c *chatLoop, arg string)
}

// chatCommands are found before those of the CLI.
var chatCommands []chatCommand

func init() {
	chatCommands = []chatCommand{
		{"help", "", "show this", func(c *chatLoop, _ string) { c.note(c.help()) }},
		{"quit", "", "end the conversation (also Ctrl-D)", func(c *chatLoop, _ string) { c.leave() }},
		{"model", "NAME", "change the model; without a name: list them", (*chatLoop).setModel},
		{"mode", "MODE", "change the permission mode", (*chatLoop).setMode},
		{"cost", "", "show what this conversation has used", (*chatLoop).cost},
		{"interrupt", "", "break the running turn off (also Ctrl-C)", func(c *chatLoop, _ string) { c.interrupt() }},
		{"queue", "", "list the prompts that wait", (*chatLoop).listQueue},
		{"cancel", "[N]", "take the last prompt that waits back, or the Nth", (*chatLoop).cancel},
	}
}

// local runs a command of the program's own, and reports whether text is one.
func (c *chatLoop) local(text string) bool {
	name, arg, _ := strings.Cut(text, " ")
	if name == "/exit" {
		name = "/quit"
	}
	i := slices.IndexFunc(chatCommands, func(cmd chatCommand) bool { return "/"+cmd.name == name })
	if i < 0 {
		return false
	}
	chatCommands[i].run(c, strings.TrimSpace(arg))
	return true
}

// unknownCommand refuses a command that neither the program nor the CLI has, and
// names the one that was meant. A line that begins with a space, and a path, is a
// prompt.
func (c *chatLoop) unknownCommand(text string) bool {
	name, _, _ := strings.Cut(strings.TrimRight(text, "\n"), " ")
	name, isCommand := strings.CutPrefix(name, "/")
	if !isCommand || name == "" || strings.ContainsAny(name, "/\n\t") {
		return false
	}
	names := c.commandNames()
	if slices.Contains(names, name) {
		return false
	}
	say := "there is no command /" + term.Shorten(term.OneLine(name), 40)
	if best := term.Nearest(name, names); best != "" {
		say += "; is /" + term.OneLine(best) + " meant?"
	}
	c.con.Complain(say + " /help lists them; a line that begins with a space is sent as it is.")
	return true
}

// commandNames are the names of all commands, those of the CLI too.
func (c *chatLoop) commandNames() (names []string) {
	for _, cmd := range chatCommands {
		names = append(names, cmd.name)
	}
	for _, cmd := range c.client.ServerInfo().Commands {
		names = append(append(names, cmd.Name), cmd.Aliases...)
	}
	return append(names, "exit")
}

func (c *chatLoop) help() string {
	var b strings.Builder
	for _, cmd := range chatCommands {
		fmt.Fprintf(&b, "%-16s %s\n", "/"+strings.TrimSpace(cmd.name+" "+cmd.args), cmd.about)
	}
	b.WriteString("A \\ at the end of a line, or Alt-Enter, goes on in the next. Tab completes commands.\n")
	var names []string
	for _, cmd := range c.client.ServerInfo().Commands {
		if !isLocal(cmd.Name) {
			names = append(names, "/"+term.OneLine(cmd.Name))
		}
	}
	return b.String() + "The agent's own: " + strings.Join(names, " ")
}

func isLocal(name string) bool {
	return slices.ContainsFunc(chatCommands, func(cmd chatCommand) bool { return cmd.name == name })
}

func (c *chatLoop) setModel(name string) {
	if name == "" {
		for _, m := range c.client.ServerInfo().Models {
			c.note(fmt.Sprintf("%-16s %s", m.Value, m.DisplayName))
		}
		return
	}
	c.do(func(ctx context.Context) func() {
		chosen, err := c.client.SetModel(ctx, name)
		return func() {
			if err != nil {
				c.con.Complain("/model: " + err.Error())
				return
			}
			if chosen == "" {
				chosen = name
			}
			c.note("the model is now " + chosen)
		}
	})
}

func (c *chatLoop) setMode(mode string) {
	if mode == "" {
		c.note("the permission modes: " + strings.Join(enums["permission-mode"], ", "))
		return
	}
	c.do(func(ctx context.Context) func() {
		err := c.client.SetPermissionMode(ctx, message.PermissionMode(mode))
		return func() {
			if err != nil {
				c.con.Complain("/mode: " + err.Error())
				return
			}
			c.note("the permission mode is now " + mode)
		}
	})
}

func (c *chatLoop) cost(string) {
	if text := c.out.totals.String(); text != "" {
		c.note(text)
		return
	}
	c.note("nothing yet")
}

// waiting are the turns that have not begun.
func (c *chatLoop) waiting() (list []*chatTurn) {
	for i, t := range c.turns {
		if t.queued && t.begun.IsZero() && i > 0 {
			list = append(list, t)
		}
	}
	return list
}

func (c *chatLoop) listQueue(string) {
	list := c.waiting()
	if len(list) == 0 {
		c.note("no prompt waits")
	}
	for i, t := range list {
		c.note(fmt.Sprintf("%d. %s", i+1, term.Shorten(term.OneLine(t.text), 60)))
	}
}

func (c *chatLoop) cancel(arg string) {
	list := c.waiting()
	n := len(list)
	if arg != "" {
		n, _ = strconv.Atoi(arg)
	}
	if n < 1 || n > len(list) {
		c.note("no such prompt waits; /queue lists them")
		return
	}
	t := list[n-1]
	c.do(func(ctx context.Context) func() {
		if err := t.turn.Cancel(ctx); err != nil {
			return func() { c.con.Complain("/cancel: " + err.Error()) }
		}
		return nil
	})
}

// completions are the words that can stand where text ends.
func (c *chatLoop) completions(text string) []string {
	name, arg, hasArg := strings.Cut(text, " ")
	var words []string
	switch {
	case !strings.HasPrefix(text, "/"):
	case !hasArg:
		arg = name
		for _, cmd := range chatCommands {
			words = append(words, "/"+cmd.name)
		}
		for _, cmd := range c.client.ServerInfo().Commands {
			words = append(words, "/"+term.OneLine(cmd.Name))
		}
	case name == "/mode":
		words = slices.Clone(enums["permission-mode"])
	case name == "/model":
		for _, m := range c.client.ServerInfo().Models {
			words = append(words, term.OneLine(m.Value))
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, arg) })
	slices.Sort(words)
	return slices.Compact(words)
}
