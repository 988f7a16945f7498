package acpagent

import (
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// inputBlocks converts an input to blocks of the protocol and to blocks of events. It converts only kinds that the
// agent supports.
func inputBlocks(in agent.Input, can acp.PromptCapabilities) ([]acp.ContentBlock, []event.Content, error) {
	list, err := agentkit.Blocks(in)
	if err != nil {
		return nil, nil, err
	}
	if in.Text != "" {
		return []acp.ContentBlock{acp.TextBlock(in.Text)}, []event.Content{textContent(in.Text)}, nil
	}
	var blocks []acp.ContentBlock
	var content []event.Content
	for i, b := range list {
		switch {
		case b.Type == "text":
			blocks = append(blocks, acp.TextBlock(b.Text))
		case b.Type == "image" && !can.Image.Or(false):
			return nil, nil, fmt.Errorf("%w: the agent does not support images", agent.ErrUnsupported)
		case b.Type == "audio" && !can.Audio.Or(false):
			return nil, nil, fmt.Errorf("%w: the agent does not support audio", agent.ErrUnsupported)
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

// largeText is the length from which the text of a prompt is not copied into its events.
const largeText = 64 << 10

func textContent(text string) event.Content {
	if len(text) >= largeText {
		return event.Content{Type: "text", Text: text}
	}
	return event.TextContent(text)
}

// promptRequest is an [acp.PromptRequest] that is encoded without copying its blocks, which may be
// large.
type promptRequest struct {
	session string
	hosted  bool
	uuid    string // for promptMeta under a host; may be ""
	blocks  []acp.ContentBlock
}

// AppendJSON appends the encoded request, with the blocks of inputBlocks.
func (r *promptRequest) AppendJSON(b []byte) ([]byte, error) {
	b = jsonwire.AppendString(append(b, `{"sessionId":`...), r.session)
	if r.hosted {
		b = jsonwire.AppendString(append(b, `,"_meta":{"`+promptMeta+`":`...), r.uuid)
		b = append(b, '}')
	}
	b = append(b, `,"prompt":[`...)
	for i, block := range r.blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonwire.AppendString(append(b, `{"type":`...), block.Type)
		switch v := block.Value.(type) {
		case *acp.TextContent:
			b = jsonwire.AppendString(append(b, `,"text":`...), v.Text)
		case *acp.ImageContent:
			b = appendMedia(b, v.Data, v.MimeType)
		case *acp.AudioContent:
			b = appendMedia(b, v.Data, v.MimeType)
		}
		b = append(b, '}')
	}
	return append(b, `]}`...), nil
}

func appendMedia(b []byte, data, mimeType string) []byte {
	b = jsonwire.AppendString(append(b, `,"data":`...), data)
	return jsonwire.AppendString(append(b, `,"mimeType":`...), mimeType)
}

// readPrompt returns the id and the content of a request written by AppendJSON. Texts without escapes share its memory.
func readPrompt(params string) (uuid string, content []event.Content) {
	var r struct {
		Meta   map[string]string `json:"_meta"`
		Prompt []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Data     string `json:"data"`
			MimeType string `json:"mimeType"`
		} `json:"prompt"`
	}
	_ = jsonwire.Unmarshal(params, &r) // this package wrote it
	for _, b := range r.Prompt {
		if b.Type == "text" {
			content = append(content, textContent(b.Text))
			continue
		}
		source := map[string]string{"type": "base64", "media_type": b.MimeType, "data": b.Data}
		content = append(content, event.ContentOf(event.Encoded(map[string]any{"type": b.Type, "source": source})))
	}
	return r.Meta[promptMeta], content
}
