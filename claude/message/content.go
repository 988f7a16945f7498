package message

import (
	"errors"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Content is the content of a message or of a tool result, which is a string or a list of blocks
// on the wire. It can be large, such as a file that a tool read, so its methods decode it at each
// call. The zero value means that there is no content.
type Content struct {
	raw    JSON
	text   string         // set by TextContent
	blocks []ContentBlock // set by BlockContent
}

// TextContent returns a content that is a single string, as the wire has it for most prompts
// and results. An empty string gives the zero Content.
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

// Blocks returns the blocks of the content, or nil for a string. It decodes them at each call,
// so a caller that needs them twice should keep the result.
func (c Content) Blocks() []ContentBlock {
	if c.raw == "" {
		return c.blocks
	}
	var blocks []ContentBlock
	_ = jsonwire.Unmarshal(string(c.raw), &blocks) // cannot fail: the line was valid
	return blocks
}

// String returns the text of the content: the string itself, or the texts of all text blocks
// joined without a separator.
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

// IsZero reports whether there is no content, as opposed to an empty list of blocks. The struct
// tag option omitzero uses it.
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

// UnmarshalJSON keeps a copy of the text, which must be a string, an array of blocks or null.
// Null gives the zero value.
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

// TextOf returns the texts of all text blocks, joined without a separator. Blocks of other types
// are omitted.
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
