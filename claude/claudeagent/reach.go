package claudeagent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
)

var (
	_ agent.KeyProxied = (*Provider)(nil)
	_ agent.Reacher    = (*Session)(nil)
)

// credentials are the variables that give the CLI access to a model or select another one.
var credentials = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
	"CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "NO_PROXY", "no_proxy",
}

// ProxyEnv returns env with the address and token of the proxy in place of credentials. Requests to
// loopback do not use other proxies in env.
func (p *Provider) ProxyEnv(env []string, baseURL, token string) []string {
	var out []string
	direct := "127.0.0.1,localhost"
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if strings.EqualFold(name, "NO_PROXY") && value != "" && !strings.Contains(direct, value) {
			direct += "," + value
		}
		if !slices.Contains(credentials, name) {
			out = append(out, entry)
		}
	}
	return append(out, "ANTHROPIC_BASE_URL="+baseURL, "ANTHROPIC_API_KEY="+token, "NO_PROXY="+direct, "no_proxy="+direct)
}

// Reach asks the CLI for the rules of its sandbox, and returns them with the locations of its
// settings and its login.
func (s *Session) Reach(ctx context.Context) (agent.Reach, error) {
	dir := s.provider.configDir()
	for _, entry := range s.opts.Env {
		if value, ok := strings.CutPrefix(entry, "CLAUDE_CONFIG_DIR="); ok && value != "" {
			dir = value
		}
	}
	r := agent.Reach{PID: s.client.View().PID, ConfigDir: dir, Logins: []string{filepath.Join(dir, ".credentials.json")}}
	box, err := s.client.FetchSandboxDialog(ctx)
	if err != nil {
		return r, translate(err)
	}
	r.Sandbox, r.Missing = "off", box.Dependencies.Errors
	switch {
	case box.Enabled && len(r.Missing) == 0:
		r.Sandbox = "on"
	case !box.Supported:
		r.Sandbox = "unsupported"
	}
	limits := box.Restrictions
	r.DenyRead, r.AllowWrite, r.DenyWrite, r.Domains = limits.FSDenyRead, limits.FSAllowWrite, limits.FSDenyWrite, limits.NetworkAllowedDomains
	r.Escapes, r.CanEscape = box.ExcludedCommands, box.NoSandboxAllowed
	return r, nil
}
