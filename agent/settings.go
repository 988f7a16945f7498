package agent

// The scopes of permission rules and MCP servers. The set is open.
const (
	ScopeUser    = "user"    // all projects of the user
	ScopeProject = "project" // in a file that is shared with the project
	ScopeLocal   = "local"   // this project, only for this user
)

// Rule is a permission rule of an agent's settings.
type Rule struct {
	Text     string // in the form of the settings: Bash(go test:*)
	Behavior string // allow, ask, deny
	Scope    string // ScopeUser, ScopeProject, ScopeLocal
	File     string // the file that has it
}

// MCPConfig is an MCP server in an agent's settings. The values of Env and Headers are secrets:
// they can be set, but are never returned.
type MCPConfig struct {
	Name, Scope, File string
	Type              string // stdio, http, sse
	Command           string
	Args              []string
	URL               string
	Env, Headers      map[string]string
}

// SettingsKeeper is implemented by a provider that keeps permission rules and MCP servers in files. dir is
// the directory of the project. Its methods may be called from any goroutine.
type SettingsKeeper interface {
	// Rules returns the rules that apply in a project. It returns an error if a file cannot be
	// read.
	Rules(dir string) ([]Rule, error)
	// SetRule adds a rule to the file of its scope, or removes it. File is ignored.
	SetRule(dir string, r Rule, keep bool) error
	// MCPServers returns the servers of a project, with empty values in Env and Headers, because
	// these are secrets.
	MCPServers(dir string) ([]MCPConfig, error)
	// SetMCPServer adds a server to a project, or replaces the one with the same name. An empty value of
	// Env and Headers keeps the previous one. Only ScopeProject can be changed.
	SetMCPServer(dir string, c MCPConfig) error
	// RemoveMCPServer removes a server of ScopeProject. The error for an unknown server is
	// [ErrNotFound].
	RemoveMCPServer(dir, name string) error
}
