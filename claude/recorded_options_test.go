package claude_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// callSetup holds the values with which a run replaces recorded options.
type callSetup struct {
	// Environ, when set, is the whole environment of the run; nil means that of this
	// process.
	Environ map[string]string
	// Store replaces the session store of the recording.
	Store claude.SessionStore
	// Stderr replaces the callback for the CLI's stderr.
	Stderr func(line string)
	// Answers replaces all other callbacks and the in-process MCP servers, which are
	// omitted if it is nil.
	Answers *callAnswers
}

// ClaudeOptions converts the options of the call from the TypeScript SDK to this SDK. An
// unknown option is an error.
func (c *recordedCall) ClaudeOptions(setup callSetup) (*claude.Options, error) {
	o := &claude.Options{}
	if setup.Environ != nil {
		o.Env, o.CleanEnv = maps.Clone(setup.Environ), true
	}
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		raw := c.Options[name]
		if string(raw) == "null" {
			continue
		}
		if err := setOption(o, setup, name, raw); err != nil {
			return nil, fmt.Errorf("recording: option %s: %w", name, err)
		}
	}
	return o, nil
}

func setOption(o *claude.Options, setup callSetup, name string, raw json.RawMessage) error {
	if dst := plainOption(o, name); dst != nil {
		return json.Unmarshal(raw, dst)
	}
	if set, ok := specialOptions[name]; ok {
		return set(o, setup, raw)
	}
	if set, ok := callbackOptions[name]; ok {
		if setup.Answers == nil {
			return nil
		}
		return set(o, setup.Answers, raw)
	}
	if name == "abortController" {
		return nil // steps abort
	}
	return fmt.Errorf("not known")
}

// plainOption returns a pointer to the field of an option with the same value in both
// SDKs.
func plainOption(o *claude.Options, name string) any {
	return map[string]any{
		"additionalDirectories":           &o.AdditionalDirectories,
		"projectConfigRoot":               &o.ProjectConfigRoot,
		"agent":                           &o.Agent,
		"agents":                          &o.Agents,
		"allowedTools":                    &o.AllowedTools,
		"disallowedTools":                 &o.DisallowedTools,
		"toolAliases":                     &o.ToolAliases,
		"permissionPromptToolName":        &o.PermissionPromptToolName,
		"permissionPrompts":               &o.PermissionPrompts,
		"permissionMode":                  &o.PermissionMode,
		"allowDangerouslySkipPermissions": &o.AllowDangerouslySkipPermissions,
		"planModeInstructions":            &o.PlanModeInstructions,
		"continue":                        &o.Continue,
		"resume":                          &o.Resume,
		"forkSession":                     &o.ForkSession,
		"resumeSessionAt":                 &o.ResumeSessionAt,
		"resumeDropsTurn":                 &o.ResumeDropsTurn,
		"sessionId":                       &o.SessionID,
		"persistSession":                  &o.PersistSession,
		"sessionStoreFlush":               &o.SessionStoreFlush,
		"title":                           &o.Title,
		"cwd":                             &o.Dir,
		"extraArgs":                       &o.ExtraArgs,
		"executable":                      &o.Executable,
		"executableArgs":                  &o.ExecutableArgs,
		"pathToClaudeCodeExecutable":      &o.CLIPath,
		"model":                           &o.Model,
		"fallbackModel":                   &o.FallbackModel,
		"betas":                           &o.Betas,
		"effort":                          &o.Effort,
		"maxThinkingTokens":               &o.MaxThinkingTokens,
		"maxTurns":                        &o.MaxTurns,
		"maxBudgetUsd":                    &o.MaxBudgetUSD,
		"strictMcpConfig":                 &o.StrictMCPConfig,
		"perTaskStopAffordance":           &o.PerTaskStopAffordance,
		"includePartialMessages":          &o.IncludePartialMessages,
		"includeHookEvents":               &o.IncludeHookEvents,
		"forwardSubagentText":             &o.ForwardSubagentText,
		"promptSuggestions":               &o.PromptSuggestions,
		"agentProgressSummaries":          &o.AgentProgressSummaries,
		"verbatimPrompts":                 &o.VerbatimPrompts,
		"managedSettings":                 &o.ManagedSettings,
		"settingSources":                  &o.SettingSources,
		"plugins":                         &o.Plugins,
		"pluginDelivery":                  &o.PluginDelivery,
		"enableFileCheckpointing":         &o.EnableFileCheckpointing,
		"debug":                           &o.Debug,
		"debugFile":                       &o.DebugFile,
	}[name]
}

// specialOptions set the options with different forms.
var specialOptions = map[string]func(*claude.Options, callSetup, json.RawMessage) error{
	"tools":         toolsOption,
	"toolConfig":    toolConfigOption,
	"env":           envOption,
	"thinking":      thinkingOption,
	"taskBudget":    taskBudgetOption,
	"outputFormat":  outputFormatOption,
	"systemPrompt":  systemPromptOption,
	"mcpServers":    mcpServersOption,
	"settings":      settingsOption,
	"sandbox":       sandboxOption,
	"skills":        skillsOption,
	"loadTimeoutMs": loadTimeoutOption,
	"sessionStore": func(o *claude.Options, setup callSetup, _ json.RawMessage) error {
		o.SessionStore = setup.Store
		return nil
	},
	"stderr": func(o *claude.Options, setup callSetup, _ json.RawMessage) error {
		o.Stderr = setup.Stderr
		return nil
	},
}

func toolsOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	if raw[0] == '{' { // the only preset is the default set
		o.Tools = []string{"default"}
		return nil
	}
	return json.Unmarshal(raw, &o.Tools)
}

func toolConfigOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	var v struct {
		AskUserQuestion struct {
			PreviewFormat string `json:"previewFormat"`
		} `json:"askUserQuestion"`
	}
	err := json.Unmarshal(raw, &v)
	o.QuestionPreviewFormat = v.AskUserQuestion.PreviewFormat
	return err
}

// envOption sets the whole environment to that of the run with the recorded changes.
func envOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	var v struct {
		Replace bool              `json:"replace"`
		Set     map[string]string `json:"set"`
		Unset   []string          `json:"unset"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if !o.CleanEnv {
		o.Env, o.CleanEnv = map[string]string{}, true
		for _, kv := range os.Environ() {
			k, value, _ := strings.Cut(kv, "=")
			o.Env[k] = value
		}
	}
	maps.Copy(o.Env, v.Set)
	for _, k := range v.Unset {
		delete(o.Env, k)
	}
	return nil
}

func thinkingOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	var v struct {
		Type         claude.ThinkingType `json:"type"`
		BudgetTokens int                 `json:"budgetTokens"`
		Display      string              `json:"display"`
	}
	err := json.Unmarshal(raw, &v)
	o.Thinking = &claude.Thinking{Type: v.Type, BudgetTokens: v.BudgetTokens, Display: v.Display}
	return err
}

func taskBudgetOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	var v struct {
		Total int `json:"total"`
	}
	err := json.Unmarshal(raw, &v)
	o.TaskBudget = &v.Total
	return err
}

func outputFormatOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	var v struct {
		Schema message.JSON `json:"schema"`
	}
	err := json.Unmarshal(raw, &v)
	o.JSONSchema = v.Schema
	return err
}

func systemPromptOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	switch raw[0] {
	case '"':
		var s claude.PromptText
		err := json.Unmarshal(raw, &s)
		o.SystemPrompt = s
		return err
	case '[':
		var parts claude.PromptParts
		err := json.Unmarshal(raw, &parts)
		o.SystemPrompt = parts
		return err
	}
	var v struct {
		Type                   string          `json:"type"`
		Prompt                 json.RawMessage `json:"prompt"`
		Path                   string          `json:"path"`
		Append                 string          `json:"append"`
		ExcludeDynamicSections bool            `json:"excludeDynamicSections"`
		Snapshot               *bool           `json:"snapshot"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	switch v.Type {
	case "preset":
		o.SystemPrompt = &claude.PromptPreset{Append: v.Append, ExcludeDynamicSections: v.ExcludeDynamicSections, Snapshot: v.Snapshot}
	case "file":
		o.SystemPrompt = claude.PromptFile(v.Path)
	case "custom":
		parts, err := oneOrMany(v.Prompt)
		o.SystemPrompt = &claude.PromptCustom{Parts: parts, Snapshot: v.Snapshot}
		return err
	default:
		return fmt.Errorf("type %q", v.Type)
	}
	return nil
}

func oneOrMany(raw json.RawMessage) (many []string, err error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	err = json.Unmarshal(raw, &many)
	return many, err
}

func mcpServersOption(o *claude.Options, setup callSetup, raw json.RawMessage) (err error) {
	var inProcess map[string]json.RawMessage
	if err := json.Unmarshal(raw, &inProcess); err != nil {
		return err
	}
	o.MCPServers, err = setup.Answers.mcpServers(raw, inProcess)
	return err
}

func settingsOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	if raw[0] == '{' {
		o.Settings = string(raw)
		return nil
	}
	return json.Unmarshal(raw, &o.Settings)
}

func sandboxOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	o.Sandbox = &claude.Sandbox{}
	if err := json.Unmarshal(raw, o.Sandbox); err != nil {
		return err
	}
	known, err := json.Marshal(o.Sandbox)
	if err != nil {
		return err
	}
	var all map[string]message.JSON
	var some map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if err := json.Unmarshal(known, &some); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(k string, _ message.JSON) bool { _, ok := some[k]; return ok })
	if len(all) > 0 {
		o.Sandbox.Other = all
	}
	return nil
}

func skillsOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	if string(raw) == `"all"` {
		o.AllSkills = true
		return nil
	}
	return json.Unmarshal(raw, &o.Skills)
}

func loadTimeoutOption(o *claude.Options, _ callSetup, raw json.RawMessage) error {
	var ms float64
	err := json.Unmarshal(raw, &ms)
	o.LoadTimeout = time.Duration(ms * float64(time.Millisecond))
	return err
}
