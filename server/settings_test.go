package server

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
)

// settingsKeeper is an agent that keeps settings in memory. It records the arguments of each call.
type settingsKeeper struct {
	*agenttest.Provider
	fails   error
	dirs    []string
	rules   []agent.Rule
	kept    []bool
	set     []agent.MCPConfig
	servers []agent.MCPConfig
	gone    []string
}

func (k *settingsKeeper) Rules(dir string) ([]agent.Rule, error) {
	k.dirs = append(k.dirs, dir)
	return k.rules, k.fails
}

func (k *settingsKeeper) SetRule(dir string, r agent.Rule, keep bool) error {
	k.dirs, k.rules, k.kept = append(k.dirs, dir), append(k.rules, r), append(k.kept, keep)
	return k.fails
}

func (k *settingsKeeper) MCPServers(dir string) ([]agent.MCPConfig, error) {
	k.dirs = append(k.dirs, dir)
	return k.servers, k.fails
}

func (k *settingsKeeper) SetMCPServer(dir string, c agent.MCPConfig) error {
	k.dirs, k.set = append(k.dirs, dir), append(k.set, c)
	return k.fails
}

func (k *settingsKeeper) RemoveMCPServer(dir, name string) error {
	k.dirs, k.gone = append(k.dirs, dir), append(k.gone, name)
	return k.fails
}

// TestSettings checks each call about the settings of a project: every value reaches the agent in
// its place, and a failure is returned.
func TestSettings(t *testing.T) {
	keeper := &settingsKeeper{}
	h := newHarness(t, func(o *Options) { o.Providers = []agent.Provider{keeper} })
	keeper.Provider = h.provider
	work, err := filepath.EvalSymlinks(filepath.Join(h.dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	keeper.rules = []agent.Rule{{Text: "Bash(ls)", Behavior: "deny", Scope: "user", File: "/f"}}
	keeper.servers = []agent.MCPConfig{{Name: "n", Scope: "s", File: "f", Type: "t", Command: "c", Args: []string{"a"}, URL: "u", Env: map[string]string{"e": "1"}, Headers: map[string]string{"h": "2"}}}
	of := api.SettingsOf{CWD: work}
	var rules api.RulesListResult
	h.call("rules.list", of, &rules)
	if diff := cmp.Diff([]api.Rule{{Rule: "Bash(ls)", Behavior: "deny", Scope: "user", File: "/f"}}, rules.Rules); diff != "" {
		t.Errorf("the rules (-want +got):\n%s", diff)
	}
	var servers api.MCPConfiguredResult
	h.call("mcp.configured", of, &servers)
	whole := api.MCPConfig{Name: "n", Scope: "s", File: "f", Type: "t", Command: "c", Args: []string{"a"}, URL: "u", Env: map[string]string{"e": "1"}, Headers: map[string]string{"h": "2"}}
	if diff := cmp.Diff([]api.MCPConfig{whole}, servers.Servers); diff != "" {
		t.Errorf("the servers (-want +got):\n%s", diff)
	}
	keeper.rules, keeper.servers = nil, nil
	for _, behavior := range []string{"allow", "ask", "deny"} {
		for _, scope := range []string{agent.ScopeUser, agent.ScopeProject, agent.ScopeLocal} {
			h.call("rules.add", api.RuleParams{CWD: work, Rule: "r", Behavior: behavior, Scope: scope}, nil)
			if got, want := keeper.rules[len(keeper.rules)-1], (agent.Rule{Text: "r", Behavior: behavior, Scope: scope}); got != want || !keeper.kept[len(keeper.kept)-1] {
				t.Errorf("the agent keeps %+v, %t; want %+v", got, keeper.kept[len(keeper.kept)-1], want)
			}
		}
	}
	h.call("rules.remove", api.RuleParams{CWD: work, Rule: "r", Behavior: "deny", Scope: "user"}, nil)
	if keeper.kept[len(keeper.kept)-1] {
		t.Error("a rule that is removed was kept")
	}
	for _, c := range []api.MCPConfig{
		{Name: "a", Type: "stdio", Command: "c", Args: []string{"x"}, Env: map[string]string{"e": "1"}},
		{Name: "b", Type: "http", URL: "https://x", Headers: map[string]string{"h": "2"}},
		{Name: "c", Type: "sse", URL: "http://x", Scope: "user", File: "/etc/passwd"},
	} {
		h.call("mcp.configure", api.MCPConfigureParams{CWD: work, Server: c}, nil)
		want := agent.MCPConfig{Name: c.Name, Scope: agent.ScopeProject, Type: c.Type, Command: c.Command, Args: c.Args, URL: c.URL, Env: c.Env, Headers: c.Headers}
		if diff := cmp.Diff(want, keeper.set[len(keeper.set)-1]); diff != "" {
			t.Errorf("the server (-want +got):\n%s", diff)
		}
	}
	h.call("mcp.unconfigure", api.MCPUnconfigureParams{CWD: work, Name: "n"}, nil)
	if len(keeper.gone) != 1 || keeper.gone[0] != "n" {
		t.Errorf("the agent has removed %q", keeper.gone)
	}
	for _, dir := range keeper.dirs {
		if dir != work {
			t.Errorf("a call reached the project %q, want %q", dir, work)
		}
	}
	calls := map[string]any{
		"rules.list": of, "mcp.configured": of, "rules.add": api.RuleParams{CWD: work, Rule: "r", Behavior: "deny", Scope: "user"},
		"mcp.configure": api.MCPConfigureParams{CWD: work, Server: api.MCPConfig{Name: "a", Type: "stdio", Command: "c"}}, "mcp.unconfigure": api.MCPUnconfigureParams{CWD: work, Name: "n"},
	}
	for _, keeper.fails = range []error{errors.New("the file is broken"), agent.ErrNotFound} {
		for method, params := range calls {
			h.refused(api.Conflict, method, params)
		}
	}
	keeper.fails = nil
	before := len(keeper.dirs)
	for method, params := range map[string]any{
		"rules.list": api.SettingsOf{CWD: "/"}, "mcp.configured": api.SettingsOf{CWD: "/"}, "rules.add": api.RuleParams{CWD: "/", Rule: "r", Behavior: "deny", Scope: "user"},
		"mcp.configure": api.MCPConfigureParams{CWD: "/", Server: api.MCPConfig{Name: "a", Type: "stdio", Command: "c"}}, "mcp.unconfigure": api.MCPUnconfigureParams{CWD: "/", Name: "n"},
	} {
		h.refused(api.AuthFailed, method, params)
	}
	if len(keeper.dirs) != before {
		t.Errorf("calls outside of the server's directories reached the agent: %q", keeper.dirs[before:])
	}
}
