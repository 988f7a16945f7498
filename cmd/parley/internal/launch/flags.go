package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/chat"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/internal/textfile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags are the flags of parley run, and of parley chat, which has most of
// them.
type Flags struct {
	agent         string
	server        string
	session       string // on the server
	machine       string // of a new session on the server
	continued     string // of --continue-from
	atOnce        bool
	options       claude.Options // options that are set directly
	systemPrompt  string
	appendPrompt  string
	mode          string
	tools         string
	budget        float64
	sources       string
	mcpConfig     string
	schema        string
	extra         []string
	timeout       time.Duration
	output        string
	stream        bool
	showThinking  bool
	noColor       bool
	quiet         bool
	verbose       bool
	changed       func(flag string) bool
	visit         func(func(*pflag.Flag))
	workDirectory string
}

// enums are the flags with completed values.
var enums = map[string][]string{
	"agent":           {agents.Claude, agents.Codex, agents.Sim, agents.Replay, agents.ACP},
	"output":          {chat.OutputText, chat.OutputJSON, chat.OutputRaw},
	"permission-mode": {"default", "manual", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"},
	"effort":          {"low", "medium", "high", "xhigh", "max"},
	"setting-sources": {"user", "project", "local"},
}

const machineHelp = "the machine that runs the new session on the server; parley machines lists them. --cwd is a directory there"

// Register adds the flags of parley run.
func (f *Flags) Register(cmd *cobra.Command) {
	f.changed, f.visit = cmd.Flags().Changed, cmd.Flags().Visit
	f.registerAgent(cmd)
	f.registerSession(cmd)
	f.registerAnswer(cmd)
	f.registerProgram(cmd)
	cmd.Flags().StringVar(&f.server, "server", "", "ask a session on the server at this `address`; the token comes from PARLEY_TOKEN")
	cmd.Flags().StringVar(&f.session, "session", "", "the `id` of the session on the server (default a new one; without --server, on the server of this machine)")
	cmd.Flags().StringVar(&f.machine, "machine", "", machineHelp)
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	f.complete(cmd)
}

// RegisterChat adds the flags of parley chat.
func (f *Flags) RegisterChat(cmd *cobra.Command) {
	f.changed, f.visit, f.output = cmd.Flags().Changed, cmd.Flags().Visit, chat.OutputText
	f.registerAgent(cmd)
	f.registerSession(cmd)
	f.registerProgram(cmd)
	cmd.Flags().StringVar(&f.server, "server", "", "talk with a new session on the server at this `address`; the token comes from PARLEY_TOKEN")
	cmd.Flags().StringVar(&f.machine, "machine", "", machineHelp)
	f.complete(cmd)
}

// complete sets the completion of values and mutually exclusive flags.
func (f *Flags) complete(cmd *cobra.Command) {
	for name, values := range enums {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		// The flag exists: an error would be a mistake in this table.
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, directive)); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"cwd", "add-dir"} {
		if err := cmd.MarkFlagDirname(name); err != nil {
			panic(err)
		}
	}
	cmd.MarkFlagsMutuallyExclusive("system-prompt", "append-system-prompt")
	cmd.MarkFlagsMutuallyExclusive("resume", "continue", "continue-from")
}

func (f *Flags) registerAgent(cmd *cobra.Command) {
	fs, o := cmd.Flags(), &f.options
	fs.StringVarP(&o.Model, "model", "m", "", "the model's `name` or alias")
	fs.StringVar(&o.FallbackModel, "fallback-model", "", "the `model` to use when the first one is unavailable")
	fs.StringVar(&o.Effort, "effort", "", "effort of the model: low, medium, high, xhigh, max")
	fs.StringVar(&f.systemPrompt, "system-prompt", "", "replace Claude Code's system prompt with this `text`")
	fs.StringVar(&f.appendPrompt, "append-system-prompt", "", "`text` to add to Claude Code's system prompt")
	fs.StringVar(&f.mode, "permission-mode", "", "tools that run without asking: default, acceptEdits, plan, dontAsk, auto, bypassPermissions")
	fs.StringArrayVar(&o.AllowedTools, "allowed-tools", nil, "`rules` for tools that run without asking, such as \"Read,Bash(git log:*)\" (repeatable)")
	fs.StringArrayVar(&o.DisallowedTools, "disallowed-tools", nil, "`rules` for tools that do not run (repeatable)")
	fs.StringVar(&f.tools, "tools", "", "the available built-in tools, a comma-separated `list`; \"\" disables all, \"default\" is the default set")
	fs.IntVar(&o.MaxTurns, "max-turns", 0, "stop after this number of model steps")
	fs.Float64Var(&f.budget, "max-budget-usd", 0, "stop when this `cost` is reached")
	fs.StringVar(&f.mcpConfig, "mcp-config", "", "MCP servers: a `file` or JSON")
}

func (f *Flags) registerSession(cmd *cobra.Command) {
	fs, o := cmd.Flags(), &f.options
	fs.StringVarP(&f.workDirectory, "cwd", "C", ".", "the agent's working `directory`")
	fs.StringArrayVar(&o.AdditionalDirectories, "add-dir", nil, "another `directory` that the agent may use (repeatable)")
	fs.StringVarP(&o.Resume, "resume", "r", "", "continue the session with this `id` or title")
	fs.BoolVarP(&o.Continue, "continue", "c", false, "continue the newest session of the working directory")
	fs.BoolVar(&o.ForkSession, "fork-session", false, "with --resume or --continue: continue in a new session")
	fs.StringVar(&f.continued, "continue-from", "", "start a new session with the conversation of this `session`, of any agent")
	fs.StringVar(&o.SessionID, "session-id", "", "the new session's id, a `UUID`")
	fs.StringVar(&o.Settings, "settings", "", "settings: a `file` or JSON")
	fs.StringVar(&f.sources, "setting-sources", "", "the settings to read, a comma-separated `list` of user, project, local; \"\" is none")
}

// registerAnswer registers the flags for the single answer of parley run.
func (f *Flags) registerAnswer(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.schema, "json-schema", "", "JSON `schema` of the answer, or @file; the output is then only JSON")
	fs.StringVarP(&f.output, "output", "o", chat.OutputText, "the output: text; json, the result at the end; stream-json, every message")
	fs.BoolVar(&f.stream, "stream", false, "write text as it arrives (default on a terminal)")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "write the answer and errors only")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the run after this `time`, such as 90s or 10m")
}

func (f *Flags) registerProgram(cmd *cobra.Command) {
	fs, o := cmd.Flags(), &f.options
	fs.BoolVar(&f.showThinking, "show-thinking", false, "show the model's thinking (default on a terminal)")
	fs.BoolVar(&f.noColor, "no-color", false, "disable colours")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "show the standard error of the agent's CLI")
	fs.StringVar(&f.agent, "agent", "", "the `NAME` of the agent: claude; codex; sim, a simulated agent; replay:DIR, a recording; acp:COMMAND, an agent of the Agent Client Protocol; a name from parley agents list (default claude if there is one, else sim)")
	fs.BoolVar(&f.atOnce, "at-once", false, "with --agent replay:DIR: skip the pauses of the recording")
	fs.BoolVar(&o.KeepChildren, "keep-children", false, agents.KeepHelp)
	fs.StringVar(&o.CLIPath, "cli", "", "the `path` of the agent's CLI (default $PARLEY_CLI, else claude is searched for; with --agent codex $PARLEY_CODEX, else codex)")
	fs.StringArrayVar(&f.extra, "extra-arg", nil, "a further flag for the agent's CLI, `name[=value]` (repeatable)")
}

// build returns the options of the flags. An error is a usage error.
func (f *Flags) build() (*claude.Options, error) {
	o := f.options
	if err := f.check(); err != nil {
		return nil, err
	}
	o.PermissionMode = message.PermissionMode(f.mode)
	o.SystemPrompt = &claude.PromptPreset{Append: f.appendPrompt}
	if f.changed("system-prompt") {
		o.SystemPrompt = claude.PromptText(f.systemPrompt)
	}
	if f.changed("tools") {
		o.Tools = splitList(f.tools)
	}
	if f.changed("setting-sources") {
		o.SettingSources = splitList(f.sources)
	}
	if f.changed("max-budget-usd") {
		o.MaxBudgetUSD = &f.budget
	}
	o.Supervisor = supervise.Self()
	o.IncludePartialMessages = f.output != chat.OutputJSON
	if err := f.files(&o); err != nil {
		return nil, err
	}
	return &o, f.extraArgs(&o)
}

// check checks flags that the CLI would refuse or ignore only after its start.
func (f *Flags) check() error {
	for _, flag := range []struct{ name, value string }{{"output", f.output}, {"permission-mode", f.mode}, {"effort", f.options.Effort}} {
		values := enums[flag.name]
		if f.changed(flag.name) && !slices.Contains(values, flag.value) {
			last := len(values) - 1
			return term.Usagef("--%s %s: it is one of %s and %s", flag.name, flag.value, strings.Join(values[:last], ", "), values[last])
		}
	}
	for _, flag := range []struct{ name, value string }{
		{"resume", f.options.Resume}, {"continue-from", f.continued}, {"session-id", f.options.SessionID}, {"mcp-config", f.mcpConfig}, {"json-schema", f.schema}, {"server", f.server}, {"session", f.session}, {"machine", f.machine},
	} {
		if f.changed(flag.name) && strings.TrimSpace(flag.value) == "" { // an unset variable of a script
			return term.Usagef("--%s: it is empty", flag.name)
		}
	}
	switch {
	case f.machine != "" && f.server == "" && f.session == "":
		return term.Usagef("--machine %s: it needs --server", f.machine)
	case f.timeout < 0:
		return term.Usagef("--timeout %v: it cannot be negative", f.timeout)
	case f.options.MaxTurns < 0 || f.changed("max-turns") && f.options.MaxTurns == 0:
		return term.Usagef("--max-turns %d: it must be positive", f.options.MaxTurns)
	case f.changed("max-budget-usd") && !(f.budget > 0 && f.budget <= math.MaxFloat64):
		return term.Usagef("--max-budget-usd %v: it must be a number greater than 0", f.budget)
	}
	return nil
}

// files resolves paths relative to the caller's directory, not the agent's.
func (f *Flags) files(o *claude.Options) error {
	var err error
	if f.changed("cwd") {
		if o.Dir, err = filepath.Abs(f.workDirectory); err != nil {
			return term.Usagef("--cwd: %v", err)
		}
	}
	for i, dir := range o.AdditionalDirectories {
		if o.AdditionalDirectories[i], err = filepath.Abs(dir); err != nil {
			return term.Usagef("--add-dir: %v", err)
		}
	}
	if o.Settings, err = fileOrJSON(o.Settings); err != nil {
		return term.Usagef("--settings: %v", err)
	}
	if o.JSONSchema, err = readSchema(f.schema); err != nil {
		return term.Usagef("--json-schema: %v", err)
	}
	return nil
}

func (f *Flags) extraArgs(o *claude.Options) error {
	o.ExtraArgs = map[string]*string{}
	if f.mcpConfig != "" {
		config, err := fileOrJSON(f.mcpConfig)
		if err == nil {
			err = checkServers(config)
		}
		if err != nil {
			return term.Usagef("--mcp-config: %v", err)
		}
		o.ExtraArgs["mcp-config"] = &config
	}
	for _, arg := range f.extra {
		name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "" || strings.ContainsAny(name, " \t\n") {
			return term.Usagef("--extra-arg %q: it has the form name or name=value", arg)
		}
		o.ExtraArgs[name] = nil
		if ok {
			o.ExtraArgs[name] = &value
		}
	}
	return nil
}

// checkServers returns an error for invalid MCP servers, in a file or in JSON.
func checkServers(config string) error {
	text := []byte(config)
	if filepath.IsAbs(config) {
		var err error
		if text, err = readConfig(config); err != nil {
			return err
		}
	}
	var servers struct {
		MCPServers map[string]struct {
			Type, Command, URL string
			Args               []string
			Env, Headers       map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &servers); err != nil {
		return fmt.Errorf("not JSON with MCP servers: %w", err)
	}
	if servers.MCPServers == nil {
		return errors.New(`there is no member "mcpServers" with an object in it`)
	}
	for _, name := range slices.Sorted(maps.Keys(servers.MCPServers)) {
		s := servers.MCPServers[name]
		// The CLI ignores invalid servers and accepts any name.
		one := claude.MCPServer{Type: s.Type, Command: s.Command, URL: s.URL, Args: s.Args, Env: s.Env, Headers: s.Headers}
		if err := (&claude.Options{MCPServers: map[string]claude.MCPServer{"it": one}}).Check(); err != nil {
			return fmt.Errorf("the server %q %s", name, strings.TrimPrefix(err.Error(), `claude: MCPServers: "it" `))
		}
	}
	return nil
}

// readConfig reads a configuration file.
func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return textfile.Read(path)
}

// splitList returns a comma-separated list; the empty string is an empty list.
func splitList(s string) []string {
	list := []string{}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// fileOrJSON makes a path absolute and returns JSON unchanged.
func fileOrJSON(s string) (string, error) {
	if s == "" || strings.HasPrefix(strings.TrimSpace(s), "{") {
		return s, nil
	}
	return filepath.Abs(s)
}

func readSchema(s string) (message.JSON, error) {
	if path, ok := strings.CutPrefix(s, "@"); ok {
		data, err := textfile.Read(path)
		if err != nil {
			return "", err
		}
		s = strings.TrimSpace(string(data))
	} else if s == "" {
		return "", nil
	}
	if !json.Valid([]byte(s)) {
		return "", term.Usagef("not JSON")
	}
	return message.JSON(s), nil
}
