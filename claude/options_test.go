package claude

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
	"github.com/seed7221b0f9/parley/internal/random"
)

// reach describes where an option has its effect: in a flag, in a variable, in
// initialize, or in this package.
type reach struct {
	set  Options
	flag []string // all flags beyond those of the empty options
	env  string
	file string // the content of the file that a flag names as FILE
	init string // the JSON of initialize, without its subtype and empty prompt
}

// reaches has every field of Options that is passed to the CLI.
var reaches = map[string]reach{
	"Model":                           {set: Options{Model: "m"}, flag: []string{"--model=m"}},
	"FallbackModel":                   {set: Options{FallbackModel: "f"}, flag: []string{"--fallback-model=f"}},
	"Betas":                           {set: Options{Betas: []string{"a", "b"}}, flag: []string{"--betas=a,b"}},
	"Effort":                          {set: Options{Effort: "high"}, flag: []string{"--effort=high"}},
	"Thinking":                        {set: Options{Thinking: &Thinking{Type: ThinkingAdaptive, Display: "omitted"}}, flag: []string{"--thinking=adaptive", "--thinking-display=omitted"}},
	"MaxThinkingTokens":               {set: Options{MaxThinkingTokens: new(int)}, flag: []string{"--thinking=disabled"}},
	"MaxTurns":                        {set: Options{MaxTurns: 3}, flag: []string{"--max-turns=3"}},
	"MaxBudgetUSD":                    {set: Options{MaxBudgetUSD: new(float64)}, flag: []string{"--max-budget-usd=0"}},
	"TaskBudget":                      {set: Options{TaskBudget: new(int)}, flag: []string{"--task-budget=0"}},
	"SystemPrompt":                    {set: Options{SystemPrompt: PromptText("be brief")}, init: `{"systemPrompt":["be brief"]}`},
	"JSONSchema":                      {set: Options{JSONSchema: `{"type":"object"}`}, flag: []string{`--json-schema={"type":"object"}`}, init: `{"jsonSchema":{"type":"object"}}`},
	"Tools":                           {set: Options{Tools: []string{}}, flag: []string{"--tools="}},
	"AllowedTools":                    {set: Options{AllowedTools: []string{"Read", "Bash(git log:*)"}}, flag: []string{"--allowedTools=Read,Bash(git log:*)"}},
	"DisallowedTools":                 {set: Options{DisallowedTools: []string{"Bash"}}, flag: []string{"--disallowedTools=Bash"}},
	"ToolAliases":                     {set: Options{ToolAliases: map[string]string{"A": "B"}}, init: `{"toolAliases":{"A":"B"}}`},
	"PermissionMode":                  {set: Options{PermissionMode: message.ModePlan}, flag: []string{"--permission-mode=plan"}},
	"AllowDangerouslySkipPermissions": {set: Options{AllowDangerouslySkipPermissions: true}, flag: []string{"--allow-dangerously-skip-permissions"}},
	"PermissionPromptToolName":        {set: Options{PermissionPromptToolName: "mcp__a__b"}, flag: []string{"--permission-prompt-tool=mcp__a__b"}},
	"CanUseTool":                      {set: Options{CanUseTool: func(context.Context, *PermissionRequest) (PermissionResult, error) { return nil, nil }}, flag: []string{"--permission-prompt-tool=stdio"}},
	"OnQuestion":                      {set: Options{OnQuestion: func(context.Context, *QuestionRequest) (*QuestionAnswer, error) { return nil, nil }}, flag: []string{"--permission-prompt-tool=stdio"}},
	"Guard":                           {set: Options{Guard: func(context.Context, *GuardRequest) (*Deny, error) { return nil, nil }}, init: `{"hooks":{"PreToolUse":[{"hookCallbackIds":["hook_0"]}]}}`},
	"MaxAbsence":                      {set: Options{MaxAbsence: time.Hour, Guard: func(context.Context, *GuardRequest) (*Deny, error) { return nil, nil }}, init: `{"hooks":{"PreToolUse":[{"hookCallbackIds":["hook_0"],"timeout":4200}]}}`},
	"OnPlan":                          {set: Options{OnPlan: func(context.Context, *PlanRequest) (*PlanDecision, error) { return nil, nil }}, flag: []string{"--permission-prompt-tool=stdio"}},
	"SupportedDialogKinds":            {set: Options{SupportedDialogKinds: []string{"k"}, OnUserDialog: func(context.Context, *UserDialogRequest) (*UserDialogResult, error) { return nil, nil }}, init: `{"supportedDialogKinds":["k"]}`},
	"PermissionPrompts":               {set: Options{PermissionPrompts: "none"}, flag: []string{"--permission-prompts=none"}},
	"PlanModeInstructions":            {set: Options{PlanModeInstructions: "p"}, init: `{"planModeInstructions":"p"}`},
	"AdditionalDirectories":           {set: Options{AdditionalDirectories: []string{"/a", "-b"}}, flag: []string{"--add-dir=/a", "--add-dir=-b"}},
	"ProjectConfigRoot":               {set: Options{ProjectConfigRoot: "/r"}, flag: []string{"--project-config-root=/r"}},
	"MCPServers":                      {set: Options{MCPServers: map[string]MCPServer{"x": {Command: "c"}}}, flag: []string{"--mcp-config=FILE"}, file: `{"mcpServers":{"x":{"command":"c"}}}`},
	"StrictMCPConfig":                 {set: Options{StrictMCPConfig: true}, flag: []string{"--strict-mcp-config"}},
	"Skills":                          {set: Options{Skills: []string{"pdf"}}, flag: []string{"--allowedTools=Skill(pdf)"}, init: `{"skills":["pdf"]}`},
	"AllSkills":                       {set: Options{AllSkills: true}, flag: []string{"--allowedTools=Skill"}},
	"Hooks": {set: Options{Hooks: &hook.Hooks{
		PreToolUse: []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]{
			{Matcher: "Bash", Hooks: []hook.PreToolUseFunc{noPreHook, noPreHook}, Timeout: 1500 * time.Millisecond}, {Hooks: []hook.PreToolUseFunc{noPreHook}, OnFailure: hook.Block}},
		Stop:  hook.On("", noHook[hook.StopInput, hook.StopOutput]),
		Other: map[string][]hook.Matcher[hook.OtherInput, hook.OtherOutput]{"Z": {{}}, "B": hook.On("x", noHook[hook.OtherInput, hook.OtherOutput])},
	}}, init: `{"hooks":{
		"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0","hook_1"],"timeout":1.5},{"hookCallbackIds":["hook_2"],"onFailure":"block"}],
		"Stop":[{"hookCallbackIds":["hook_3"]}],
		"B":[{"matcher":"x","hookCallbackIds":["hook_4"]}],"Z":[{"hookCallbackIds":[]}]}}`},
	"Plugins":                 {set: Options{Plugins: []Plugin{{Path: "/p"}, {Path: "/q", SkipMCPDiscovery: true}}}, flag: []string{"--plugin-dir=/p", "--plugin-dir-no-mcp=/q"}},
	"PluginDelivery":          {set: Options{Plugins: []Plugin{{Path: "/p"}}, PluginDelivery: PluginsByInitialize}, flag: []string{"--await-initialize"}, init: `{"plugins":[{"type":"local","path":"/p"}]}`},
	"Agent":                   {set: Options{Agent: "a"}, flag: []string{"--agent=a"}},
	"Agents":                  {set: Options{Agents: map[string]AgentDefinition{"a": {Description: "d", Prompt: "p"}}}, init: `{"agents":{"a":{"description":"d","prompt":"p"}}}`},
	"Continue":                {set: Options{Continue: true}, flag: []string{"--continue"}},
	"Resume":                  {set: Options{Resume: "-id"}, flag: []string{"--resume=-id"}},
	"ForkSession":             {set: Options{ForkSession: true}, flag: []string{"--fork-session"}},
	"ResumeSessionAt":         {set: Options{ResumeSessionAt: "u"}, flag: []string{"--resume-session-at=u"}},
	"ResumeDropsTurn":         {set: Options{ResumeDropsTurn: new(string)}, flag: []string{"--resume-drops-turn="}},
	"SessionID":               {set: Options{SessionID: "99999999-9999-4999-8999-999999999999"}, flag: []string{"--session-id=99999999-9999-4999-8999-999999999999"}},
	"PersistSession":          {set: Options{PersistSession: new(false)}, flag: []string{"--no-session-persistence"}},
	"Title":                   {set: Options{Title: "t"}, init: `{"title":"t"}`},
	"SessionStore":            {set: Options{SessionStore: noStore{}}, flag: []string{"--session-mirror"}},
	"Settings":                {set: Options{Settings: "/s.json"}, flag: []string{"--settings=/s.json"}},
	"Sandbox":                 {set: Options{Sandbox: &Sandbox{Enabled: new(true)}}, flag: []string{"--settings=FILE"}, file: `{"sandbox":{"enabled":true,"failIfUnavailable":true}}`},
	"SettingSources":          {set: Options{SettingSources: []string{}}, flag: []string{"--setting-sources="}},
	"ManagedSettings":         {set: Options{ManagedSettings: `{"a":1}`}, flag: []string{"--await-initialize", "--managed-settings-in-initialize"}, init: `{"managedSettings":{"a":1}}`},
	"EnableFileCheckpointing": {set: Options{EnableFileCheckpointing: true}, env: "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true"},
	"QuestionPreviewFormat":   {set: Options{QuestionPreviewFormat: "html"}, env: "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT=html"},
	"IncludePartialMessages":  {set: Options{IncludePartialMessages: true}, flag: []string{"--include-partial-messages"}},
	"IncludeHookEvents":       {set: Options{IncludeHookEvents: true}, flag: []string{"--include-hook-events"}},
	"ForwardSubagentText":     {set: Options{ForwardSubagentText: true}, init: `{"forwardSubagentText":true}`},
	"PromptSuggestions":       {set: Options{PromptSuggestions: true}, init: `{"promptSuggestions":true}`},
	"AgentProgressSummaries":  {set: Options{AgentProgressSummaries: true}, init: `{"agentProgressSummaries":true}`},
	"PerTaskStopAffordance":   {set: Options{PerTaskStopAffordance: true}, init: `{"perTaskStopAffordance":true}`},
	"Debug":                   {set: Options{Debug: true}, flag: []string{"--debug"}},
	"DebugFile":               {set: Options{DebugFile: "/d"}, flag: []string{"--debug-file=/d"}},
	"ExtraArgs":               {set: Options{ExtraArgs: map[string]*string{"b": nil, "a": new("-v")}}, flag: []string{"--a=-v", "--b"}},
	"Env":                     {set: Options{Env: map[string]string{"K": "v"}}, env: "K=v"},
}

// stayHere are the fields that affect only this package.
var stayHere = []string{
	"CLIPath", "Executable", "ExecutableArgs", "Dir", "User", "CleanEnv", "Isolation", "Transport", "Spawner", "Stderr",
	"Tenant", "Admission", "Weight", "Registry", "Supervisor", "KeepChildren",
	"SessionStoreFlush", "SessionLock", "VerbatimPrompts", "StrictLines", "MaxLine", "MaxBuffered", "Deadlines", "RequireMCP", "Trace", "Logger", "OnElicitation", "OnUserDialog",
}

func noHook[In, Out any](context.Context, *In) (*Out, error) { return nil, nil }

var noPreHook = noHook[hook.PreToolUseInput, hook.PreToolUseOutput]

type noStore struct{ SessionStore }

func TestEveryOptionReaches(t *testing.T) {
	for f := range reflect.TypeFor[Options]().Fields() {
		_, goes := reaches[f.Name]
		if goes == slices.Contains(stayHere, f.Name) {
			t.Errorf("%s must stand in exactly one of the two lists", f.Name)
		}
	}
	for name, r := range reaches {
		t.Run(name, func(t *testing.T) { checkReach(t, r) })
	}
}

func checkReach(t *testing.T, r reach) {
	l, err := newLaunch(&r.set)
	if err != nil {
		t.Fatal(err)
	}
	tmp := scratch{dir: t.TempDir()}
	args, err := l.args(&tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tmp.paths {
		if text, err := os.ReadFile(p); err != nil || string(text) != r.file {
			t.Errorf("the file has %q, %v, want %q", text, err, r.file)
		}
		args = strings.Split(strings.ReplaceAll(strings.Join(args, "\x00"), p, "FILE"), "\x00")
	}
	if got := args[5:]; !slices.Equal(got, r.flag) {
		t.Errorf("flags %q, want %q", got, r.flag)
	}
	if r.env != "" && !slices.Contains(l.environ(), r.env) {
		t.Errorf("no %s in the environment", r.env)
	}
	request, err := l.initialize()
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]any{}, map[string]any{"subtype": "initialize", "systemPrompt": []any{""}}
	if err := json.Unmarshal(request, &got); err != nil {
		t.Fatal(err)
	}
	if r.init != "" {
		if err := json.Unmarshal([]byte(r.init), &want); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("initialize %v, want %v", got, want)
	}
}

func TestPrompts(t *testing.T) {
	tests := []struct {
		prompt SystemPrompt
		want   string
	}{
		{nil, `{"subtype":"initialize","systemPrompt":[""]}`},
		{PromptParts{"a", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "b"}, `{"subtype":"initialize","systemPrompt":["a","__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__","b"]}`},
		{&PromptCustom{Parts: []string{"a"}, Snapshot: new(false)}, `{"subtype":"initialize","systemPrompt":["a"],"systemPromptSnapshot":false}`},
		{&PromptPreset{}, `{"subtype":"initialize"}`},
		{&PromptPreset{Append: "x", ExcludeDynamicSections: true}, `{"subtype":"initialize","appendSystemPrompt":"x","excludeDynamicSections":true}`},
		{PromptFile("/f"), `{"subtype":"initialize"}`},
	}
	for _, tt := range tests {
		got, err := unchecked(&Options{SystemPrompt: tt.prompt}).initialize()
		if err != nil || string(got) != tt.want {
			t.Errorf("%#v: %s, %v; want err == nil and string(got) == tt.want", tt.prompt, got, err)
		}
	}
}

func TestThinkingFlags(t *testing.T) {
	tests := []struct {
		set  Options
		want string
	}{
		{Options{Thinking: &Thinking{Type: ThinkingEnabled, BudgetTokens: 2048}}, "--max-thinking-tokens=2048"},
		{Options{Thinking: &Thinking{Type: ThinkingEnabled}}, "--thinking=adaptive"},
		{Options{Thinking: &Thinking{Type: ThinkingDisabled}}, "--thinking=disabled"},
		{Options{MaxThinkingTokens: new(1000)}, "--max-thinking-tokens=1000"},
	}
	for _, tt := range tests {
		args, err := unchecked(&tt.set).args(&scratch{})
		if err != nil || !slices.Equal(args[5:], []string{tt.want}) {
			t.Errorf("%q, %v; want %s", args[5:], err, tt.want)
		}
	}
}

func TestConflicts(t *testing.T) {
	for name, o := range map[string]Options{
		"same fallback":        {Model: "m", FallbackModel: "m"},
		"id of a resumed one":  {SessionID: random.UUID(), Resume: "x"},
		"id that is none":      {SessionID: "mine"},
		"two ways of thinking": {Thinking: &Thinking{}, MaxThinkingTokens: new(int)},
		"display of nothing":   {Thinking: &Thinking{Type: ThinkingDisabled, Display: "omitted"}},
		"schema":               {JSONSchema: "{"},
		"managed":              {ManagedSettings: "{"},
		"plugin":               {Plugins: []Plugin{{Type: "npm"}}},
		"sandbox over a file":  {Settings: "/s.json", Sandbox: &Sandbox{}},
		"flag":                 {ExtraArgs: map[string]*string{"--x": nil}},
		"unpersisted store":    {SessionStore: noStore{}, PersistSession: new(false)},
		"store checkpoints":    {SessionStore: noStore{}, EnableFileCheckpointing: true},
		"store cannot list":    {SessionStore: noStore{}, Continue: true},
		"two to be asked":      {PermissionPromptToolName: "mcp__a__b", OnPlan: func(context.Context, *PlanRequest) (*PlanDecision, error) { return nil, nil }},
		"nobody for a dialog":  {SupportedDialogKinds: []string{"k"}},
		"nil hook":             {Hooks: &hook.Hooks{Stop: hook.On("", hook.StopFunc(nil))}},
		"hook's timeout":       {Hooks: &hook.Hooks{Stop: []hook.Matcher[hook.StopInput, hook.StopOutput]{{Timeout: -1}}}},
		"hook's failure":       {Hooks: &hook.Hooks{Stop: []hook.Matcher[hook.StopInput, hook.StopOutput]{{OnFailure: "maybe"}}}},
		"event with a field":   {Hooks: &hook.Hooks{Other: map[string][]hook.Matcher[hook.OtherInput, hook.OtherOutput]{"Stop": nil}}},
	} {
		if err := o.Check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSkillNames(t *testing.T) {
	for _, bad := range []string{"", " ", "a ", "a(b)", "a,b", "a\x00", "a\u0085", "*", "x:*", "x *", "/x", `a\\b`, `a\`, "a\xff", "\ufeffa"} {
		if checkSkills([]string{bad}) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, good := range []string{"pdf", "my plugin:skill", "技能", `a\b`, "a*b"} {
		if err := checkSkills([]string{good}); err != nil {
			t.Error(err)
		}
	}
}

// A schema that is too long for an argument is passed only with initialize.
func TestSchemaFlag(t *testing.T) {
	for size, want := range map[int]bool{maxSchemaFlag: true, maxSchemaFlag + 1: false} {
		schema := `"` + strings.Repeat("x", size-2) + `"`
		args, err := unchecked(&Options{JSONSchema: message.JSON(schema)}).args(&scratch{dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(args, "--json-schema="+schema); got != want {
			t.Errorf("a schema of %d bytes is an argument: %v", size, got)
		}
	}
}

// A value of any length that can hold a secret is passed in a file that only the user can
// read and that is removed with the process.
func TestSecretValues(t *testing.T) {
	for _, text := range []string{"s3cret", strings.Repeat("s3cret", 16<<10)} {
		tmp := scratch{dir: t.TempDir()}
		settings, servers := `{"x":"`+text+`"}`, "\ufeff {\"mcpServers\":{\"x\":{\"command\":\""+text+"\"}}}"
		o := &Options{Settings: settings, MCPServers: map[string]MCPServer{"s": {Command: text}}, JSONSchema: message.JSON(`{"x":"` + strings.Repeat("s3cret", maxSchemaFlag) + `"}`), ManagedSettings: message.JSON(settings),
			ExtraArgs: map[string]*string{"mcp-config": &servers, "append-system-prompt": &text, "system-prompt": &text, "append-subagent-system-prompt": &text}}
		args, err := unchecked(o).args(&tmp)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(args, " "), "s3cret") || len(tmp.paths) != 6 {
			t.Fatalf("%d files, arguments %.200q", len(tmp.paths), args)
		}
		info, err := os.Stat(tmp.paths[0])
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != int64(len(settings)) {
			t.Errorf("%v, %v; want err == nil and info.Mode().Perm() == 0o600 and info.Size() == int64(len(settings))", info, err)
		}
		paths := slices.Clone(tmp.paths)
		tmp.remove()
		for _, p := range paths {
			if _, err := os.Stat(p); !os.IsNotExist(err) {
				t.Errorf("%s is still there", p)
			}
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("NODE_OPTIONS", "--inspect")
	t.Setenv("DEBUG", "*")
	t.Setenv("MINE", "yes")
	t.Setenv("CLAUDE_CODE_ENTRYPOINT", "other")
	env := unchecked(&Options{Env: map[string]string{"DEBUG": "own", "OWN": "o"}}).environ()
	for _, want := range []string{"MINE=yes", "OWN=o", "CLAUDE_CODE_ENTRYPOINT=other", "CLAUDE_CODE_SDK_READS_SESSION_STATE=1", "CLAUDE_AGENT_SDK_VERSION=" + Version} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, kv := range env {
		if k, _, _ := strings.Cut(kv, "="); slices.Contains(removed, k) {
			t.Errorf("%s is there", kv)
		}
	}
	clean := unchecked(&Options{CleanEnv: true}).environ()
	if !slices.Contains(clean, "CLAUDE_CODE_ENTRYPOINT=sdk-cli") || slices.Contains(clean, "MINE=yes") || len(clean) != 3 {
		t.Errorf("clean environment %q", clean)
	}
}

func TestIsolation(t *testing.T) {
	t.Setenv("SECRET_OF_MINE", "s")
	t.Setenv("LANG", "C.UTF-8")
	o := unchecked(&Options{Isolation: &Isolation{}, Env: map[string]string{"GIVEN": "g"}})
	cleanup, err := o.isolate()
	if err != nil {
		t.Fatal(err)
	}
	env := o.environ()
	if !slices.Contains(env, "LANG=C.UTF-8") || !slices.Contains(env, "GIVEN=g") || slices.Contains(env, "SECRET_OF_MINE=s") {
		t.Errorf("environment %q", env)
	}
	dir := o.Env["CLAUDE_CONFIG_DIR"]
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("config dir %v, %v", info, err)
	}
	args, _ := o.args(&scratch{})
	if !slices.Contains(args, "--setting-sources=") || !slices.Contains(args, "--strict-mcp-config") {
		t.Errorf("arguments %q", args)
	}
	cleanup()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the config dir is still there")
	}
}

func TestSandboxMerge(t *testing.T) {
	tests := []struct{ name, settings, option, want string }{
		{"alone", `{}`, `{"enabled":true}`, `{"enabled":true,"failIfUnavailable":true}`},
		{"own choice stays", `{"failIfUnavailable":false}`, `{"enabled":true}`, `{"enabled":true,"failIfUnavailable":false}`},
		{"option wins", `{"enabled":true,"excludedCommands":["a"]}`, `{"enabled":false,"excludedCommands":["b"]}`, `{"enabled":false,"excludedCommands":["b"]}`},
		{"denials add up", `{"filesystem":{"denyRead":["a","b"]},"network":{"deniedDomains":["x"]}}`, `{"filesystem":{"denyRead":["b","c"]},"network":{"deniedDomains":["y"]}}`,
			`{"filesystem":{"denyRead":["a","b","c"]},"network":{"deniedDomains":["x","y"]}}`},
		{"replaced whole", `{"ripgrep":{"command":"a","args":["x"]},"network":{"tlsTerminate":{"caCertPath":"a","caKeyPath":"b"}}}`, `{"ripgrep":{"command":"b"},"network":{"tlsTerminate":{"caCertPath":"c"}}}`,
			`{"ripgrep":{"command":"b"},"network":{"tlsTerminate":{"caCertPath":"c"}}}`},
		{"guard comes back", `{"filesystem":{"disabled":true}}`, `{"filesystem":{"denyRead":["x"]}}`, `{"filesystem":{"denyRead":["x"]}}`},
		{"guard for credentials", `{"filesystem":{"disabled":true}}`, `{"credentials":{"files":[{"path":"x","mode":"deny"}]}}`, `{"filesystem":{},"credentials":{"files":[{"path":"x","mode":"deny"}]}}`},
		{"guard stays off", `{"filesystem":{"disabled":true}}`, `{"filesystem":{"disabled":true,"allowRead":["x"]}}`, `{"filesystem":{"disabled":true,"allowRead":["x"]}}`},
		{"foreign proxy goes", `{"network":{"httpProxyPort":1,"socksProxyPort":2}}`, `{"network":{"allowedDomains":[],"socksProxyPort":3}}`, `{"network":{"allowedDomains":[],"socksProxyPort":3}}`},
		{"proxy stays", `{"network":{"httpProxyPort":1}}`, `{"network":{"deniedDomains":[]}}`, `{"network":{"httpProxyPort":1,"deniedDomains":[]}}`},
		{"odd keys", `{}`, `{"__proto__":{"x":1},"constructor":1}`, `{}`},
	}
	for _, tt := range tests {
		var settings, option, want object
		for dst, text := range map[*object]string{&settings: tt.settings, &option: tt.option, &want: tt.want} {
			if err := json.Unmarshal([]byte(text), dst); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := json.Marshal(settings)
		if got := mergeSandbox(settings, option); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
		if after, _ := json.Marshal(settings); string(after) != string(before) {
			t.Errorf("%s: the settings were changed", tt.name)
		}
	}
}

func TestProjectKey(t *testing.T) {
	tests := []struct{ dir, want string }{
		{"/no/such dir/x_y.z", "-no-such-dir-x-y-z"},
		{"/no/😀", "-no---"},
		{"/n/é", "-n--"},
	}
	for _, tt := range tests {
		if got := ProjectKey(tt.dir); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.dir, got, tt.want)
		}
	}
	long := ProjectKey("/" + strings.Repeat("a", 300))
	if len(long) <= 201 || !strings.HasPrefix(long, "-"+strings.Repeat("a", 199)+"-") {
		t.Errorf("got %s", long)
	}
}

func TestOrDefault(t *testing.T) {
	if deadline.Or(0, time.Second) != time.Second || deadline.Or(-1, time.Second) != 0 || deadline.Or(2, time.Second) != 2 {
		t.Error("0 is the default, negative none")
	}
}
