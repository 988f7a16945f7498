package api

import "github.com/seed7221b0f9/parley/agent/event"

// MCPStatusResult lists the MCP servers of a session with their status, in the agent's form.
type MCPStatusResult struct {
	Servers []event.JSON `json:"servers"`
}

// MCPServerParams names an MCP server of a session, for methods that need only this.
type MCPServerParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name"`
}

// MCPToggleParams turns an MCP server of a session on or off.
type MCPToggleParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name"`
	Enabled    bool   `json:"enabled"`
}

// MCPToolsParams requests the tools of one MCP server of a session, or of all servers.
type MCPToolsParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name,omitempty"`
}

// MCPToolsResult lists tools of MCP servers. Each tool names its server.
type MCPToolsResult struct {
	Tools []MCPTool `json:"tools"`
}

// MCPTool is a tool of an MCP server of the session: its name, its description, and the schema
// of its input.
type MCPTool struct {
	ServerName  string     `json:"server_name"`
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	InputSchema event.JSON `json:"input_schema,omitempty"`
}

// NamesResult lists models, commands or agents that a session can use, in the agent's form.
type NamesResult struct {
	Items []event.JSON `json:"items"`
}

// TaskParams names a background task of a session by its id, as in the messages about tasks.
type TaskParams struct {
	SessionID string `json:"session_id"`
	TaskID    string `json:"task_id"`
}

// TaskOutputParams requests a piece of a task's output, from an offset on and up to a limit, in
// bytes.
type TaskOutputParams struct {
	SessionID string `json:"session_id"`
	TaskID    string `json:"task_id"`
	Offset    int64  `json:"offset,omitempty"`
	Limit     int64  `json:"limit,omitempty"`
}

// TaskOutputResult is a piece of a task's output, with the offset of the next one. EOF is set
// at the end.
type TaskOutputResult struct {
	Output string `json:"output"`
	Offset int64  `json:"offset"` // of the next piece
	EOF    bool   `json:"eof"`
}

// UsageContextResult reports the usage of a session's context window, in the agent's form.
type UsageContextResult struct {
	Usage event.JSON `json:"usage"`
}

// UsageSessionResult is the usage of a session so far: its cost, its turns, and its tokens by
// model.
type UsageSessionResult struct {
	CostUSD    *float64   `json:"cost_usd,omitempty"` // absent if unknown
	Turns      int64      `json:"turns"`
	ModelUsage event.JSON `json:"model_usage,omitempty"`
}

// UsageSummaryParams requests the usage of a period, in all projects or one, grouped by day, model,
// project, or block of five hours, which is named by its start.
type UsageSummaryParams struct {
	Project string `json:"project,omitempty"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	GroupBy string `json:"group_by,omitempty"` // day, model, project, block
	Machine string `json:"machine,omitempty"`  // a machine that has joined; empty is the server's
}

// UsageSummaryResult is the usage of a period, with a row per group.
type UsageSummaryResult struct {
	Rows []UsageRow `json:"rows"`
}

// UsageRow is the usage of one group: tokens by kind, and the cost if the prices are known.
type UsageRow struct {
	Group                    string   `json:"group"`
	CostUSD                  *float64 `json:"cost_usd,omitempty"` // absent if unknown
	InputTokens              int64    `json:"input_tokens"`
	OutputTokens             int64    `json:"output_tokens"`
	CacheCreationInputTokens int64    `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64    `json:"cache_read_input_tokens"`
}
