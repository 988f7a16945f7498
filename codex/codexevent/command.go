package codexevent

import (
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// command records the text of a prompt that is a slash command, because the server sends no item
// for it.
func (c *Converter) command(call *item.Call) {
	var p struct {
		ClientID string `json:"clientUserMessageId"`
		Target   struct {
			Type         string `json:"type"`
			Branch       string `json:"branch"`
			SHA          string `json:"sha"`
			Instructions string `json:"instructions"`
		} `json:"target"`
	}
	if item.DecodeValue(call.Params, &p) != nil || p.ClientID == "" {
		return
	}
	text := "/compact"
	switch {
	case p.Target.Branch != "":
		text = "/review-branch " + p.Target.Branch
	case p.Target.SHA != "":
		text = "/review-commit " + p.Target.SHA
	case p.Target.Type != "":
		text = strings.TrimSpace("/review " + p.Target.Instructions)
	}
	c.commands[p.ClientID] = text
}

// showCommand emits a slash command as the prompt of its turn.
func (c *Converter) showCommand(t *thread, prompt string) {
	text, ok := c.commands[prompt]
	if !ok {
		return
	}
	delete(c.commands, prompt)
	h := c.head(t)
	h.UUID = prompt
	c.emit(&event.UserMessage{Header: h, Blocks: []event.Content{textBlock(text)}, IsPrompt: true})
}

// refused forgets the slash command of a call that the server rejected.
func (c *Converter) refused(call *item.Call) {
	id := startOf(call).ClientID
	if delete(c.commands, id); c.compacts == id {
		c.compacts = ""
	}
}
