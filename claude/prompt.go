package claude

// Thinking says how much the model thinks before it answers.
type Thinking struct {
	Type         ThinkingType
	BudgetTokens int    // for ThinkingEnabled
	Display      string // summarized or omitted
}

// ThinkingType is the way of thinking.
type ThinkingType string

// The ways of thinking.
const (
	ThinkingAdaptive ThinkingType = "adaptive"
	ThinkingEnabled  ThinkingType = "enabled"
	ThinkingDisabled ThinkingType = "disabled"
)

// SystemPrompt is one of [PromptText], [PromptParts], *[PromptCustom],
// *[PromptPreset] and [PromptFile].
type SystemPrompt interface{ systemPrompt() }

// PromptText is the whole system prompt.
type PromptText string

// PromptParts is the whole system prompt in parts. The part
// "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__" divides what can be cached from what
// changes.
type PromptParts []string

// PromptCustom is PromptParts with a choice.
type PromptCustom struct {
	Parts    []string
	Snapshot *bool
}

// PromptPreset is Claude Code's own system prompt, with something behind it.
type PromptPreset struct {
	Append                 string
	ExcludeDynamicSections bool
	Snapshot               *bool
}

// PromptFile is the path of a file that holds the system prompt.
type PromptFile string

func (PromptText) systemPrompt()    {}
func (PromptParts) systemPrompt()   {}
func (*PromptCustom) systemPrompt() {}
func (*PromptPreset) systemPrompt() {}
func (PromptFile) systemPrompt()    {}
