package main

import (
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// excerpt returns the end of a conversation.
func excerpt(c *event.Conversation) string {
	text := event.Encoded(struct {
		Turns   []*event.Turn
		Items   []*event.Item
		Notices []event.NoticeRow
		Prompts []*event.Prompt
		State   string
	}{c.Turns, items(c), c.Notices, c.Prompts, c.State})
	return string(text[max(0, len(text)-1500):])
}

// done reports whether the turn of a prompt has ended.
func done(c *event.Conversation, prompt string) bool {
	return slices.ContainsFunc(c.Turns, func(t *event.Turn) bool { return t.Done && t.Start != nil && t.Start.PromptID == prompt })
}

// last returns the agent's last message.
func last(c *event.Conversation) (text string) {
	for _, item := range items(c) {
		if item.Message == nil || item.Message.Role != "assistant" {
			continue
		}
		all := ""
		for _, b := range item.Message.Blocks {
			all += b.Text.String()
		}
		if all != "" {
			text = all
		}
	}
	return text
}

// items returns the main thread.
func items(c *event.Conversation) []*event.Item {
	if t := c.Thread(""); t != nil {
		return t.Items
	}
	return nil
}

// running reports whether a tool call has not ended.
func running(c *event.Conversation) bool {
	for _, item := range items(c) {
		if item.Message == nil {
			continue
		}
		for _, b := range item.Message.Blocks {
			if b.Tool != nil && b.Tool.Status == event.ToolInProgress {
				return true
			}
		}
	}
	return false
}
