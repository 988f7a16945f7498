package claude

import (
	"os"
	"slices"
	"strings"
)

// Isolation shuts out what the caller's machine would bring into a session: its
// environment, its configuration, its settings and its MCP servers. What is
// given in [Options] itself still counts.
type Isolation struct {
	// Env are the names of the caller's variables that pass; nil is
	// [IsolationEnv]. Credentials pass only by name, or through Options.Env.
	Env []string
	// ConfigDir takes the place of the user's configuration directory, with its
	// credentials, settings and history; "" makes an empty one that is removed
	// when the session ends.
	ConfigDir string
}

// IsolationEnv are the variables that an isolated session inherits when nothing
// else is said: what programs need to run and to reach the network, and the API
// key.
var IsolationEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP",
	"SYSTEMROOT", "COMSPEC", "PATHEXT",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
}

// isolate turns Isolation into the other options. The returned function removes
// what was made for it.
func (o *Options) isolate() (cleanup func(), err error) {
	if o.Isolation == nil {
		return func() {}, nil
	}
	dir, cleanup := o.Isolation.ConfigDir, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp(o.tempDir(), "parley-config-"); err != nil {
			return nil, err
		}
		cleanup = func() { os.RemoveAll(dir) }
	}
	env := o.isolatedEnv(os.Environ())
	env["CLAUDE_CONFIG_DIR"] = dir
	o.Env, o.CleanEnv = env, true
	if o.SettingSources == nil {
		o.SettingSources = []string{}
	}
	o.StrictMCPConfig = true
	return cleanup, nil
}

func (o *Options) isolatedEnv(caller []string) map[string]string {
	allowed := o.Isolation.Env
	if allowed == nil {
		allowed = IsolationEnv
	}
	env := map[string]string{}
	if !o.CleanEnv {
		for _, kv := range caller {
			if k, v, ok := strings.Cut(kv, "="); ok && slices.Contains(allowed, k) {
				env[k] = v
			}
		}
	}
	for k, v := range o.Env {
		env[k] = v
	}
	return env
}

// Visibility is what a session can see of the machine that it runs on.
type Visibility struct {
	Dir                   string
	AdditionalDirectories []string
	ConfigDir             string   // "" is the user's own
	Env                   []string // the names of all variables
	SettingSources        []string // nil is all of them
	StrictMCP             bool     // MCP servers of settings are left out

	// What the CLI itself has told with its last turn; empty before the first.
	Tools       []string
	MCPServers  []InitMCPServer
	Plugins     []InitPlugin
	Skills      []string
	Agents      []string
	MemoryPaths map[string]string
}

// Visibility reports what the session can see.
func (c *Client) Visibility() *Visibility {
	o := c.s.opts
	v := &Visibility{Dir: o.Dir, AdditionalDirectories: o.AdditionalDirectories, SettingSources: o.SettingSources, StrictMCP: o.StrictMCPConfig}
	for _, kv := range o.environ() {
		k, value, _ := strings.Cut(kv, "=")
		v.Env = append(v.Env, k)
		if k == "CLAUDE_CONFIG_DIR" {
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
