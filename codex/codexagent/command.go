package codexagent

import (
	"context"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
)

// command is a slash command that a request of the server implements.
type command struct {
	name, description, hint string
	apply                   func(p *codex.Prompt, argument string) bool // false if the argument is missing
}

var commands = []command{
	{"review", "Review the uncommitted changes, or what the instructions name", "instructions", func(p *codex.Prompt, argument string) bool {
		p.Review = &codex.ReviewTarget{Type: "uncommittedChanges"}
		if argument != "" {
			p.Review = &codex.ReviewTarget{Type: "custom", Instructions: argument}
		}
		return true
	}},
	{"review-branch", "Review the changes since a branch", "branch", func(p *codex.Prompt, argument string) bool {
		p.Review = &codex.ReviewTarget{Type: "baseBranch", Branch: argument}
		return argument != ""
	}},
	{"review-commit", "Review a commit", "commit", func(p *codex.Prompt, argument string) bool {
		p.Review = &codex.ReviewTarget{Type: "commit", SHA: argument}
		return argument != ""
	}},
	{"compact", "Replace the conversation by a summary", "", func(p *codex.Prompt, argument string) bool {
		p.Compact = argument == ""
		return p.Compact
	}},
}

// commandOf returns the prompt for a text that is a slash command; nil for any other text.
func commandOf(p *codex.Prompt) *codex.Prompt {
	if len(p.Input) != 1 {
		return nil
	}
	text, ok := p.Input[0].(*item.Text)
	if !ok {
		return nil
	}
	name, argument, _ := strings.Cut(strings.TrimSpace(text.Text), " ")
	for _, c := range commands {
		out := &codex.Prompt{ClientID: p.ClientID}
		if name == "/"+c.name && c.apply(out, strings.TrimSpace(argument)) {
			return out
		}
	}
	return nil
}

// Commands returns the slash commands that a prompt can start with.
func (s *Session) Commands(context.Context) ([]agent.Entry, error) {
	var list []agent.Entry
	for _, c := range commands {
		e := agent.Entry{Name: c.name, Description: c.description}
		if c.hint != "" {
			e.Data = []byte(`{"argumentHint":"` + c.hint + `"}`)
		}
		list = append(list, e)
	}
	return list, s.kit.Alive()
}
