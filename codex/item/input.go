package item

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Input is a part of a prompt. The set of types is closed; a part of a type that this
// package does not know is an *[UnknownInput].
//
//sumtype:decl
type Input interface {
	// Raw returns a copy of the part's text, nil for a part that was not decoded.
	Raw() json.RawMessage

	input() *inputText
}

type inputText struct{ text string }

// Raw returns a copy of the part's text, nil for a part that was not decoded.
func (t *inputText) Raw() json.RawMessage { return JSON(t.text).Bytes() }

func (t *inputText) input() *inputText { return t }

// Text is a text in the input of a turn. TextElements marks spans of it for a user interface.
type Text struct {
	inputText
	Text         string `json:"text"`
	TextElements JSON   `json:"text_elements,omitempty"`
}

// Image is an image by its address, which may be a data: URL, or by the id of a file.
type Image struct {
	inputText
	URL    string `json:"url,omitempty"`
	FileID string `json:"fileId,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// LocalImage is an image in the input of a turn, given by the path of a file on the server's
// machine.
type LocalImage struct {
	inputText
	Path   string `json:"path"`
	Detail string `json:"detail,omitempty"`
}

// Audio is a sound in the input of a turn, given by its address, which can be a data URL.
type Audio struct {
	inputText
	URL string `json:"url"`
}

// LocalAudio is a sound in the input of a turn, given by the path of a file on the server's
// machine.
type LocalAudio struct {
	inputText
	Path string `json:"path"`
}

// Skill names a skill, by its name and path, that the agent should use in the turn.
type Skill struct {
	inputText
	Name string `json:"name"`
	Path string `json:"path"`
}

// Mention refers to something in the prompt, such as a file or an app, by its path.
type Mention struct {
	inputText
	Name string `json:"name"`
	Path string `json:"path"`
}

// UnknownInput is a part of a type that this package does not know. To send one, set JSON
// to the whole part.
type UnknownInput struct {
	inputText
	Type string `json:"type"`
	JSON JSON   `json:"-"`
}

var inputTypes = jsonwire.Table[Input]{
	"text":       func() Input { return new(Text) },
	"image":      func() Input { return new(Image) },
	"localImage": func() Input { return new(LocalImage) },
	"audio":      func() Input { return new(Audio) },
	"localAudio": func() Input { return new(LocalAudio) },
	"skill":      func() Input { return new(Skill) },
	"mention":    func() Input { return new(Mention) },
}

var _ = jsonwire.Register(decodeInput)

func decodeInput(d *jsonwire.Decoder) Input {
	if d.Null() {
		return nil
	}
	i, text := inputTypes.Decode(d, func() Input { return new(UnknownInput) })
	i.input().text = text
	if u, ok := i.(*UnknownInput); ok {
		u.JSON = JSON(text)
	}
	return i
}

func (i *Text) MarshalJSON() ([]byte, error)       { return encodePart(i.text, "text", i) }
func (i *Image) MarshalJSON() ([]byte, error)      { return encodePart(i.text, "image", i) }
func (i *LocalImage) MarshalJSON() ([]byte, error) { return encodePart(i.text, "localImage", i) }
func (i *Audio) MarshalJSON() ([]byte, error)      { return encodePart(i.text, "audio", i) }
func (i *LocalAudio) MarshalJSON() ([]byte, error) { return encodePart(i.text, "localAudio", i) }
func (i *Skill) MarshalJSON() ([]byte, error)      { return encodePart(i.text, "skill", i) }
func (i *Mention) MarshalJSON() ([]byte, error)    { return encodePart(i.text, "mention", i) }

// MarshalJSON returns the text that the part was decoded from, byte for byte, or the JSON field.
func (i *UnknownInput) MarshalJSON() ([]byte, error) {
	if i.text != "" {
		return []byte(i.text), nil
	}
	return i.JSON.MarshalJSON()
}
