package server

import (
	"slices"
	"strings"
)

// agentVariables are the variables of the server's environment that agents get. A trailing star
// matches the rest of a name. All other variables stay with the server, above all the secrets of
// other programs.
var agentVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP", "TERM", "NO_COLOR",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	"SYSTEMROOT", "SystemRoot", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PROGRAMFILES", "PROGRAMDATA",
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "OPENAI_API_KEY", "CODEX_HOME",
}

// AgentEnv returns the part of an environment for agents: an allow-list of the variables that they
// need to run and to reach their model, and the additional ones.
func AgentEnv(environ, additional []string) []string {
	return filterEnv(environ, slices.Concat(agentVariables, additional))
}

// filterEnv returns the variables that a list of names and prefixes allows.
func filterEnv(environ, allowed []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && slices.ContainsFunc(allowed, func(pattern string) bool {
			prefix, star := strings.CutSuffix(pattern, "*")
			return name == pattern || star && strings.HasPrefix(name, prefix)
		}) {
			env = append(env, entry)
		}
	}
	return env
}
