package claude

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/mcptool"
	"github.com/seed7221b0f9/parley/spawn"
)

// anyValue lists the fields without a check: all their values are valid, or only the CLI
// and the system can tell.
var anyValue = strings.Fields(`CLIPath Executable ExecutableArgs Dir User CleanEnv Isolation Transport Spawner Supervisor KeepChildren Tenant Admission Registry Stderr
	Model Betas SystemPrompt Tools AllowedTools DisallowedTools ToolAliases PermissionMode AllowDangerouslySkipPermissions PermissionPrompts PlanModeInstructions
	CanUseTool OnQuestion OnPlan OnElicitation OnUserDialog Guard AdditionalDirectories ProjectConfigRoot StrictMCPConfig
	AllSkills Agent Agents Resume ForkSession ResumeSessionAt ResumeDropsTurn PersistSession Title
	EnableFileCheckpointing QuestionPreviewFormat IncludePartialMessages IncludeHookEvents ForwardSubagentText PromptSuggestions
	AgentProgressSummaries PerTaskStopAffordance VerbatimPrompts Debug DebugFile StrictLines Deadlines Trace Logger`)

func toolsNamed(names ...string) map[string]MCPServer {
	var tools []mcptool.Tool
	for _, name := range names {
		tools = append(tools, mcptool.NewTool(name, "", func(context.Context, struct{}) (string, error) { return "", nil }))
	}
	return map[string]MCPServer{"s": {Server: mcptool.NewToolServer("s", "1", tools...)}}
}

// mistaken are invalid options for each check.
var mistaken = map[string][]Options{
	"FallbackModel":     {{Model: "m", FallbackModel: "m"}},
	"Effort":            {{Effort: "hihg"}},
	"Thinking":          {{Thinking: &Thinking{Type: "lots"}}, {Thinking: &Thinking{Type: ThinkingDisabled, Display: "omitted"}}, {Thinking: &Thinking{BudgetTokens: -1}}, {Thinking: &Thinking{}, MaxThinkingTokens: new(1)}},
	"MaxThinkingTokens": {{MaxThinkingTokens: new(-1)}},
	"MaxAbsence":        {{MaxAbsence: -1}},
	"MaxTurns":          {{MaxTurns: -1}},
	"MaxBudgetUSD":      {{MaxBudgetUSD: new(-0.5)}, {MaxBudgetUSD: new(math.NaN())}, {MaxBudgetUSD: new(math.Inf(1))}},
	"TaskBudget":        {{TaskBudget: new(-1)}},
	"JSONSchema":        {{JSONSchema: "{"}},
	"ManagedSettings":   {{ManagedSettings: "{"}},
	"Settings":          {{Settings: " {"}},
	"Sandbox":           {{Sandbox: &Sandbox{}, Settings: "a.json"}},
	"Continue":          {{Continue: true, Resume: "x"}},
	"SessionID":         {{SessionID: "x"}, {SessionID: "99999999-9999-4999-8999-999999999999", Continue: true}},
	"SessionStore":      {{SessionStore: noStore{}, PersistSession: new(false)}, {SessionStore: noStore{}, EnableFileCheckpointing: true}, {SessionStore: noStore{}, Continue: true}},
	"SessionStoreFlush": {{SessionStoreFlush: "often"}},
	"SessionLock":       {{SessionLock: "take"}},
	"SettingSources":    {{SettingSources: []string{"user", ""}}},
	"Plugins":           {{Plugins: []Plugin{{Type: "npm", Path: "x"}}}, {Plugins: []Plugin{{}}}},
	"PluginDelivery":    {{PluginDelivery: "mail"}},
	"Skills":            {{Skills: []string{"a,b"}}},
	"MCPServers": {
		{MCPServers: map[string]MCPServer{"s": {Command: "c", URL: "http://x"}}},
		{MCPServers: map[string]MCPServer{"s": {Command: "c", Headers: map[string]string{"a": "b"}}}},
		{MCPServers: map[string]MCPServer{"s": {Type: "http", URL: "http://x", Env: map[string]string{"a": "b"}}}},
		{MCPServers: map[string]MCPServer{"s": {Type: "stdio", URL: "http://x"}}},
		{MCPServers: map[string]MCPServer{"s": {Type: "sse", Command: "c"}}},
		{MCPServers: map[string]MCPServer{"s": {Type: "sdk"}}},
		{MCPServers: map[string]MCPServer{"s": {}}},
		{MCPServers: map[string]MCPServer{"s": {URL: "http://x"}}},
		{MCPServers: map[string]MCPServer{"": {Command: "c"}}},
		{MCPServers: map[string]MCPServer{"my server": {Command: "c"}}},
		{MCPServers: map[string]MCPServer{strings.Repeat("s", 101): {Command: "c"}}},
		{MCPServers: toolsNamed("a", "b", "a")},
		{MCPServers: toolsNamed("a.b", "a_b")},
		{MCPServers: toolsNamed("a b")},
		{MCPServers: toolsNamed(strings.Repeat("a", 129))},
	},
	"RequireMCP": {{RequireMCP: []string{" "}}},
	"PermissionPromptToolName": {{PermissionPromptToolName: "mcp__a__b",
		OnPlan: func(context.Context, *PlanRequest) (*PlanDecision, error) { return nil, nil }}},
	"SupportedDialogKinds": {{SupportedDialogKinds: []string{"k"}}},
	"Hooks": {{Hooks: &hook.Hooks{PreToolUse: []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]{
		{Hooks: []hook.PreToolUseFunc{nil}}}}}},
	"Weight":      {{Weight: -1}},
	"MaxLine":     {{MaxLine: -1}},
	"MaxBuffered": {{MaxBuffered: -1}},
	"Env":         {{Env: map[string]string{"a=b": "c"}}, {Env: map[string]string{"": "c"}}, {Env: map[string]string{"a": "\x00"}}},
	"ExtraArgs":   {{ExtraArgs: map[string]*string{"--x": nil}}, {ExtraArgs: map[string]*string{"agents": new("{}")}}, {ExtraArgs: map[string]*string{"plan-mode-instructions": new("x")}}},
}

// Every field of Options has a check or is listed in anyValue; every check refuses its
// invalid options before a process is started.
func TestEveryOptionIsChecked(t *testing.T) {
	checked := map[string]int{}
	for _, c := range optionChecks {
		checked[c.field]++
	}
	for f := range reflect.TypeFor[Options]().Fields() {
		if (checked[f.Name] == 1) == slices.Contains(anyValue, f.Name) {
			t.Errorf("%s must stand in exactly one of the two lists", f.Name)
		}
		delete(checked, f.Name)
	}
	if len(checked) > 0 {
		t.Errorf("checks of fields that do not exist: %v", checked)
	}
	for _, c := range optionChecks {
		if len(mistaken[c.field]) == 0 {
			t.Errorf("no test refuses a %s", c.field)
		}
		for _, o := range mistaken[c.field] {
			if c.check(&o) == nil {
				t.Errorf("%s: the check takes %+v", c.field, reflect.ValueOf(o).FieldByName(c.field))
			}
			_, err := newLaunch(&o)
			if _, ok := errors.AsType[*OptionError](err); !ok {
				t.Errorf("%s: %v is not an *OptionError", c.field, err)
			}
		}
		if err := c.check(&Options{}); err != nil {
			t.Errorf("%s: the default is refused: %v", c.field, err)
		}
	}
	if _, err := newLaunch(&Options{MCPServers: toolsNamed("a.b", "a/c", "d-e")}); err != nil {
		t.Error(err)
	}
}

func TestEmptyPrompt(t *testing.T) {
	spawned := 0
	opts := &Options{CLIPath: "/bin/false", Spawner: spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) {
		spawned++
		return nil, errors.New("nothing is to be started")
	})}
	if _, err := Run(t.Context(), " \n", opts); !errors.Is(err, errEmptyPrompt) || spawned > 0 {
		t.Errorf("%v, and the CLI was started %d times", err, spawned)
	}
	if _, err := Run(t.Context(), "a", opts); err == nil || spawned != 1 {
		t.Errorf("a prompt with text: %v, and the CLI was started %d times", err, spawned)
	}
	s := &session{launch: unchecked(nil)}
	for _, in := range []message.UserInput{Text(""), Text(" \n"), {}} {
		if _, err := s.encode(in); !errors.Is(err, errEmptyPrompt) {
			t.Errorf("%+v: %v; want errors.Is(err, errEmptyPrompt)", in, err)
		}
	}
	for _, in := range []message.UserInput{Text("a"), {Content: []message.InputBlock{&message.Image{}}}, {Raw: []byte(`{"type":"keep_alive"}`)}} {
		if _, err := s.encode(in); err != nil {
			t.Errorf("%+v: %v", in, err)
		}
	}
}
