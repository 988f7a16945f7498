package agent

// The places where agents keep permission rules and MCP servers. The set is open.
const (
	ScopeUser    = "user"    // of all projects of the user
	ScopeProject = "project" // in a file of the project that everyone gets who clones it
	ScopeLocal   = "local"   // of the project, for this user alone
)

// Rule is a permission rule of an agent's settings.
type Rule struct {
	Text     string // in the form of the settings: Bash(go test:*)
	Behavior string // allow, ask, deny
	Scope    string // ScopeUser, ScopeProject, ScopeLocal
	File     string // the file that has it
}

// MCPConfig is an MCP server in an agent's settings. Values of Env and Headers are secrets: they are set,
// and never returned.
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
	// Rules returns the rules that apply in a project. Those of an unreadable file are an error.
	Rules(dir string) ([]Rule, error)
	// SetRule adds a rule to the file of its scope, or removes it. File is ignored.
	SetRule(dir string, r Rule, keep bool) error
	// MCPServers returns the servers that a project has, without secrets: the values of Env and Headers
	// are empty.
	MCPServers(dir string) ([]MCPConfig, error)
	// SetMCPServer adds a server to a project, or replaces the one with the same name. An empty value of
	// Env and Headers keeps the previous one. Only ScopeProject can be changed.
	SetMCPServer(dir string, c MCPConfig) error
	// RemoveMCPServer removes a server of ScopeProject. An unknown one is [ErrNotFound].
	RemoveMCPServer(dir, name string) error
}
