package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// slashCommand is a command that the agent runs by itself.
type slashCommand struct {
	name, about string
	run         func(t *turn) string
}

var commands []slashCommand

func init() {
	commands = []slashCommand{
		{"clear", "Begin a new conversation", clearCommand},
		{"context", "Show what is in the context window", contextCommand},
		{"help", "Say what this agent is and does", func(*turn) string { return hello + tourTable() }},
		{"tours", "List the words that choose a tour", func(*turn) string { return tourTable() }},
	}
}

func commandNames() (names []string) {
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// command returns the slash command of a prompt.
func command(prompt string) (slashCommand, bool) {
	name, _, _ := strings.Cut(prompt, " ")
	i := slices.IndexFunc(commands, func(c slashCommand) bool { return "/"+c.name == name })
	if i < 0 {
		return slashCommand{}, false
	}
	return commands[i], true
}

func clearCommand(t *turn) string {
	t.a.mu.Lock()
	t.a.total = message.ModelUsage{}
	t.a.mu.Unlock()
	return "Nothing is remembered from here on. (Nothing was before: " + Disclosure + ")"
}

func contextCommand(t *turn) string {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	used := t.a.total.InputTokens + t.a.total.OutputTokens
	return fmt.Sprintf("## Context Usage\n\n**Model:** %s  \n**Tokens:** %d / %d\n\n| Category | Tokens |\n|---|---:|\n| Messages | %d |\n| Free space | %d |",
		t.a.model, used, window, used, window-used)
}
