package item

// UserMessage is a prompt, also one that a hook or a goal made. ClientID is the
// clientUserMessageId that came with the prompt.
type UserMessage struct {
	ItemHead
	ClientID string  `json:"clientId,omitempty"`
	Content  []Input `json:"content"`
}

// HookPrompt is text that hooks added to the conversation.
type HookPrompt struct {
	ItemHead
	Fragments []HookFragment `json:"fragments"`
}

// HookFragment is the text of one hook's run.
type HookFragment struct {
	HookRunID string `json:"hookRunId"`
	Text      string `json:"text"`
}

// Phases of an agent's message.
const (
	PhaseCommentary    = "commentary"
	PhasePartialAnswer = "partial_answer"
	PhaseFinalAnswer   = "final_answer"
)

// AgentMessage is something the agent says. Phase is one of the Phase constants, or empty.
type AgentMessage struct {
	ItemHead
	Text           string `json:"text"`
	Phase          string `json:"phase,omitempty"`
	Delivery       JSON   `json:"delivery,omitempty"`
	MemoryCitation JSON   `json:"memoryCitation,omitempty"`
	Questions      JSON   `json:"questions,omitempty"`
}

// FunctionCallOutput is a tool's output that the client put into the conversation.
type FunctionCallOutput struct {
	ItemHead
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Output    JSON   `json:"output"`
}

// Plan is a plan that the agent proposes in plan mode, as text.
type Plan struct {
	ItemHead
	Text string `json:"text"`
}

// Reasoning is what the model thought: the parts of its summary, and where the provider
// shows them the parts of the reasoning itself.
type Reasoning struct {
	ItemHead
	Summary []string `json:"summary"`
	Content []string `json:"content"`
}

// EnteredReviewMode says that a review began. Review is what is being reviewed.
type EnteredReviewMode struct {
	ItemHead
	Review string `json:"review"`
}

// ExitedReviewMode says that a review ended. Review is its text.
type ExitedReviewMode struct {
	ItemHead
	Review string `json:"review"`
}

// ContextCompaction says that older parts of the conversation were replaced by a summary.
type ContextCompaction struct{ ItemHead }

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *UserMessage) MarshalJSON() ([]byte, error) {
	type plain UserMessage
	return encodePart(i.text, "userMessage", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *HookPrompt) MarshalJSON() ([]byte, error) {
	type plain HookPrompt
	return encodePart(i.text, "hookPrompt", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *AgentMessage) MarshalJSON() ([]byte, error) {
	type plain AgentMessage
	return encodePart(i.text, "agentMessage", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *FunctionCallOutput) MarshalJSON() ([]byte, error) {
	type plain FunctionCallOutput
	return encodePart(i.text, "functionCallOutput", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	return encodePart(i.text, "plan", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *Reasoning) MarshalJSON() ([]byte, error) {
	type plain Reasoning
	return encodePart(i.text, "reasoning", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *EnteredReviewMode) MarshalJSON() ([]byte, error) {
	type plain EnteredReviewMode
	return encodePart(i.text, "enteredReviewMode", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *ExitedReviewMode) MarshalJSON() ([]byte, error) {
	type plain ExitedReviewMode
	return encodePart(i.text, "exitedReviewMode", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *ContextCompaction) MarshalJSON() ([]byte, error) {
	type plain ContextCompaction
	return encodePart(i.text, "contextCompaction", (*plain)(i))
}

// MarshalJSON returns the item's text, or its fields if it was built.
func (i *UnknownItem) MarshalJSON() ([]byte, error) {
	if i.text != "" {
		return []byte(i.text), nil
	}
	type plain struct{ ItemHead }
	return encodePart("", i.Type, plain{i.ItemHead})
}
