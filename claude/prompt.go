package claude

// Thinking configures how much the model thinks before it answers, and whether the session
// shows a summary of its thoughts.
type Thinking struct {
	Type         ThinkingType
	BudgetTokens int    // for ThinkingEnabled
	Display      string // summarized or omitted
}

// ThinkingType selects whether the model thinks before it answers: adaptively, with a fixed
// budget, or not at all.
type ThinkingType string

// The types of thinking. The budget of [Thinking.BudgetTokens] applies to ThinkingEnabled; with
// ThinkingAdaptive the model decides.
const (
	ThinkingAdaptive ThinkingType = "adaptive"
	ThinkingEnabled  ThinkingType = "enabled"
	ThinkingDisabled ThinkingType = "disabled"
)

// SystemPrompt is a system prompt in one of its forms: [PromptText], [PromptParts],
// *[PromptCustom], *[PromptPreset] or [PromptFile]. A nil SystemPrompt is an empty prompt, not
// that of Claude Code.
type SystemPrompt interface{ systemPrompt() }

// PromptText is a system prompt in a single text. It replaces the system prompt of Claude Code
// as a whole.
type PromptText string

// PromptParts is the whole system prompt in parts. The part
// "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__" separates the cacheable parts from the changing ones.
type PromptParts []string

// PromptCustom is a system prompt in parts, like [PromptParts], with an option for the CLI to
// keep a snapshot of it.
type PromptCustom struct {
	Parts    []string
	Snapshot *bool
}

// PromptPreset is the system prompt of Claude Code, followed by the text of Append.
type PromptPreset struct {
	Append                 string
	ExcludeDynamicSections bool
	Snapshot               *bool
}

// PromptFile is the path of a file that holds the system prompt. The CLI reads it, so the path
// must exist on the CLI's machine.
type PromptFile string

func (PromptText) systemPrompt()    {}
func (PromptParts) systemPrompt()   {}
func (*PromptCustom) systemPrompt() {}
func (*PromptPreset) systemPrompt() {}
func (PromptFile) systemPrompt()    {}
