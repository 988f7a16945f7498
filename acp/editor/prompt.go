package editor

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// promptInput converts the content of a prompt to blocks of the Messages API. Links become text;
// embedded texts follow at the end, each with its link as the name.
func promptInput(blocks []acp.ContentBlock) ([]json.RawMessage, error) {
	var list, contexts []json.RawMessage
	for i := range blocks {
		in, context, err := inputBlock(&blocks[i])
		if err != nil {
			return nil, err
		}
		if in != nil {
			text, err := jsonwire.Marshal(in)
			if err != nil {
				return nil, err
			}
			list = append(list, text)
		}
		if context != "" {
			text, err := jsonwire.Marshal(textInput(context))
			if err != nil {
				return nil, err
			}
			contexts = append(contexts, text)
		}
	}
	if list = append(list, contexts...); len(list) == 0 {
		text, err := jsonwire.Marshal(textInput(noContent))
		return []json.RawMessage{text}, err
	}
	return list, nil
}

// noContent replaces an empty prompt, which agents reject.
const noContent = "(no content)"

func textInput(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func imageInput(data, mimeType string) map[string]any {
	return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": mimeType, "data": data}}
}

// inputBlock converts a block of a prompt. It returns the block, and a text to add at the end of
// the prompt.
func inputBlock(b *acp.ContentBlock) (in map[string]any, context string, err error) {
	switch v := b.Value.(type) {
	case *acp.TextContent:
		if v.Text == "" {
			return nil, "", nil
		}
		return textInput(v.Text), "", nil
	case *acp.ImageContent:
		if uri := v.URI.Or(""); v.Data == "" && (strings.HasPrefix(uri, "https://") || strings.HasPrefix(uri, "http://")) {
			return map[string]any{"type": "image", "source": map[string]any{"type": "url", "url": uri}}, "", nil
		}
		return imageInput(v.Data, v.MimeType), "", nil
	case *acp.ResourceLink:
		return textInput(link(v.URI, v.Name)), "", nil
	case *acp.EmbeddedResource:
		return embedded(&v.Resource)
	case *acp.AudioContent:
		return nil, "", invalidf("type", b.Type, "audio is not supported by this agent")
	}
	return nil, "", invalidf("type", b.Type, "prompt: a block of the type %q is not supported", b.Type)
}

// embedded returns the content of a resource.
func embedded(r *acp.EmbeddedResourceResource) (map[string]any, string, error) {
	uri := r.URI.Or("")
	if text, ok := r.Text.Get(); ok {
		return textInput(link(uri, "")), "\n<context ref=\"" + uri + "\">\n" + text + "\n</context>", nil
	}
	blob, _ := r.Blob.Get()
	media := r.MimeType.Or("")
	if strings.HasPrefix(media, "image/") {
		return imageInput(blob, media), "", nil
	}
	if media == "application/pdf" {
		return map[string]any{"type": "document", "source": map[string]any{"type": "base64", "media_type": media, "data": blob}}, "", nil
	}
	return nil, "", invalidf("mimeType", media, "prompt: an embedded resource of the type %q is not supported", media)
}

// link returns a reference to a resource: for a file in the agent's form, otherwise its URI.
func link(uri, name string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" && u.Scheme != "zed" {
		if name != "" && name != uri {
			return "[" + name + "](" + uri + ")"
		}
		return uri
	}
	if name == "" {
		name = path.Base(u.Path)
	}
	return "[@" + name + "](" + uri + ")"
}
