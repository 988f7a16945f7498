package claude

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// Isolation separates a session from the caller's machine: its environment, configuration,
// settings and MCP servers. Values in [Options] still apply.
type Isolation struct {
	// Env are the names of the variables that the session inherits; nil means
	// [IsolationEnv]. Credentials must be named here or passed in Options.Env.
	Env []string
	// ConfigDir replaces the user's configuration directory, which has the credentials,
	// settings and history; "" means an empty one that is removed when the session ends.
	ConfigDir string
}

// IsolationEnv are the variables that an isolated session inherits by default: those that
// programs need to run and to reach the network, and the API key.
var IsolationEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP",
	"SYSTEMROOT", "COMSPEC", "PATHEXT",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
}

// isolate applies Isolation. The returned function removes the files that it created.
func (l *launch) isolate() (cleanup func(), err error) {
	if l.Isolation == nil {
		return func() {}, nil
	}
	dir, cleanup := l.Isolation.ConfigDir, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp(l.tempDir(), "parley-config-"); err != nil {
			return nil, err
		}
		cleanup = func() { os.RemoveAll(dir) }
	}
	env := l.isolatedEnv(os.Environ())
	env[claudedir.ConfigVariable] = dir
	l.isolated(env)
	return cleanup, nil
}

func (l *launch) isolatedEnv(caller []string) map[string]string {
	allowed := l.Isolation.Env
	if allowed == nil {
		allowed = IsolationEnv
	}
	env := map[string]string{}
	if !l.CleanEnv {
		for _, kv := range caller {
			if k, v, ok := strings.Cut(kv, "="); ok && slices.Contains(allowed, k) {
				env[k] = v
			}
		}
	}
	maps.Copy(env, l.Env)
	return env
}

// Visibility lists the parts of its machine that a session can see: directories,
// configuration, environment and settings.
type Visibility struct {
	Dir                   string
	AdditionalDirectories []string
	ConfigDir             string   // "" means the user's
	Env                   []string // the names of all variables
	SettingSources        []string // nil means all
	StrictMCP             bool     // MCP servers of settings are ignored

	// Reported by the CLI with its last turn; empty before the first.
	Tools       []string
	MCPServers  []message.InitMCPServer
	Plugins     []message.InitPlugin
	Skills      []string
	Agents      []string
	MemoryPaths map[string]string
}

// Visibility returns the parts of the machine that the session can see, as far as the
// options and the environment of the CLI decide it.
func (c *Client) Visibility() *Visibility {
	l := c.s.launch
	v := &Visibility{Dir: l.Dir, AdditionalDirectories: l.AdditionalDirectories, SettingSources: l.SettingSources, StrictMCP: l.StrictMCPConfig}
	for _, kv := range l.environ() {
		k, value, _ := strings.Cut(kv, "=")
		v.Env = append(v.Env, k)
		if k == claudedir.ConfigVariable {
			v.ConfigDir = value
		}
	}
	c.s.update(func(st *sessionState) {
		if m := st.init; m != nil {
			v.Dir, v.AdditionalDirectories = m.CWD, m.AdditionalDirectories
			v.Tools, v.MCPServers, v.Plugins = m.Tools, m.MCPServers, m.Plugins
			v.Skills, v.Agents, v.MemoryPaths = m.Skills, m.Agents, m.MemoryPaths
		}
	})
	return v
}
