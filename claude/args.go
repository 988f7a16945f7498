package claude

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// maxSchemaFlag is the length above which a schema is not passed as a flag, because the
// system limits arguments; the CLI then gets it only with initialize and does not check
// it at its start. A schema is the shape of an answer and not a secret.
const maxSchemaFlag = 16 << 10

// flags collects arguments. A value is part of the same argument as its flag, so that a
// value that begins with a dash is not parsed as a flag.
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

// args returns the CLI's arguments for these options. Values that can hold a secret go
// into files of tmp, or into initialize.
func (l *launch) args(tmp *scratch) ([]string, error) {
	f := flags{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}
	l.modelFlags(&f)
	l.toolFlags(&f)
	l.sessionFlags(&f)
	if l.SettingSources != nil {
		f.always("setting-sources", strings.Join(l.SettingSources, ","))
	}
	f.bare("strict-mcp-config", l.StrictMCPConfig)
	f.bare("include-partial-messages", l.IncludePartialMessages)
	f.bare("include-hook-events", l.IncludeHookEvents)
	f.bare("debug", l.Debug)
	f.text("debug-file", l.DebugFile)
	if err := l.fileFlags(&f, tmp); err != nil {
		return nil, err
	}
	f.bare("managed-settings-in-initialize", l.ManagedSettings != "")
	err := l.extraFlags(&f, tmp)
	return f, err
}

// fileFlags adds the flags with values that can hold a secret.
func (l *launch) fileFlags(f *flags, tmp *scratch) error {
	settings, err := l.settings()
	if err != nil {
		return err
	}
	var servers []byte
	if external := l.externalServers(); len(external) > 0 {
		if servers, err = jsonwire.Marshal(map[string]any{"mcpServers": external}); err != nil {
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
	return nil
}

func (l *launch) modelFlags(f *flags) {
	f.text("model", l.Model)
	f.text("fallback-model", l.FallbackModel)
	f.list("betas", l.Betas)
	f.text("effort", l.Effort)
	l.thinkingFlags(f)
	if l.MaxTurns > 0 {
		f.always("max-turns", strconv.Itoa(l.MaxTurns))
	}
	if l.MaxBudgetUSD != nil {
		f.always("max-budget-usd", strconv.FormatFloat(*l.MaxBudgetUSD, 'f', -1, 64))
	}
	if l.TaskBudget != nil {
		f.always("task-budget", strconv.Itoa(*l.TaskBudget))
	}
	if len(l.JSONSchema) <= maxSchemaFlag { // initialize also has it
		f.text("json-schema", string(l.JSONSchema))
	}
	if p, ok := l.SystemPrompt.(PromptFile); ok {
		f.always("system-prompt-file", string(p))
	}
}

func (l *launch) thinkingFlags(f *flags) {
	switch t := l.Thinking; {
	case t != nil && t.Type == ThinkingEnabled && t.BudgetTokens > 0:
		f.always("max-thinking-tokens", strconv.Itoa(t.BudgetTokens))
	case t != nil && t.Type == ThinkingEnabled:
		f.always("thinking", string(ThinkingAdaptive))
	case t != nil:
		f.text("thinking", string(t.Type))
	case l.MaxThinkingTokens != nil && *l.MaxThinkingTokens == 0:
		f.always("thinking", string(ThinkingDisabled))
	case l.MaxThinkingTokens != nil:
		f.always("max-thinking-tokens", strconv.Itoa(*l.MaxThinkingTokens))
	}
	if l.Thinking != nil {
		f.text("thinking-display", l.Thinking.Display)
	}
}

func (l *launch) toolFlags(f *flags) {
	if l.Tools != nil {
		f.always("tools", strings.Join(l.Tools, ","))
	}
	f.list("allowedTools", slices.Concat(l.AllowedTools, l.skillTools()))
	f.list("disallowedTools", l.DisallowedTools)
	f.text("permission-mode", string(l.PermissionMode))
	f.bare("allow-dangerously-skip-permissions", l.AllowDangerouslySkipPermissions)
	f.text("permission-prompt-tool", l.permissionPromptTool())
	f.text("permission-prompts", l.PermissionPrompts)
	for _, dir := range l.AdditionalDirectories {
		f.always("add-dir", dir)
	}
	f.text("project-config-root", l.ProjectConfigRoot)
	f.bare("await-initialize", l.PluginDelivery == PluginsByInitialize || l.ManagedSettings != "")
	l.pluginFlags(f)
}

func (l *launch) pluginFlags(f *flags) {
	if l.PluginDelivery == PluginsByInitialize {
		return
	}
	for _, p := range l.Plugins {
		if p.SkipMCPDiscovery {
			f.always("plugin-dir-no-mcp", p.Path)
		} else {
			f.always("plugin-dir", p.Path)
		}
	}
}

// localPlugins returns the plugins with their type set.
func (l *launch) localPlugins() []Plugin {
	plugins := slices.Clone(l.Plugins)
	for i := range plugins {
		plugins[i].Type = "local"
	}
	return plugins
}

func (l *launch) sessionFlags(f *flags) {
	f.text("agent", l.Agent)
	f.bare("continue", l.Continue)
	f.text("resume", l.Resume)
	f.bare("fork-session", l.ForkSession)
	f.text("resume-session-at", l.ResumeSessionAt)
	if l.ResumeDropsTurn != nil {
		f.always("resume-drops-turn", *l.ResumeDropsTurn)
	}
	f.text("session-id", l.SessionID)
	f.bare("session-mirror", l.SessionStore != nil)
	f.bare("no-session-persistence", l.PersistSession != nil && !*l.PersistSession)
}

// fileTwins maps flags to the variant that reads the same text from a file.
var fileTwins = map[string]string{
	"system-prompt": "system-prompt-file", "append-system-prompt": "append-system-prompt-file",
	"append-subagent-system-prompt": "append-subagent-system-prompt-file",
}

// extraFlags adds ExtraArgs. Flags that are known to take text or JSON are passed by
// file.
func (l *launch) extraFlags(f *flags, tmp *scratch) error {
	for _, name := range slices.Sorted(maps.Keys(l.ExtraArgs)) {
		text := l.ExtraArgs[name]
		if text == nil {
			f.bare(name, true)
			continue
		}
		flag, value, err := name, *text, error(nil)
		if twin, ok := fileTwins[name]; ok {
			flag = twin
			value, err = tmp.file(name, value)
		} else if name == "settings" || name == "mcp-config" {
			value, err = tmp.flagValue(name, value)
		}
		if err != nil {
			return err
		}
		f.always(flag, value)
	}
	return nil
}
