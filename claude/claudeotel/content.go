package claudeotel

import (
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"go.opentelemetry.io/otel/attribute"
)

// content returns an attribute with the text, or an empty list if content is disabled or the text
// is empty.
func (b *bridge) content(key attribute.Key, text func() string) []attribute.KeyValue {
	if b.edit == nil {
		return nil
	}
	return add(nil, key, b.edit(text()))
}

// part and chatMessage are the form of messages in the conventions.
type (
	part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	chatMessage struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
)

// messageAttribute returns an attribute with the message, or an empty list if content is disabled
// or the text is empty.
func (b *bridge) messageAttribute(key attribute.Key, role string, text func() string) []attribute.KeyValue {
	if b.edit == nil {
		return nil
	}
	t := b.edit(text())
	if t == "" {
		return nil
	}
	j, _ := json.Marshal([]chatMessage{{role, []part{{"text", t}}}}) // cannot fail for strings
	return add(nil, key, string(j))
}

func answerText(messages []*message.Assistant) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Text())
	}
	return b.String()
}

func promptsText(prompts []claude.PromptTrace) string {
	var texts []string
	for _, p := range prompts {
		var line struct {
			Message struct {
				Content message.JSON `json:"content"`
			} `json:"message"`
		}
		_ = p.Line.Decode(&line) // a line that is not a prompt has no text
		texts = append(texts, contentText(line.Message.Content))
	}
	return strings.Join(texts, "\n")
}

// contentText returns the text of a prompt: the string, or the texts of its blocks.
func contentText(content message.JSON) string {
	var text string
	if content.Decode(&text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = content.Decode(&blocks) // the CLI accepts no other forms
	for _, b := range blocks {
		text += b.Text
	}
	return text
}
