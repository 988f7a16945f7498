package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ContextDetail selects how the CLI counts the tokens in the context window: with an estimate,
// or with requests to the API.
type ContextDetail string

// The levels of detail. The zero value leaves the choice to the CLI; its default is the full
// count.
const (
	ContextDetailSummary ContextDetail = "summary" // estimates, at once
	ContextDetailFull    ContextDetail = "full"    // asks the API to count each category
)

// ContextUsage describes what fills the context window of a session, by category and in detail.
// Sizes are in tokens.
type ContextUsage struct {
	Categories           []ContextUsageCategory   `json:"categories"`
	TotalTokens          int64                    `json:"totalTokens"`
	MaxTokens            int64                    `json:"maxTokens"`
	RawMaxTokens         int64                    `json:"rawMaxTokens"`
	Percentage           float64                  `json:"percentage"`
	GridRows             [][]ContextSquare        `json:"gridRows"`
	Model                string                   `json:"model"`
	MemoryFiles          []ContextMemoryFile      `json:"memoryFiles"`
	MCPTools             []ContextMCPTool         `json:"mcpTools"`
	MCPInstructions      []ContextMCPInstructions `json:"mcpInstructions,omitempty"`
	DeferredBuiltinTools []ContextDeferredTool    `json:"deferredBuiltinTools,omitempty"`
	SystemTools          []ContextTokens          `json:"systemTools,omitempty"`
	SystemPromptSections []ContextTokens          `json:"systemPromptSections,omitempty"`
	Agents               []ContextAgent           `json:"agents"`
	SlashCommands        *ContextCommands         `json:"slashCommands,omitempty"`
	Skills               *ContextSkills           `json:"skills,omitempty"`
	AutoCompactThreshold int64                    `json:"autoCompactThreshold,omitempty"`
	AutocompactSource    string                   `json:"autocompactSource,omitempty"`
	IsAutoCompactEnabled bool                     `json:"isAutoCompactEnabled"`
	MessageBreakdown     *ContextMessages         `json:"messageBreakdown,omitempty"`
	// APIUsage is the usage of the last answer of the API, or nil before the first.
	APIUsage *message.Usage `json:"apiUsage"`

	answer
}

// ContextUsageCategory is a part of the window. Its ID and Kind identify it; its name is for
// display.
type ContextUsageCategory struct {
	ID         string `json:"id,omitempty"` // system_prompt, system_tools, messages, free_space …
	Name       string `json:"name"`
	Tokens     int64  `json:"tokens"`
	Color      string `json:"color"`
	IsDeferred bool   `json:"isDeferred,omitempty"`
	Kind       string `json:"kind"` // used, free, buffer, deferred
}

// ContextSquare is one square of the grid with which the CLI draws the context window, and the
// category that fills it.
type ContextSquare struct {
	Color          string  `json:"color"`
	IsFilled       bool    `json:"isFilled"`
	CategoryName   string  `json:"categoryName"`
	Tokens         int64   `json:"tokens"`
	Percentage     float64 `json:"percentage"`
	SquareFullness float64 `json:"squareFullness"`
}

// ContextMemoryFile is a file with instructions, such as CLAUDE.md, that is part of the
// context, with its size in tokens.
type ContextMemoryFile struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Tokens int64  `json:"tokens"`
}

// ContextMCPTool is a tool of an MCP server with the tokens that its definition takes. IsLoaded
// is nil where the CLI did not report it.
type ContextMCPTool struct {
	Name       string `json:"name"`
	ServerName string `json:"serverName"` // normalized
	Tokens     int64  `json:"tokens"`
	IsLoaded   *bool  `json:"isLoaded,omitempty"`
}

// ContextMCPInstructions holds the number of tokens that the instructions of one MCP server
// take in the context window.
type ContextMCPInstructions struct {
	ServerName string `json:"serverName"`
	Tokens     int64  `json:"tokens"`
}

// ContextDeferredTool is a tool with a definition that is loaded only when the model searches
// for it. Tokens is the size of the definition.
type ContextDeferredTool struct {
	Name     string `json:"name"`
	Tokens   int64  `json:"tokens"`
	IsLoaded bool   `json:"isLoaded"`
}

// ContextTokens is a named part of the context and its size, for lists with elements that have
// no other properties.
type ContextTokens struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// ContextAgent is a subagent that the model can use, with the source and the size of its
// definition in tokens.
type ContextAgent struct {
	AgentType string `json:"agentType"`
	Source    string `json:"source"`
	PluginID  string `json:"pluginId,omitempty"`
	Path      string `json:"path,omitempty"`
	Tokens    int64  `json:"tokens"`
}

// ContextCommands counts the slash commands, those of them that are described to the model, and
// the tokens that the descriptions take.
type ContextCommands struct {
	TotalCommands    int64 `json:"totalCommands"`
	IncludedCommands int64 `json:"includedCommands"`
	Tokens           int64 `json:"tokens"`
}

// ContextSkills counts the skills, those of them that are described to the model, and the
// tokens that the descriptions take.
type ContextSkills struct {
	TotalSkills      int64          `json:"totalSkills"`
	IncludedSkills   int64          `json:"includedSkills"`
	Tokens           int64          `json:"tokens"`
	SkillFrontmatter []ContextSkill `json:"skillFrontmatter"`
}

// ContextSkill is one skill, with its source and the size of its description in tokens.
type ContextSkill struct {
	Name       string `json:"name"`
	Source     string `json:"source"`
	PluginName string `json:"pluginName,omitempty"`
	PluginID   string `json:"pluginId,omitempty"`
	Path       string `json:"path,omitempty"`
	Tokens     int64  `json:"tokens"`
}

// ContextMessages splits the tokens of the conversation by the kind of message, and those of
// tool calls and attachments by name.
type ContextMessages struct {
	ToolCallTokens          int64             `json:"toolCallTokens"`
	ToolResultTokens        int64             `json:"toolResultTokens"`
	AttachmentTokens        int64             `json:"attachmentTokens"`
	AssistantMessageTokens  int64             `json:"assistantMessageTokens"`
	UserMessageTokens       int64             `json:"userMessageTokens"`
	RedirectedContextTokens int64             `json:"redirectedContextTokens"`
	UnattributedTokens      int64             `json:"unattributedTokens"`
	ToolCallsByType         []ContextToolCall `json:"toolCallsByType"`
	AttachmentsByType       []ContextTokens   `json:"attachmentsByType"`
}

// ContextToolCall holds the tokens that all calls of one tool take in the context window, and
// those of their results.
type ContextToolCall struct {
	Name         string `json:"name"`
	CallTokens   int64  `json:"callTokens"`
	ResultTokens int64  `json:"resultTokens"`
}

// FetchContextUsage returns the contents of the context window with their sizes.
// [ContextDetailFull], the default, makes requests to the API.
func (c *Client) FetchContextUsage(ctx context.Context, detail ContextDetail) (*ContextUsage, error) {
	fields := struct {
		Detail ContextDetail `json:"detail,omitempty"`
	}{detail}
	return ask[ContextUsage](ctx, c, "get_context_usage", fields)
}
