package claudeagent_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
)

func keeper(t *testing.T) (p *claudeagent.Provider, project, config string) {
	t.Helper()
	project, config = t.TempDir(), t.TempDir()
	return &claudeagent.Provider{Options: claude.Options{Isolation: &claude.Isolation{ConfigDir: config}}}, project, config
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRules checks that rules are read from three files, and that a change affects only one file
// and keeps the rest of it, its order and its mode.
func TestRules(t *testing.T) {
	p, project, config := keeper(t)
	shared := filepath.Join(project, ".claude", "settings.json")
	write(t, shared, `{"z": "<&>", "permissions": {"defaultMode": "plan", "allow": ["Bash(ls)"], "deny": ["Bash(rm:*)"]}, "a": 1.50}`)
	write(t, filepath.Join(config, "settings.json"), `{"permissions": {"ask": ["Bash(git push:*)"]}}`)
	add := agent.Rule{Text: "Bash(go test:*)", Behavior: "allow", Scope: agent.ScopeProject}
	for range 2 { // adding it again changes nothing
		if err := p.SetRule(project, add, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.SetRule(project, agent.Rule{Text: "Read(docs/**)", Behavior: "allow", Scope: agent.ScopeLocal}, true); err != nil {
		t.Fatal(err)
	}
	all, err := p.Rules(project)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		got = append(got, r.Scope+" "+r.Behavior+" "+r.Text)
	}
	want := "project deny Bash(rm:*)|project allow Bash(ls)|project allow Bash(go test:*)|local allow Read(docs/**)|user ask Bash(git push:*)"
	if strings.Join(got, "|") != want {
		t.Errorf("the rules are\n%s, want\n%s", strings.Join(got, "|"), want)
	}
	if err := p.SetRule(project, add, false); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(read(t, shared)), "")
	if text != `{"z":"<&>","permissions":{"defaultMode":"plan","allow":["Bash(ls)"],"deny":["Bash(rm:*)"]},"a":1.50}` {
		t.Errorf("the file is %s", text)
	}
	if info, err := os.Stat(shared); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	for _, bad := range []agent.Rule{{Behavior: "allow", Scope: "user"}, {Text: "x", Behavior: "maybe", Scope: "user"}, {Text: "x", Behavior: "allow", Scope: "session"}} {
		if p.SetRule(project, bad, true) == nil {
			t.Errorf("%+v is kept", bad)
		}
	}
}

// TestRules_unreadable checks that an unreadable file is an error and is not changed, and that a
// link cannot lead out of the project.
func TestRules_unreadable(t *testing.T) {
	for _, text := range []string{"[]", "{", `{"permissions": []}`, `{"permissions": {"allow": {}}}`, `{} {}`} {
		p, project, _ := keeper(t)
		file := filepath.Join(project, ".claude", "settings.json")
		write(t, file, text)
		if _, err := p.Rules(project); err == nil {
			t.Errorf("%s: the rules are read", text)
		}
		if err := p.SetRule(project, agent.Rule{Text: "x", Behavior: "allow", Scope: agent.ScopeProject}, true); err == nil {
			t.Errorf("%s: a rule is added", text)
		}
		if read(t, file) != text {
			t.Errorf("%s became %s", text, read(t, file))
		}
	}
	p, project, outside := keeper(t)
	if err := os.Symlink(outside, filepath.Join(project, ".claude")); err != nil {
		t.Skip("this system has no links:", err)
	}
	write(t, filepath.Join(outside, "settings.json"), `{"permissions": {"allow": ["Bash"]}}`)
	if _, err := p.Rules(project); err == nil {
		t.Error("rules outside of the project are read")
	}
	if err := p.SetRule(project, agent.Rule{Text: "x", Behavior: "allow", Scope: agent.ScopeLocal}, true); err == nil {
		t.Error("a rule is written outside of the project")
	}
}

// TestMCPServers checks that servers are listed without their secrets, that a change with an empty
// secret keeps the old one, and that servers can be removed.
func TestMCPServers(t *testing.T) {
	p, project, config := keeper(t)
	file := filepath.Join(project, ".mcp.json")
	write(t, file, `{"mcpServers": {"tracker": {"type": "http", "url": "https://t.example", "headers": {"Authorization": "Bearer sesame"}}}}`)
	write(t, filepath.Join(config, ".claude.json"), "\ufeff"+`{"mcpServers": {"mine": {"command": "mine", "env": {"KEY": "sesame"}}}}`)
	stdio := agent.MCPConfig{Name: "charts", Scope: agent.ScopeProject, Type: "stdio", Command: "charts", Args: []string{"-v"}, Env: map[string]string{"KEY": "open"}}
	if err := p.SetMCPServer(project, stdio); err != nil {
		t.Fatal(err)
	}
	if fresh := t.TempDir(); p.SetMCPServer(fresh, stdio) != nil {
		t.Error("no server in a new project")
	} else if info, err := os.Stat(filepath.Join(fresh, ".mcp.json")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a new file has the mode %v: %v", info.Mode(), err)
	}
	all, err := p.MCPServers(project)
	if err != nil || len(all) != 3 {
		t.Fatalf("all is %v, err is %v; want err == nil and len(all) == 3", all, err)
	}
	if all[0].Name != "tracker" || all[0].URL != "https://t.example" || all[1].Command != "charts" || all[2].Scope != agent.ScopeUser || all[2].Type != "stdio" {
		t.Errorf("the servers are %+v", all)
	}
	for _, c := range all {
		for _, m := range []map[string]string{c.Env, c.Headers} {
			for name, value := range m {
				if value != "" {
					t.Errorf("%s has the value of %s", c.Name, name)
				}
			}
		}
	}
	stdio.Args, stdio.Env = nil, map[string]string{"KEY": "", "NEW": "x"}
	if err := p.SetMCPServer(project, stdio); err != nil {
		t.Fatal(err)
	}
	if text := read(t, file); !strings.Contains(text, `"KEY": "open"`) || !strings.Contains(text, `"NEW": "x"`) || !strings.Contains(text, "Bearer sesame") || strings.Contains(text, "-v") {
		t.Errorf("the file is %s", text)
	}
	if err := p.RemoveMCPServer(project, "charts"); err != nil {
		t.Fatal(err)
	}
	if err := p.RemoveMCPServer(project, "charts"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a server that is gone: %v", err)
	}
	if text := read(t, file); strings.Contains(text, "charts") || !strings.Contains(text, "tracker") {
		t.Errorf("the file is %s", text)
	}
	stdio.Scope = agent.ScopeUser
	if p.SetMCPServer(project, stdio) == nil {
		t.Error("a server of the user is changed")
	}
}
