package message

import (
	"errors"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Content is a content that the wire gives either as a string or as blocks. It
// can be large, what a tool read for example, and is decoded when asked for. The zero value
// means that there is no content.
type Content struct {
	raw    JSON
	text   string         // of a content that was built
	blocks []ContentBlock // of a content that was built
}

// TextContent returns a content that is a single string, as the wire has it for most prompts
// and results.
func TextContent(s string) Content { return Content{text: s} }

// BlockContent returns a content that consists of these blocks. Without blocks it is an empty
// list, not the zero Content.
func BlockContent(blocks ...ContentBlock) Content {
	return Content{blocks: append([]ContentBlock{}, blocks...)}
}

var _ = jsonwire.Register(func(d *jsonwire.Decoder) Content { return Content{raw: JSON(d.Text())} })

// IsText reports whether the content is a string and not a list of blocks. It is false for the
// zero value.
func (c Content) IsText() bool {
	if c.raw == "" {
		return c.blocks == nil && c.text != ""
	}
	return c.raw[0] == '"'
}

// Blocks are the blocks of the content, nil for a string. They are decoded at
// each call.
func (c Content) Blocks() []ContentBlock {
	if c.raw == "" {
		return c.blocks
	}
	var blocks []ContentBlock
	_ = jsonwire.Unmarshal(string(c.raw), &blocks) // the line was valid
	return blocks
}

// String is the text of the content: the string itself, or the text blocks one
// after another.
func (c Content) String() string {
	if c.IsText() {
		if c.raw == "" {
			return c.text
		}
		s, _ := jsonwire.NewDecoder(string(c.raw)).String()
		return s
	}
	return TextOf(c.Blocks())
}

// IsZero reports whether there is no content at all, as opposed to an empty list of blocks. It
// serves the option omitzero.
func (c Content) IsZero() bool { return c.raw == "" && c.text == "" && c.blocks == nil }

// MarshalJSON writes the content byte for byte as it was read, or encodes it if it was built by
// the program.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case c.raw != "":
		return c.raw.Bytes(), nil
	case c.blocks != nil:
		return jsonwire.Marshal(c.blocks)
	}
	return jsonwire.Marshal(c.text)
}

// UnmarshalJSON keeps a copy of the text, which must be a string or an array of blocks.
func (c *Content) UnmarshalJSON(text []byte) error {
	if k := jsonwire.NewDecoder(string(text)).Kind(); k != '"' && k != '[' && k != 'n' {
		return errNoContent
	}
	*c = Content{}
	if string(text) != "null" {
		c.raw = JSON(text)
	}
	return nil
}

var errNoContent = errors.New("message: content is neither a string nor an array of blocks")

// TextOf returns the texts of all text blocks, joined without a separator. Blocks of other
// types are left out.
func TextOf(blocks []ContentBlock) string {
	var only string
	var all []byte
	for _, b := range blocks {
		t, ok := b.(*Text)
		switch {
		case !ok:
		case only == "" && all == nil:
			only = t.Text
		default:
			if all == nil {
				all = []byte(only)
			}
			all = append(all, t.Text...)
		}
	}
	if all != nil {
		return string(all)
	}
	return only
}
