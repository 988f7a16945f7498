package e2e_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// planted is a secret that only this run uses, so that files of other runs do not contain
// it.
var planted = "pl4nted-" + rand.Text()

// plants put a secret into the options that can hold one.
var plants = map[string]func(o *claude.Options){
	"Env": func(o *claude.Options) { o.Env["PLANTED"] = planted },
	"MCPServers": func(o *claude.Options) {
		o.MCPServers = map[string]claude.MCPServer{
			"local": {Command: "/bin/sh", Args: []string{"-c", `printf %s "$TOKEN" >token; exec cat`}, Env: map[string]string{"TOKEN": planted}},
			"away":  {Type: "http", URL: "http://127.0.0.1:9/" + planted, Headers: map[string]string{"Authorization": planted}},
		}
	},
	"Settings": func(o *claude.Options) { o.Settings = `{"env":{"PLANTED":"` + planted + `"}}` },
	"Sandbox": func(o *claude.Options) {
		o.Sandbox = &claude.Sandbox{Other: map[string]message.JSON{"planted": message.JSON(`"` + planted + `"`)}}
	},
	"ManagedSettings": func(o *claude.Options) {
		o.ManagedSettings = message.JSON(`{"permissions":{"deny":["Read(` + planted + `)"]}}`)
	},
	"SystemPrompt":         func(o *claude.Options) { o.SystemPrompt = claude.PromptText(planted) },
	"PlanModeInstructions": func(o *claude.Options) { o.PlanModeInstructions = planted },
	"ToolAliases":          func(o *claude.Options) { o.ToolAliases = map[string]string{planted: "Read"} },
	"Agents": func(o *claude.Options) {
		o.Agents = map[string]claude.AgentDefinition{"a": {Description: planted, Prompt: planted,
			MCPServers: []message.JSON{message.JSON(`{"b":{"command":"true","env":{"TOKEN":"` + planted + `"}}}`)}}}
	},
	"Title":                func(o *claude.Options) { o.Title = planted },
	"SupportedDialogKinds": func(o *claude.Options) { o.SupportedDialogKinds = []string{planted} },
	"Tenant":               func(o *claude.Options) { o.Tenant = planted },
	"ExtraArgs": func(o *claude.Options) {
		config, prompt := `{"mcpServers":{"c":{"type":"http","url":"http://127.0.0.1:9/","headers":{"Authorization":"`+planted+`"}}}}`, planted
		o.ExtraArgs = map[string]*string{"mcp-config": &config, "append-system-prompt": &prompt, "append-subagent-system-prompt": &prompt}
	},
}

// public are the options that hold names, paths, numbers, switches, functions and
// the shape of an answer.
var public = strings.Fields(`CLIPath Executable ExecutableArgs Dir User CleanEnv Isolation Transport Spawner Admission Weight Registry Supervisor KeepChildren Stderr
	Model FallbackModel Betas Effort Thinking MaxThinkingTokens MaxTurns MaxBudgetUSD TaskBudget JSONSchema
	Tools AllowedTools DisallowedTools PermissionMode AllowDangerouslySkipPermissions PermissionPromptToolName PermissionPrompts
	CanUseTool OnQuestion OnPlan OnElicitation OnUserDialog Guard AdditionalDirectories ProjectConfigRoot StrictMCPConfig RequireMCP
	Hooks Skills AllSkills Plugins PluginDelivery Agent Continue Resume ForkSession ResumeSessionAt ResumeDropsTurn SessionID
	PersistSession SessionStore SessionStoreFlush SessionLock SettingSources EnableFileCheckpointing QuestionPreviewFormat
	IncludePartialMessages IncludeHookEvents ForwardSubagentText PromptSuggestions AgentProgressSummaries PerTaskStopAffordance
	VerbatimPrompts Debug DebugFile StrictLines MaxLine MaxBuffered MaxAbsence Deadlines Trace Logger`)

// No secret of the options is in the arguments of the CLI, which every user of the
// machine can read, and the CLI still receives the secrets.
func TestNoSecretInArguments(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the arguments of a process are read from /proc, which is Linux's")
	}
	t.Parallel()
	w := newWorld(t, claudetest.Say("hello"))
	for f := range reflect.TypeFor[claude.Options]().Fields() {
		plant := plants[f.Name]
		if (plant != nil) == slices.Contains(public, f.Name) {
			t.Errorf("%s must be in exactly one of the two lists", f.Name)
		}
		if plant != nil {
			plant(w.opts)
		}
	}
	started := make(chan int, 1)
	w.opts.Trace = &claude.Trace{Spawn: func(s claude.SpawnTrace) { started <- s.PID }}
	w.opts.OnUserDialog = noDialog
	c := w.connect()
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", <-started))
	if err != nil || !strings.Contains(string(args), "--mcp-config=") {
		t.Fatalf("arguments %q, %v", args, err)
	}
	if strings.Contains(string(args), planted) {
		t.Errorf("a secret stands in %q", strings.Split(string(args), "\x00"))
	}
	for range c.Query(t.Context(), "hello") {
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, "token")); err != nil || string(text) != planted {
		t.Errorf("the server's environment has %q, %v", text, err)
	}
	asked := ""
	for _, r := range w.api.Requests() {
		asked += string(r.Body)
	}
	if strings.Count(asked, planted) < 2 { // system prompt, its appendix
		t.Errorf("the model was asked without the secret prompts: %.3000s", asked)
	}
	c.Close()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "parley-mcp-config-*"))
	for _, f := range left {
		if text, _ := os.ReadFile(f); strings.Contains(string(text), planted) {
			t.Errorf("%s is left behind, %v", f, err)
		}
	}
}

func noDialog(context.Context, *claude.UserDialogRequest) (*claude.UserDialogResult, error) {
	return &claude.UserDialogResult{Cancelled: true}, nil
}
