package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ContextDetail is how exactly the context is counted.
type ContextDetail string

// The details; the zero value is the CLI's default, which is full.
const (
	ContextDetailSummary ContextDetail = "summary" // estimates, at once
	ContextDetailFull    ContextDetail = "full"    // asks the API to count each category
)

// ContextUsage is what the context window is filled with.
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
	// APIUsage is that of the last answer of the API, nil before the first.
	APIUsage *message.Usage `json:"apiUsage"`

	answer
}

// ContextUsageCategory is a part of the window. Its ID and Kind say what it is; its
// name is for people.
type ContextUsageCategory struct {
	ID         string `json:"id,omitempty"` // system_prompt, system_tools, messages, free_space …
	Name       string `json:"name"`
	Tokens     int64  `json:"tokens"`
	Color      string `json:"color"`
	IsDeferred bool   `json:"isDeferred,omitempty"`
	Kind       string `json:"kind"` // used, free, buffer, deferred
}

// ContextSquare is a square of the grid that shows the window.
type ContextSquare struct {
	Color          string  `json:"color"`
	IsFilled       bool    `json:"isFilled"`
	CategoryName   string  `json:"categoryName"`
	Tokens         int64   `json:"tokens"`
	Percentage     float64 `json:"percentage"`
	SquareFullness float64 `json:"squareFullness"`
}

// ContextMemoryFile is a file with instructions.
type ContextMemoryFile struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Tokens int64  `json:"tokens"`
}

// ContextMCPTool is a tool of an MCP server.
type ContextMCPTool struct {
	Name       string `json:"name"`
	ServerName string `json:"serverName"` // normalized
	Tokens     int64  `json:"tokens"`
	IsLoaded   *bool  `json:"isLoaded,omitempty"`
}

// ContextMCPInstructions is what the instructions of an MCP server take.
type ContextMCPInstructions struct {
	ServerName string `json:"serverName"`
	Tokens     int64  `json:"tokens"`
}

// ContextDeferredTool is a tool that is loaded when it is looked for.
type ContextDeferredTool struct {
	Name     string `json:"name"`
	Tokens   int64  `json:"tokens"`
	IsLoaded bool   `json:"isLoaded"`
}

// ContextTokens is anything with a name and a size.
type ContextTokens struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// ContextAgent is a subagent.
type ContextAgent struct {
	AgentType string `json:"agentType"`
	Source    string `json:"source"`
	PluginID  string `json:"pluginId,omitempty"`
	Path      string `json:"path,omitempty"`
	Tokens    int64  `json:"tokens"`
}

// ContextCommands is what the slash commands take.
type ContextCommands struct {
	TotalCommands    int64 `json:"totalCommands"`
	IncludedCommands int64 `json:"includedCommands"`
	Tokens           int64 `json:"tokens"`
}

// ContextSkills is what the skills take.
type ContextSkills struct {
	TotalSkills      int64          `json:"totalSkills"`
	IncludedSkills   int64          `json:"includedSkills"`
	Tokens           int64          `json:"tokens"`
	SkillFrontmatter []ContextSkill `json:"skillFrontmatter"`
}

// ContextSkill is a skill.
type ContextSkill struct {
	Name       string `json:"name"`
	Source     string `json:"source"`
	PluginName string `json:"pluginName,omitempty"`
	PluginID   string `json:"pluginId,omitempty"`
	Path       string `json:"path,omitempty"`
	Tokens     int64  `json:"tokens"`
}

// ContextMessages splits what the messages take.
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

// ContextToolCall is what the calls of a tool take.
type ContextToolCall struct {
	Name         string `json:"name"`
	CallTokens   int64  `json:"callTokens"`
	ResultTokens int64  `json:"resultTokens"`
}

// FetchContextUsage returns what the context window is filled with. [ContextDetailFull],
// which "" means as well, makes requests to the API.
func (c *Client) FetchContextUsage(ctx context.Context, detail ContextDetail) (*ContextUsage, error) {
	fields := struct {
		Detail ContextDetail `json:"detail,omitempty"`
	}{detail}
	return ask[ContextUsage](ctx, c, "get_context_usage", fields)
}
