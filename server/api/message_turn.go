package api

import "github.com/seed7221b0f9/parley/agent/event"

// TurnStart begins a turn, for a prompt or by the agent itself. A [ResultMessage] ends the
// turn.
type TurnStart struct {
	TurnID    string `json:"turn_id"`
	By        string `json:"by"` // user, queue, task, agent
	PromptID  string `json:"prompt_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	UUID      string `json:"uuid,omitempty"`
	Provider  string `json:"provider"`
	Extra     Extra  `json:"-"`
}

// Plan is the agent's current plan. Each message carries the whole plan and replaces the one
// before it.
type Plan struct {
	Entries         []event.PlanEntry `json:"entries"`
	Explanation     string            `json:"explanation,omitempty"`
	Text            string            `json:"text,omitempty"`
	Omitted         int64             `json:"omitted,omitempty"`
	ToolUseID       string            `json:"tool_use_id,omitempty"`
	ParentToolUseID string            `json:"parent_tool_use_id,omitempty"`
	SessionID       string            `json:"session_id,omitempty"`
	UUID            string            `json:"uuid,omitempty"`
	Provider        string            `json:"provider"`
	Extra           Extra             `json:"-"`
}

// TurnDiff lists files that a turn has changed. It adds to the earlier ones of the turn, or
// replaces them if Replace is set.
type TurnDiff struct {
	TurnID          string             `json:"turn_id,omitempty"`
	ToolUseID       string             `json:"tool_use_id,omitempty"`
	Replace         bool               `json:"replace,omitempty"`
	Files           []event.FileChange `json:"files"`
	ParentToolUseID string             `json:"parent_tool_use_id,omitempty"`
	SessionID       string             `json:"session_id,omitempty"`
	UUID            string             `json:"uuid,omitempty"`
	Provider        string             `json:"provider"`
	Extra           Extra              `json:"-"`
}

// Usage reports what a turn has used so far, in tokens and US dollars, and how full the context
// window is. A member that is absent is not known.
type Usage struct {
	TurnID                   string     `json:"turn_id,omitempty"`
	Model                    string     `json:"model,omitempty"`
	InputTokens              *int64     `json:"input_tokens,omitempty"`
	OutputTokens             *int64     `json:"output_tokens,omitempty"`
	CacheCreationInputTokens *int64     `json:"cache_creation_input_tokens,omitempty"`
	CacheReadInputTokens     *int64     `json:"cache_read_input_tokens,omitempty"`
	ReasoningTokens          *int64     `json:"reasoning_tokens,omitempty"`
	ContextTokens            *int64     `json:"context_tokens,omitempty"`
	ContextWindow            *int64     `json:"context_window,omitempty"`
	CostUSD                  *float64   `json:"cost_usd,omitempty"`
	Data                     event.JSON `json:"data,omitempty"` // the provider's own figures
	SessionID                string     `json:"session_id,omitempty"`
	UUID                     string     `json:"uuid,omitempty"`
	Provider                 string     `json:"provider"`
	Extra                    Extra      `json:"-"`
}

// Truncate removes a part of the conversation, for example after a rewind. Of the members From,
// TurnID, Lines and All the first that is set counts.
type Truncate struct {
	Reason          string   `json:"reason,omitempty"`
	From            string   `json:"from,omitempty"`
	TurnID          string   `json:"turn_id,omitempty"`
	Lines           []string `json:"lines,omitempty"`
	All             bool     `json:"all,omitempty"`
	ParentToolUseID string   `json:"parent_tool_use_id,omitempty"`
	SessionID       string   `json:"session_id,omitempty"`
	UUID            string   `json:"uuid,omitempty"`
	Provider        string   `json:"provider"`
	Extra           Extra    `json:"-"`
}
