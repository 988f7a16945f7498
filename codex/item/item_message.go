package item

// UserMessage is a prompt, including prompts of a hook or a goal. ClientID is the
// clientUserMessageId of the prompt.
type UserMessage struct {
	ItemHead
	ClientID string  `json:"clientId,omitempty"`
	Content  []Input `json:"content"`
}

// HookPrompt is an item with text that hooks added to the conversation, in one fragment for
// each run.
type HookPrompt struct {
	ItemHead
	Fragments []HookFragment `json:"fragments"`
}

// HookFragment is the text that one run of a hook added to the conversation, with the id of the
// run.
type HookFragment struct {
	HookRunID string `json:"hookRunId"`
	Text      string `json:"text"`
}

// The phases of an agent's message: a comment while it works, a part of its answer, or the answer.
const (
	PhaseCommentary    = "commentary"
	PhasePartialAnswer = "partial_answer"
	PhaseFinalAnswer   = "final_answer"
)

// AgentMessage is a message of the agent. Phase is one of the Phase constants, or empty.
type AgentMessage struct {
	ItemHead
	Text           string `json:"text"`
	Phase          string `json:"phase,omitempty"`
	Delivery       JSON   `json:"delivery,omitempty"`
	MemoryCitation JSON   `json:"memoryCitation,omitempty"`
	Questions      JSON   `json:"questions,omitempty"`
}

// FunctionCallOutput is an item with the output of a tool that the client added to the
// conversation.
type FunctionCallOutput struct {
	ItemHead
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Output    JSON   `json:"output"`
}

// Plan is an item with a plan that the agent proposes in plan mode, as Markdown text.
type Plan struct {
	ItemHead
	Text string `json:"text"`
}

// Reasoning is the model's reasoning: the parts of its summary and, if the provider shows them, the
// parts of the reasoning.
type Reasoning struct {
	ItemHead
	Summary []string `json:"summary"`
	Content []string `json:"content"`
}

// EnteredReviewMode is an item that marks the start of a review. Review is the subject of the
// review.
type EnteredReviewMode struct {
	ItemHead
	Review string `json:"review"`
}

// ExitedReviewMode is an item that marks the end of a review. Review is the text of its
// findings.
type ExitedReviewMode struct {
	ItemHead
	Review string `json:"review"`
}

// ContextCompaction is an item that marks the place where older parts of the conversation were
// replaced by a summary.
type ContextCompaction struct{ ItemHead }

func (i *UserMessage) MarshalJSON() ([]byte, error)  { return encodePart(i.text, "userMessage", i) }
func (i *HookPrompt) MarshalJSON() ([]byte, error)   { return encodePart(i.text, "hookPrompt", i) }
func (i *AgentMessage) MarshalJSON() ([]byte, error) { return encodePart(i.text, "agentMessage", i) }
func (i *FunctionCallOutput) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "functionCallOutput", i)
}
func (i *Plan) MarshalJSON() ([]byte, error)      { return encodePart(i.text, "plan", i) }
func (i *Reasoning) MarshalJSON() ([]byte, error) { return encodePart(i.text, "reasoning", i) }
func (i *EnteredReviewMode) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "enteredReviewMode", i)
}
func (i *ExitedReviewMode) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "exitedReviewMode", i)
}
func (i *ContextCompaction) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, "contextCompaction", i)
}

func (i *UnknownItem) MarshalJSON() ([]byte, error) {
	return encodePart(i.text, i.Type, &i.ItemHead)
}
