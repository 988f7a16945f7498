package rpc

import "github.com/seed7221b0f9/parley/ui"

// MCPStatusResult is the CLI's answer about its MCP servers.
type MCPStatusResult struct {
	Servers []ui.JSON `json:"servers"`
}

// MCPServerParams name an MCP server of a session.
type MCPServerParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name"`
}

// MCPToggleParams turn an MCP server on or off.
type MCPToggleParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name"`
	Enabled    bool   `json:"enabled"`
}

// MCPToolsParams ask for the tools of one MCP server, or of all.
type MCPToolsParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name,omitempty"`
}

// MCPToolsResult are tools.
type MCPToolsResult struct {
	Tools []MCPTool `json:"tools"`
}

// MCPTool is a tool of an MCP server.
type MCPTool struct {
	ServerName  string  `json:"server_name"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	InputSchema ui.JSON `json:"input_schema,omitempty"`
}

// NamesResult are models, commands or agents, as the CLI describes them.
type NamesResult struct {
	Items []ui.JSON `json:"items"`
}

// TaskParams name a task.
type TaskParams struct {
	SessionID string `json:"session_id"`
	TaskID    string `json:"task_id"`
}

// TaskOutputParams ask for a piece of a task's output.
type TaskOutputParams struct {
	SessionID string `json:"session_id"`
	TaskID    string `json:"task_id"`
	Offset    int64  `json:"offset,omitempty"`
	Limit     int64  `json:"limit,omitempty"`
}

// TaskOutputResult is a piece of a task's output.
type TaskOutputResult struct {
	Output string `json:"output"`
	Offset int64  `json:"offset"` // of the next piece
	EOF    bool   `json:"eof"`
}

// UsageContextResult is how full the context window is, as the CLI says.
type UsageContextResult struct {
	Usage ui.JSON `json:"usage"`
}

// UsageSessionResult is what a session has used.
type UsageSessionResult struct {
	CostUSD    *float64 `json:"cost_usd,omitempty"` // absent where it is not known
	Turns      int64    `json:"turns"`
	ModelUsage ui.JSON  `json:"model_usage,omitempty"`
}

// UsageSummaryParams ask what was used in a time.
type UsageSummaryParams struct {
	Project string `json:"project,omitempty"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	GroupBy string `json:"group_by,omitempty"` // day, model, project
}

// UsageSummaryResult is what was used, in groups.
type UsageSummaryResult struct {
	Rows []UsageRow `json:"rows"`
}

// UsageRow is what one group has used.
type UsageRow struct {
	Group                    string   `json:"group"`
	CostUSD                  *float64 `json:"cost_usd,omitempty"` // absent where it is not known
	InputTokens              int64    `json:"input_tokens"`
	OutputTokens             int64    `json:"output_tokens"`
	CacheCreationInputTokens int64    `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64    `json:"cache_read_input_tokens"`
}
