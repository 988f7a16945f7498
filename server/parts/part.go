package parts

import "github.com/seed7221b0f9/parley/agent/event"

// Kind is the kind of a [Part].
type Kind string

// The kinds of parts. A text starts with [TextStart] and ends with [TextEnd]; thinking has the same
// three kinds. A tool call is [ToolStart], then [ToolInput], then [ToolResult].
const (
	TextStart     Kind = "text-start"
	TextDelta     Kind = "text-delta"
	TextEnd       Kind = "text-end"
	ThinkingStart Kind = "thinking-start"
	ThinkingDelta Kind = "thinking-delta"
	ThinkingEnd   Kind = "thinking-end"
	ToolStart     Kind = "tool-start"
	ToolInput     Kind = "tool-input"
	ToolResult    Kind = "tool-result"
	Ask           Kind = "ask"    // a request that waits for a person
	Error         Kind = "error"  // a failure that does not end the turn
	Finish        Kind = "finish" // the end of the turn, the last part
)

// Part is one piece of a run. Its kind determines which members are set.
type Part struct {
	Kind   Kind
	ID     string // of the block, the tool call or the request
	Parent string // the tool call of the subagent; empty on the main thread

	Text    string     // for a delta, a result or an error; the complete text at the end of a block that started in this stream
	Name    string     // for a tool
	Title   string     // for a tool: description of the call
	Input   event.JSON // for a tool; absent if the call was interrupted
	Content event.JSON // for a result: a string or blocks
	IsError bool       // for a result

	Call       string                   // for Ask: the earlier tool call at which it is shown
	Permission *event.PermissionRequest // for Ask: either this
	Question   *event.QuestionRequest   // or this
	End        *End                     // for Finish
}

// ToolUseID returns the id of the tool call that a request belongs to, or else the id of the
// request.
func (p *Part) ToolUseID() string {
	switch {
	case p.Permission != nil && p.Permission.ToolUseID != "":
		return p.Permission.ToolUseID
	case p.Question != nil && p.Question.ToolUseID != "":
		return p.Question.ToolUseID
	}
	return p.ID
}

// Reason is the reason why a turn ended.
type Reason string

// The reasons why a turn ends.
const (
	Stopped   Reason = "stop"
	Length    Reason = "length"
	Refused   Reason = "refusal"
	Cancelled Reason = "cancelled"
	Failed    Reason = "error"
)

// End describes the end of a turn. Result is the agent's report, nil if the turn ended without one.
type End struct {
	Reason  Reason
	Message string // for Failed: the reason
	Result  *event.ResultMessage
}
