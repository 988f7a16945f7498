package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// UserInput is one prompt: its content blocks, an id, and how the CLI queues and treats it. The
// zero value has no content.
type UserInput struct {
	Content []InputBlock
	// UUID identifies the prompt. The CLI repeats it in the messages that belong to the prompt.
	// A claude.Client sets one if it is empty.
	UUID            string
	SessionID       string
	ParentToolUseID string
	// Priority decides when the CLI takes the prompt if it is busy.
	Priority Priority
	// NoQuery adds the prompt to the conversation without asking the model.
	NoQuery bool
	// Verbatim sends the prompt unchanged: the CLI expands no @file and runs no slash command.
	Verbatim bool
	// Raw, if it is set, is the whole line; of the other fields only UUID is used, for a line
	// without a uuid. A line of another type than user is sent too, but its turn has no result.
	Raw json.RawMessage

	// EmptySessionID sends session_id even if SessionID is empty, as the official SDKs do for
	// a prompt that is a string.
	EmptySessionID bool
}

// userLine is a prompt on the wire.
type userLine struct {
	Type            string       `json:"type"`
	SessionID       *string      `json:"session_id,omitempty"`
	Message         inputMessage `json:"message"`
	ParentToolUseID *string      `json:"parent_tool_use_id"`
	UUID            string       `json:"uuid,omitempty"`
	Priority        Priority     `json:"priority,omitempty"`
	ShouldQuery     *bool        `json:"shouldQuery,omitempty"`
	ClientComposed  bool         `json:"client_composed,omitempty"`
}

type inputMessage struct {
	Role    string       `json:"role"`
	Content []InputBlock `json:"content"`
}

// Line returns the prompt as the CLI reads it: one JSON object without a line break. It fails if
// Raw is not a JSON object or a block cannot be encoded.
func (in UserInput) Line() ([]byte, error) {
	if in.Raw != nil {
		return in.rawLine()
	}
	l := userLine{Type: "user", Message: inputMessage{Role: "user", Content: []InputBlock{}}, UUID: in.UUID,
		Priority: in.Priority, ClientComposed: in.Verbatim}
	if in.SessionID != "" || in.EmptySessionID {
		l.SessionID = &in.SessionID
	}
	if in.ParentToolUseID != "" {
		l.ParentToolUseID = &in.ParentToolUseID
	}
	if in.NoQuery {
		l.ShouldQuery = new(false)
	}
	frame, err := jsonwire.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("claude: encoding a prompt: %w", err)
	}
	// No string has the quotes of a key, and no other key has this name.
	begin, end, _ := bytes.Cut(frame, []byte(`"content":[]`))
	line, err := appendBlocks(append(bytes.Clone(begin), `"content":[`...), in.Content)
	if err != nil {
		return nil, fmt.Errorf("claude: encoding a prompt: %w", err)
	}
	return append(append(line, ']'), end...), nil
}

// Parts returns the line of a prompt that is a large text as consecutive parts, each valid until
// the next, so that the text is not copied. ok is false for any other prompt.
func (in UserInput) Parts() (parts iter.Seq[[]byte], ok bool) {
	if in.Raw != nil || len(in.Content) != 1 {
		return nil, false
	}
	text, isText := in.Content[0].(*Text)
	if !isText || text == nil || text.text != "" || len(text.Text) < largePrompt || len(text.Citations) > 0 {
		return nil, false
	}
	in.Content = []InputBlock{&Text{}}
	frame, err := in.Line()
	if err != nil {
		return nil, false // Line returns the error
	}
	// No string has the quotes of a key, and no other key has this name.
	const key = `"text":""`
	i := bytes.Index(frame, []byte(key)) + len(key) - 1
	return func(yield func([]byte) bool) {
		if !yield(frame[:i]) {
			return
		}
		for part := range jsonwire.Quoted(text.Text) {
			if !yield(part) {
				return
			}
		}
		yield(frame[i:])
	}, true
}

// largePrompt is the length from which the texts of a prompt are not joined to one line.
const largePrompt = 1 << 20

// appendBlocks appends blocks to a line. Texts can be large and are copied once.
func appendBlocks(line []byte, blocks []InputBlock) ([]byte, error) {
	for i, b := range blocks {
		if i > 0 {
			line = append(line, ',')
		}
		var err error
		if text, ok := b.(*Text); ok && text != nil && text.text == "" {
			line, err = appendFields(line, partKinds[reflect.TypeFor[*Text]()], text)
		} else {
			line, err = jsonwire.AppendJSON(line, b)
		}
		if err != nil {
			return nil, err
		}
	}
	return line, nil
}

// rawLine returns Raw as one line and adds UUID if the line has no uuid.
func (in UserInput) rawLine() ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in.Raw, &members); err != nil {
		return nil, fmt.Errorf("claude: UserInput.Raw: %w", err)
	}
	if members == nil {
		return nil, errors.New("claude: UserInput.Raw: null is not a JSON object")
	}
	if _, ok := members["uuid"]; !ok && in.UUID != "" {
		uuid, err := jsonwire.Marshal(in.UUID)
		if err != nil {
			return nil, fmt.Errorf("claude: UserInput.UUID: %w", err)
		}
		members["uuid"] = uuid
	}
	return jsonwire.Marshal(members)
}
