package claude

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// flags gathers arguments. A value goes into the same argument as its flag, so
// that one which begins with a dash is still a value.
type flags []string

func (f *flags) bare(name string, on bool) {
	if on {
		*f = append(*f, "--"+name)
	}
}

func (f *flags) always(name, value string) { *f = append(*f, "--"+name+"="+value) }

func (f *flags) text(name, value string) {
	if value != "" {
		f.always(name, value)
	}
}

func (f *flags) list(name string, values []string) { f.text(name, strings.Join(values, ",")) }

// args are the CLI's arguments for these options. Values that are too long for
// an argument go into files of tmp.
func (o *Options) args(tmp *scratch) ([]string, error) {
	f := flags{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}
	o.modelFlags(&f)
	o.toolFlags(&f)
	o.sessionFlags(&f)
	if o.SettingSources != nil {
		f.always("setting-sources", strings.Join(o.SettingSources, ","))
	}
	f.bare("strict-mcp-config", o.StrictMCPConfig)
	f.bare("include-partial-messages", o.IncludePartialMessages)
	f.bare("include-hook-events", o.IncludeHookEvents)
	f.bare("debug", o.Debug)
	f.text("debug-file", o.DebugFile)
	if err := o.longFlags(&f, tmp); err != nil {
		return nil, err
	}
	o.extraFlags(&f)
	return f, nil
}

// longFlags are the flags whose values can be long.
func (o *Options) longFlags(f *flags, tmp *scratch) error {
	settings, err := o.settings()
	if err != nil {
		return err
	}
	var servers []byte
	if external := o.externalServers(); len(external) > 0 {
		if servers, err = encodeJSON(map[string]any{"mcpServers": external}); err != nil {
			return fmt.Errorf("claude: MCPServers: %w", err)
		}
	}
	for _, long := range []struct{ name, value string }{{"settings", settings}, {"mcp-config", string(servers)}} {
		value, err := tmp.flagValue(long.name, long.value)
		if err != nil {
			return err
		}
		f.text(long.name, value)
	}
	f.text("managed-settings", string(o.ManagedSettings))
	return nil
}

func (o *Options) modelFlags(f *flags) {
	f.text("model", o.Model)
	f.text("fallback-model", o.FallbackModel)
	f.list("betas", o.Betas)
	f.text("effort", o.Effort)
	o.thinkingFlags(f)
	if o.MaxTurns > 0 {
		f.always("max-turns", strconv.Itoa(o.MaxTurns))
	}
	if o.MaxBudgetUSD != nil {
		f.always("max-budget-usd", strconv.FormatFloat(*o.MaxBudgetUSD, 'f', -1, 64))
	}
	if o.TaskBudget != nil {
		f.always("task-budget", strconv.Itoa(*o.TaskBudget))
	}
	if len(o.JSONSchema) <= maxFlagValue { // initialize has it as well
		f.text("json-schema", string(o.JSONSchema))
	}
	if p, ok := o.SystemPrompt.(PromptFile); ok {
		f.always("system-prompt-file", string(p))
	}
}

func (o *Options) thinkingFlags(f *flags) {
	switch t := o.Thinking; {
	case t != nil && t.Type == ThinkingEnabled && t.BudgetTokens > 0:
		f.always("max-thinking-tokens", strconv.Itoa(t.BudgetTokens))
	case t != nil && t.Type == ThinkingEnabled:
		f.always("thinking", string(ThinkingAdaptive))
	case t != nil:
		f.text("thinking", string(t.Type))
	case o.MaxThinkingTokens != nil && *o.MaxThinkingTokens == 0:
		f.always("thinking", string(ThinkingDisabled))
	case o.MaxThinkingTokens != nil:
		f.always("max-thinking-tokens", strconv.Itoa(*o.MaxThinkingTokens))
	}
	if o.Thinking != nil {
		f.text("thinking-display", o.Thinking.Display)
	}
}

func (o *Options) toolFlags(f *flags) {
	if o.Tools != nil {
		f.always("tools", strings.Join(o.Tools, ","))
	}
	f.list("allowedTools", slices.Concat(o.AllowedTools, o.skillTools()))
	f.list("disallowedTools", o.DisallowedTools)
	f.text("permission-mode", string(o.PermissionMode))
	f.bare("allow-dangerously-skip-permissions", o.AllowDangerouslySkipPermissions)
	f.text("permission-prompt-tool", o.permissionPromptTool())
	f.text("permission-prompts", o.PermissionPrompts)
	for _, dir := range o.AdditionalDirectories {
		f.always("add-dir", dir)
	}
	f.text("project-config-root", o.ProjectConfigRoot)
	o.pluginFlags(f)
}

func (o *Options) pluginFlags(f *flags) {
	if o.PluginDelivery == PluginsByInitialize {
		f.bare("await-initialize", true)
		return
	}
	for _, p := range o.Plugins {
		if p.SkipMCPDiscovery {
			f.always("plugin-dir-no-mcp", p.Path)
		} else {
			f.always("plugin-dir", p.Path)
		}
	}
}

// localPlugins are the plugins with their type spelt out.
func (o *Options) localPlugins() []Plugin {
	plugins := slices.Clone(o.Plugins)
	for i := range plugins {
		plugins[i].Type = "local"
	}
	return plugins
}

func (o *Options) sessionFlags(f *flags) {
	f.text("agent", o.Agent)
	f.bare("continue", o.Continue)
	f.text("resume", o.Resume)
	f.bare("fork-session", o.ForkSession)
	f.text("resume-session-at", o.ResumeSessionAt)
	if o.ResumeDropsTurn != nil {
		f.always("resume-drops-turn", *o.ResumeDropsTurn)
	}
	f.text("session-id", o.SessionID)
	f.bare("session-mirror", o.SessionStore != nil)
	f.bare("no-session-persistence", o.PersistSession != nil && !*o.PersistSession)
}

func (o *Options) extraFlags(f *flags) {
	for _, name := range slices.Sorted(maps.Keys(o.ExtraArgs)) {
		if value := o.ExtraArgs[name]; value != nil {
			f.always(name, *value)
		} else {
			f.bare(name, true)
		}
	}
}
