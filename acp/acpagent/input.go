package acpagent

import (
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// inputBlocks converts an input to blocks of the protocol and to blocks of events. It converts only kinds that the
// agent supports.
func inputBlocks(in agent.Input, can acp.PromptCapabilities) ([]acp.ContentBlock, []event.Content, error) {
	list, err := agentkit.Blocks(in)
	if err != nil {
		return nil, nil, err
	}
	if in.Text != "" {
		return []acp.ContentBlock{acp.TextBlock(in.Text)}, []event.Content{event.TextContent(in.Text)}, nil
	}
	var blocks []acp.ContentBlock
	var content []event.Content
	for i, b := range list {
		switch {
		case b.Type == "text":
			blocks = append(blocks, acp.TextBlock(b.Text))
		case b.Type == "image" && !can.Image.Or(false):
			return nil, nil, fmt.Errorf("%w: the agent takes no images", agent.ErrUnsupported)
		case b.Type == "audio" && !can.Audio.Or(false):
			return nil, nil, fmt.Errorf("%w: the agent takes no audio", agent.ErrUnsupported)
		case b.Type == "audio" && b.Source.Type == "base64":
			blocks = append(blocks, acp.ContentBlock{Type: acp.ContentBlockIsAudio, Value: &acp.AudioContent{Data: b.Source.Data, MimeType: b.Source.MediaType}})
		case b.Type == "image" && b.Source.Type == "base64":
			blocks = append(blocks, acp.ContentBlock{Type: acp.ContentBlockIsImage, Value: &acp.ImageContent{Data: b.Source.Data, MimeType: b.Source.MediaType}})
		default:
			return nil, nil, fmt.Errorf("%w: a block of the type %q", agent.ErrInvalid, b.Type)
		}
		content = append(content, event.ContentOf(event.NewJSON(string(in.Content[i]))))
	}
	return blocks, content, nil
}
