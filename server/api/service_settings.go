package api

// SettingsOf names the project and the agent of settings: a folder that sessions may run in, the first one if
// it is empty, and a provider, the default one if it is empty.
type SettingsOf struct {
	CWD      string `json:"cwd,omitempty"`
	Provider string `json:"provider,omitempty"`
}

// RulesListResult lists the permission rules that apply in a project, with the files that have them.
type RulesListResult struct {
	Rules []Rule `json:"rules"`
}

// Rule is a permission rule of an agent's settings.
type Rule struct {
	Rule     string `json:"rule"`     // Bash(go test:*)
	Behavior string `json:"behavior"` // allow, ask, deny
	Scope    string `json:"scope"`    // user, project, local
	File     string `json:"file,omitempty"`
}

// RuleParams names a rule to add or to remove, with the scope whose file has it.
type RuleParams struct {
	CWD      string `json:"cwd,omitempty"`
	Provider string `json:"provider,omitempty"`
	Rule     string `json:"rule"`
	Behavior string `json:"behavior"`
	Scope    string `json:"scope"`
}

// MCPConfiguredResult lists the MCP servers in the settings of a project and of the user.
type MCPConfiguredResult struct {
	Servers []MCPConfig `json:"servers"`
}

// MCPConfig is an MCP server in settings. Values of env and headers are never returned; when they are set, an
// empty one keeps the previous value.
type MCPConfig struct {
	Name    string            `json:"name"`
	Scope   string            `json:"scope,omitempty"` // user, project
	File    string            `json:"file,omitempty"`
	Type    string            `json:"type"` // stdio, http, sse
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// MCPConfigureParams adds an MCP server to a project, or changes the one with the same name.
type MCPConfigureParams struct {
	CWD      string    `json:"cwd,omitempty"`
	Provider string    `json:"provider,omitempty"`
	Server   MCPConfig `json:"server"`
}

// MCPUnconfigureParams names an MCP server of a project to remove.
type MCPUnconfigureParams struct {
	CWD      string `json:"cwd,omitempty"`
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name"`
}
