package claude

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/seed7221b0f9/parley/mcptool"
)

// externalServers returns the servers that the CLI starts or connects to.
func (l *launch) externalServers() map[string]MCPServer {
	if !l.hasToolServers() {
		return l.MCPServers
	}
	external := maps.Clone(l.MCPServers)
	maps.DeleteFunc(external, func(_ string, s MCPServer) bool { return s.Server != nil })
	return external
}

// serverName matches valid server names: the API accepts no other characters in tool
// names, which contain it.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,100}$`)

// checkServers returns an error for the first invalid server by name.
func checkServers(servers map[string]MCPServer) error {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		if !serverName.MatchString(name) {
			return fmt.Errorf("claude: MCPServers: the name %q is not made of 1 to 100 letters, digits, underscores and hyphens", name)
		}
		if why := s.mistake(); why != "" {
			return fmt.Errorf("claude: MCPServers: %q %s", name, why)
		}
		if s.Server != nil {
			if err := mcptool.Check(s.Server); err != nil {
				return fmt.Errorf("claude: MCPServers: %q: %w", name, err)
			}
		}
	}
	return nil
}

// mistake returns the reason why a server is invalid, or "".
func (s *MCPServer) mistake() string {
	local := s.Command != "" || len(s.Args) > 0 || len(s.Env) > 0
	remote := s.URL != "" || len(s.Headers) > 0
	switch {
	case s.Server != nil && (local || remote || s.Type != "" && s.Type != "sdk"):
		return "is a server of this process, which has no command, no URL and no type"
	case s.Server != nil:
		return ""
	case s.Type == "sdk":
		return "has the type sdk, which needs a Server"
	case local && remote:
		return "has both a command and a URL, or options of both"
	case s.Type == "stdio" && remote, (s.Type == "http" || s.Type == "sse") && local:
		return "has the type " + s.Type + ", which does not go with the rest"
	case s.URL != "" && s.Type == "":
		return "has a URL and no type, http or sse, without which the CLI leaves it out"
	case s.Command == "" && s.URL == "":
		return "has neither a command nor a URL nor a Server"
	}
	return ""
}
