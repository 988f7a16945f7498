package api

import "github.com/seed7221b0f9/parley/agent/event"

// MCPStatusResult lists the MCP servers of a session with their status, each as the agent
// describes it.
type MCPStatusResult struct {
	Servers []event.JSON `json:"servers"`
}

// MCPServerParams name an MCP server of a session, for the methods that need nothing else.
type MCPServerParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name"`
}

// MCPToggleParams turn an MCP server of a session on or off, as Enabled has it, while the
// session goes on.
type MCPToggleParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name"`
	Enabled    bool   `json:"enabled"`
}

// MCPToolsParams ask for the tools of one MCP server of a session, or of all if no server is
// named.
type MCPToolsParams struct {
	SessionID  string `json:"session_id"`
	ServerName string `json:"server_name,omitempty"`
}

// MCPToolsResult lists tools of MCP servers. Each tool names the server that it belongs to.
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

// NamesResult lists models, commands or agents that a session can use, each as the agent itself
// describes it.
type NamesResult struct {
	Items []event.JSON `json:"items"`
}

// TaskParams name a background task of a session by its id, as the messages about tasks have
// it.
type TaskParams struct {
	SessionID string `json:"session_id"`
	TaskID    string `json:"task_id"`
}

// TaskOutputParams ask for a piece of a task's output, from an offset on and up to a limit, in
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

// UsageContextResult reports how full the context window of a session is, in the form that the
// agent has for it.
type UsageContextResult struct {
	Usage event.JSON `json:"usage"`
}

// UsageSessionResult is what a session has used so far: its cost, its turns, and its tokens by
// model.
type UsageSessionResult struct {
	CostUSD    *float64   `json:"cost_usd,omitempty"` // absent where it is not known
	Turns      int64      `json:"turns"`
	ModelUsage event.JSON `json:"model_usage,omitempty"`
}

// UsageSummaryParams ask what was used in a period, in all projects or one, grouped by day,
// model, project, or block of five hours, which is named by the time of its beginning.
type UsageSummaryParams struct {
	Project string `json:"project,omitempty"`
	Since   string `json:"since,omitempty"`
	Until   string `json:"until,omitempty"`
	GroupBy string `json:"group_by,omitempty"` // day, model, project, block
}

// UsageSummaryResult is what was used in a period, with a row for each of the groups that were
// asked for.
type UsageSummaryResult struct {
	Rows []UsageRow `json:"rows"`
}

// UsageRow is what one group has used: tokens by kind, and the cost where the prices are known.
type UsageRow struct {
	Group                    string   `json:"group"`
	CostUSD                  *float64 `json:"cost_usd,omitempty"` // absent where it is not known
	InputTokens              int64    `json:"input_tokens"`
	OutputTokens             int64    `json:"output_tokens"`
	CacheCreationInputTokens int64    `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64    `json:"cache_read_input_tokens"`
}
