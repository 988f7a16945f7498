package hook

import (
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Input holds the members that every hook receives. The input of each event embeds it. It is
// read-only. Its strings are substrings of the CLI's line and keep that line in memory.
type Input struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path"`
	CWD            string `json:"cwd"`
	// PromptID is the same for all events that one prompt causes.
	PromptID       string                 `json:"prompt_id,omitempty"`
	PermissionMode message.PermissionMode `json:"permission_mode,omitempty"`
	// AgentID is set only inside a subagent, AgentType also in a session that runs as an agent.
	AgentID       string  `json:"agent_id,omitempty"`
	AgentType     string  `json:"agent_type,omitempty"`
	Effort        *Effort `json:"effort,omitempty"` // nil if the model has no efforts
	HookEventName Event   `json:"hook_event_name"`

	callID string
	raw    message.JSON
}

// Effort is the thinking effort of the model in the turn of the event: low, medium, high, xhigh
// or max.
type Effort struct {
	Level string `json:"level"` // low, medium, high, xhigh, max
}

// Raw returns the whole input as the CLI sent it, including the members that this package does
// not know.
func (h *Input) Raw() message.JSON { return h.raw }

// CallID returns the tool_use_id that the CLI sends with the input. For an event about a tool call
// it is the id of the call, even if the input lacks it; for other events it is a random id.
func (h *Input) CallID() string { return h.callID }

func (h *Input) received(callID string, raw message.JSON) { h.callID, h.raw = callID, raw }

// DecodeInput decodes the input of an event into in, a pointer to a struct that embeds [Input].
// Text that is not an object leaves the fields empty; Raw still returns it.
func DecodeInput(in any, callID string, text message.JSON) {
	// Input that is not an object leaves the fields empty; Raw still has it.
	_ = jsonwire.Unmarshal(string(text), in)
	if h, ok := in.(interface{ received(string, message.JSON) }); ok {
		h.received(callID, text)
	}
}

// OtherInput is the input of an event that this package has no type for. Raw returns the whole
// input, with the members of the event.
type OtherInput struct{ Input }
