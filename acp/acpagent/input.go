package acpagent

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// inputBlocks are the blocks of an input as the protocol has them, and as events have them.
func inputBlocks(in agent.Input) ([]acp.ContentBlock, []event.Content, error) {
	if (in.Text == "") == (len(in.Content) == 0) {
		return nil, nil, fmt.Errorf("%w: an input has either text or content", agent.ErrInvalid)
	}
	if in.Text != "" {
		return []acp.ContentBlock{acp.TextBlock(in.Text)}, []event.Content{event.TextContent(in.Text)}, nil
	}
	var blocks []acp.ContentBlock
	var content []event.Content
	for _, raw := range in.Content {
		var b struct {
			Type   string `json:"type"`
			Text   string `json:"text"`
			Source struct {
				Type      string `json:"type"`
				MediaType string `json:"media_type"`
				Data      string `json:"data"`
			} `json:"source"`
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, nil, fmt.Errorf("%w: a block: %w", agent.ErrInvalid, err)
		}
		switch {
		case b.Type == "text":
			blocks = append(blocks, acp.TextBlock(b.Text))
		case b.Type == "image" && b.Source.Type == "base64":
			blocks = append(blocks, acp.ContentBlock{Type: acp.ContentBlockIsImage, Value: &acp.ImageContent{Data: b.Source.Data, MimeType: b.Source.MediaType}})
		default:
			return nil, nil, fmt.Errorf("%w: a block of the type %q", agent.ErrInvalid, b.Type)
		}
		content = append(content, event.ContentOf(event.NewJSON(string(raw))))
	}
	return blocks, content, nil
}
