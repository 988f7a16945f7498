package message

import (
	"encoding/json"
	"fmt"

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
	// Verbatim sends the prompt as it is: the CLI expands no @file and runs no slash command.
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
	l := userLine{Type: "user", Message: inputMessage{Role: "user", Content: in.Content}, UUID: in.UUID,
		Priority: in.Priority, ClientComposed: in.Verbatim}
	if l.Message.Content == nil {
		l.Message.Content = []InputBlock{} // a null ends the CLI
	}
	if in.SessionID != "" || in.EmptySessionID {
		l.SessionID = &in.SessionID
	}
	if in.ParentToolUseID != "" {
		l.ParentToolUseID = &in.ParentToolUseID
	}
	if in.NoQuery {
		l.ShouldQuery = new(false)
	}
	line, err := jsonwire.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("claude: encoding a prompt: %w", err)
	}
	return line, nil
}

// rawLine is Raw in one line, with UUID added where it has none.
func (in UserInput) rawLine() ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in.Raw, &members); err != nil {
		return nil, fmt.Errorf("claude: UserInput.Raw: %w", err)
	}
	if _, ok := members["uuid"]; !ok && in.UUID != "" {
		members["uuid"] = json.RawMessage(`"` + in.UUID + `"`)
	}
	return jsonwire.Marshal(members)
}
