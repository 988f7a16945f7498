package claude_test

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// controlCall is a typed control request with the expected line and the answer.
type controlCall struct {
	name string
	call func(ctx context.Context, c *claude.Client) (any, error)
	// request is the expected line, answer the CLI's answer, "" for an answer without a
	// body.
	request, answer string
	// member is the name of the answer's only member if the call returns its value; "" if
	// the call returns the whole answer.
	member string
	// want is the result of a call that returns less than the answer.
	want any
}

// silent adapts a call that returns only an error.
func silent(f func(ctx context.Context, c *claude.Client) error) func(context.Context, *claude.Client) (any, error) {
	return func(ctx context.Context, c *claude.Client) (any, error) { return nil, f(ctx, c) }
}

// asks adapts a call without arguments.
func asks[T any](f func(*claude.Client, context.Context) (T, error)) func(context.Context, *claude.Client) (any, error) {
	return func(ctx context.Context, c *claude.Client) (any, error) { return f(c, ctx) }
}

// names adapts a call with a single string argument.
func names[T any](f func(*claude.Client, context.Context, string) (T, error), arg string) func(context.Context, *claude.Client) (any, error) {
	return func(ctx context.Context, c *claude.Client) (any, error) { return f(c, ctx, arg) }
}

type (
	anyCtx = context.Context
	client = *claude.Client
)

// controlCalls are all typed control requests. The answers are those of the real
// CLI, shortened.
var controlCalls = [][]controlCall{turnCalls, fileCalls, mcpCalls, taskCalls, settingsCalls, listCalls, sessionCalls, dialogCalls}

var turnCalls = []controlCall{
	{name: "Interrupt", call: asks(client.Interrupt), request: `{"subtype":"interrupt"}`, answer: `{"still_queued":["a"]}`},
	{name: "InterruptAll", call: asks(client.InterruptAll),
		request: `{"subtype":"interrupt","cancel_queued":true}`, answer: `{"still_queued":[],"cancelled":["a","b"]}`},
	{name: "Interrupt of an old CLI", call: asks(client.Interrupt), request: `{"subtype":"interrupt"}`},
	{name: "SetModel", call: names(client.SetModel, "sonnet"),
		request: `{"subtype":"set_model","model":"sonnet"}`, answer: `{"model":"claude-sonnet-5"}`, member: "model"},
	{name: "SetModel to the default", call: names(client.SetModel, ""),
		request: `{"subtype":"set_model"}`, answer: `{"model":"claude-opus-5-5"}`, member: "model"},
	{name: "SetPermissionMode", call: silent(func(ctx anyCtx, c client) error { return c.SetPermissionMode(ctx, message.ModePlan) }),
		request: `{"subtype":"set_permission_mode","mode":"plan"}`, answer: `{"mode":"plan"}`},
	{name: "SetMaxThinkingTokens", call: silent(func(ctx anyCtx, c client) error { return c.SetMaxThinkingTokens(ctx, new(0)) }),
		request: `{"subtype":"set_max_thinking_tokens","max_thinking_tokens":0}`},
	{name: "SetThinkingDisplay", call: silent(func(ctx anyCtx, c client) error { return c.SetThinkingDisplay(ctx, "omitted") }),
		request: `{"subtype":"set_max_thinking_tokens","thinking_display":"omitted"}`},
}

var fileCalls = []controlCall{
	{name: "RewindFiles", call: func(ctx anyCtx, c client) (any, error) { return c.RewindFiles(ctx, "u") },
		request: `{"subtype":"rewind_files","user_message_id":"u"}`, answer: `{"canRewind":false,"error":"No."}`},
	{name: "PreviewRewind", call: func(ctx anyCtx, c client) (any, error) { return c.PreviewRewind(ctx, "u") },
		request: `{"subtype":"rewind_files","user_message_id":"u","dry_run":true}`,
		answer:  `{"canRewind":true,"filesChanged":["/w/a"],"insertions":1,"deletions":2}`},
	{name: "ReadFile", call: func(ctx anyCtx, c client) (any, error) { return c.ReadFile(ctx, "a.txt", nil) },
		request: `{"subtype":"read_file","path":"a.txt"}`,
		answer:  `{"contents":"file a\n","absPath":"/w/a.txt","lossy":false,"requested_path":"a.txt"}`},
	{name: "ReadFile from an offset",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.ReadFile(ctx, "a.txt", &claude.ReadFileOptions{MaxBytes: 3, Offset: 2, Encoding: "base64"})
		},
		request: `{"subtype":"read_file","path":"a.txt","max_bytes":3,"offset":2,"encoding":"base64"}`,
		answer: `{"contents":"bGUg","absPath":"/w/a.txt","truncated":true,"encoding":"base64","offset":2,"read_bytes":3,` +
			`"total_bytes":7,"etag":"a885","requested_path":"a.txt"}`},
	{name: "SeedReadState",
		call:    silent(func(ctx anyCtx, c client) error { return c.SeedReadState(ctx, "/w/a", time.UnixMilli(1700000000123)) }),
		request: `{"subtype":"seed_read_state","path":"/w/a","mtime":1700000000123}`},
	{name: "SuggestFiles", call: names(client.SuggestFiles, ""),
		request: `{"subtype":"file_suggestions","query":""}`, answer: `{"suggestions":[{"path":"sub/"},{"path":"a.txt","score":0.5}],"cwd":"/w"}`},
	{name: "SetCWD", call: func(ctx anyCtx, c client) (any, error) { return c.SetCWD(ctx, "/x", "") },
		request: `{"subtype":"set_cwd","path":"/x"}`, answer: `{"status":"needs_trust","directory":"/x"}`},
	{name: "SetCWD trusted", call: func(ctx anyCtx, c client) (any, error) { return c.SetCWD(ctx, "/x", "/x") },
		request: `{"subtype":"set_cwd","path":"/x","trust_accepted":true,"trusted_directory":"/x"}`,
		answer:  `{"status":"ok","cwd":"/x","changed":true,"transcript_relocated":true}`},
	{name: "RegisterRepoRoot", call: func(ctx anyCtx, c client) (any, error) { return c.RegisterRepoRoot(ctx, "sub", nil) },
		request: `{"subtype":"register_repo_root","directory":"sub"}`, answer: `{"directory":"/w/sub"}`, member: "directory"},
	{name: "RegisterRepoRoot and reload",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.RegisterRepoRoot(ctx, "sub", &claude.RepoRootOptions{ReloadClaudeMd: true, ReloadPlugins: true, ReloadSkills: true})
		},
		request: `{"subtype":"register_repo_root","directory":"sub","reload_claude_md":true,"reload_plugins":true,"reload_skills":true}`,
		answer:  `{"directory":"/w/sub"}`, member: "directory"},
}

var mcpCalls = []controlCall{
	{name: "ListMCPServers", call: asks(client.ListMCPServers), request: `{"subtype":"mcp_status"}`, member: "mcpServers",
		answer: `{"mcpServers":[{"name":"a","status":"failed","error":"ENOENT","config":{"type":"claudeai-proxy","url":"https://x","id":"i"},` +
			`"transport":"http","scope":"claudeai","source":"claudeai","tools":[{"name":"t","description":"d","annotations":{"readOnly":true,` +
			`"destructive":false,"openWorld":true},"_meta":{"ui":{"visibility":[]}}}]}]}`},
	{name: "SetMCPServers to none", call: func(ctx anyCtx, c client) (any, error) { return c.SetMCPServers(ctx, nil) },
		request: `{"subtype":"mcp_set_servers","servers":{}}`, answer: `{"added":[],"removed":["late"],"errors":{}}`},
	{name: "SetMCPServers",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.SetMCPServers(ctx, map[string]claude.MCPServer{"a": {Command: "a"}, "b": {Command: "b", Args: []string{"x"}}, "c": {Type: "http", URL: "http://c"}})
		},
		request: `{"subtype":"mcp_set_servers","servers":{"a":{"command":"a","args":[]},"b":{"command":"b","args":["x"]},"c":{"type":"http","url":"http://c"}}}`,
		answer:  `{"added":["a","b","c"],"removed":[],"errors":{"a":"it did not start"}}`},
	{name: "ReconnectMCPServer", call: silent(func(ctx anyCtx, c client) error { return c.ReconnectMCPServer(ctx, "a") }),
		request: `{"subtype":"mcp_reconnect","serverName":"a"}`},
	{name: "DisableMCPServer", call: silent(func(ctx anyCtx, c client) error { return c.DisableMCPServer(ctx, "a") }),
		request: `{"subtype":"mcp_toggle","enabled":false,"serverName":"a"}`},
	{name: "SetMCPPermissionModeOverride",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.SetMCPPermissionModeOverride(ctx, "a", message.ModeAuto)
		},
		request: `{"subtype":"set_mcp_permission_mode_override","serverName":"a","mode":"auto"}`, answer: `{"warning":"not yet known"}`, member: "warning"},
	{name: "SetMCPPermissionModeOverride to none",
		call:    func(ctx anyCtx, c client) (any, error) { return c.SetMCPPermissionModeOverride(ctx, "a", "") },
		request: `{"subtype":"set_mcp_permission_mode_override","serverName":"a","mode":null}`, want: ""},
	{name: "ReadMCPResource", call: func(ctx anyCtx, c client) (any, error) { return c.ReadMCPResource(ctx, "a", "ui://x") },
		request: `{"subtype":"mcp_read_resource","serverName":"a","uri":"ui://x"}`, member: "contents",
		answer: `{"contents":[{"uri":"ui://x","mimeType":"text/html","text":"<p>"},{"uri":"ui://x","blob":"AA==","_meta":{"ui":{}}}]}`},
	{name: "CallMCP", call: func(ctx anyCtx, c client) (any, error) { return c.CallMCP(ctx, "mcp__a__t", nil, nil) },
		request: `{"subtype":"mcp_call","tool":"mcp__a__t"}`,
		answer:  `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1},"isError":true,"_meta":{"b":2}}`},
	{name: "CallMCP with everything",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.CallMCP(ctx, "mcp__a__t", map[string]int{"n": 1}, &claude.MCPCallOptions{
				CheckPermissions: true, ResultNotForModel: true, Timeout: 5 * time.Second, ExpiresAt: time.Unix(1700000000, 0).UTC(),
				InputFiles:  []claude.MCPCallFile{{Name: "i", LanePath: "/i"}},
				OutputFiles: []claude.MCPCallFile{{Name: "o", LanePath: "/o", IfMatch: "e"}},
			})
		},
		request: `{"subtype":"mcp_call","tool":"mcp__a__t","arguments":{"n":1},"expires_at":"2023-11-14T22:13:20Z","timeout_ms":5000,` +
			`"result_not_for_model":true,"check_permissions":true,"input_files":[{"name":"i","lane_path":"/i"}],` +
			`"output_files":[{"name":"o","lane_path":"/o","if_match":"e"}]}`,
		answer: `{"content":"text","staging":{"ok":true,"outputs":[],"inputs_used":[{"etag":"x"}]}}`},
}

var taskCalls = []controlCall{
	{name: "StopTask", call: silent(func(ctx anyCtx, c client) error { return c.StopTask(ctx, "t") }),
		request: `{"subtype":"stop_task","task_id":"t"}`, answer: `{}`},
	{name: "MoveToBackground, all of them", call: names(client.MoveToBackground, ""),
		request: `{"subtype":"background_tasks"}`, answer: `{}`, want: true},
	{name: "MoveToBackground, one that is not there", call: names(client.MoveToBackground, "toolu_1"),
		request: `{"subtype":"background_tasks","tool_use_id":"toolu_1"}`, answer: `{"backgrounded":false}`, want: false},
	{name: "ReadTaskOutput", call: names(client.ReadTaskOutput, "t"),
		request: `{"subtype":"get_task_output","task_id":"t"}`, answer: `{"output":"x\n","total_bytes":9000,"truncated":true}`},
	{name: "CancelMessage", call: names(client.CancelMessage, "u"),
		request: `{"subtype":"cancel_async_message","message_uuid":"u"}`, answer: `{"cancelled":true}`, member: "cancelled"},
}

var settingsCalls = []controlCall{
	{name: "FetchSettings", call: asks(client.FetchSettings), request: `{"subtype":"get_settings"}`,
		answer: `{"effective":{"outputStyle":"default"},"sources":[{"source":"localSettings","settings":{"outputStyle":"default"}}],` +
			`"errors":[{"file":"/w/s.json","path":"a.b","message":"a number"}],"applied":{"model":"claude-opus-5-5","effort":null,"advisor":null,` +
			`"ultracode":false,"ultracodeRequested":false,"ultracodeAvailable":true,"ultrathinkAvailable":false,"outsideFileToolReadsBlocked":false,` +
			`"outsideFileToolWritesBlocked":false,"outsideBlocksCountLaunchFoldersOnly":false,"launchEnvLeftOwnFilesInPlace":false}}`},
	{name: "ApplyFlagSettings",
		call:    silent(func(ctx anyCtx, c client) error { return c.ApplyFlagSettings(ctx, map[string]any{"model": nil}) }),
		request: `{"subtype":"apply_flag_settings","settings":{"model":null}}`},
	{name: "UpdateSettings",
		call: silent(func(ctx anyCtx, c client) error {
			return c.UpdateSettings(ctx, "localSettings", map[string]string{"outputStyle": "default"})
		}),
		request: `{"subtype":"update_settings","settings":{"outputStyle":"default"},"source":"localSettings"}`, answer: `{}`},
	{name: "ListHooks", call: asks(client.ListHooks), request: `{"subtype":"get_hooks_listing"}`,
		answer: `{"events":[{"name":"PreToolUse","summary":"before","supportsMatcher":true,"hookCount":1}],"hooks":[{"event":"PreToolUse",` +
			`"matcher":"Write","source":"projectSettings","sourceLabel":"Project","pluginName":"p","type":"command","displayText":"x","commandText":"true",` +
			`"contentLabel":"Command","condition":"c","timeout":5,"statusMessage":"x","runsOnce":true,"runsInBackground":true,"disabled":true,` +
			`"editable":{"matcher":"Write","config":{"type":"command"},"headersRedacted":true}}],"eventCatalog":[{"name":"Stop","summary":"at the end",` +
			`"supportsMatcher":false}],"policy":{"disabledByPolicy":false,"managedOnly":false,"pluginOnly":false,"allDisabled":false,"policyHookCount":0,` +
			`"policyUnreadable":true},"safeMode":{"managedHooksStillApply":true,"exitHint":"e"},"bareMode":{"exitHint":"e"},` +
			`"errors":[{"path":"","message":"broken"}]}`},
	{name: "ListPermissionRules", call: asks(client.ListPermissionRules), request: `{"subtype":"list_permission_rules"}`, member: "state",
		answer: `{"state":{"rules":[{"behavior":"allow","source":"cliArg","rule":"Bash(echo:*)","description":{"prefix":"Any ","emphasis":"echo"},` +
			`"editability":"session","notInEffect":true}],"workspaceDirectories":[{"path":"/var","source":"cliArg"}],"originalCwd":"/w",` +
			`"managedOnly":false,"errors":[{"path":"","message":"broken"}],"withheld":true}}`},
}

var listCalls = []controlCall{
	{name: "FetchContextUsage", call: func(ctx anyCtx, c client) (any, error) { return c.FetchContextUsage(ctx, "") },
		request: `{"subtype":"get_context_usage"}`,
		answer: `{"categories":[],"mcpTools":[{"name":"mcp__a__t","serverName":"a","tokens":31,"isLoaded":false}],"mcpInstructions":` +
			`[{"serverName":"a","tokens":8}],"deferredBuiltinTools":[{"name":"T","tokens":1,"isLoaded":true}],"systemTools":[{"name":"T","tokens":1}],` +
			`"systemPromptSections":[{"name":"S","tokens":1}],"memoryFiles":[{"path":"/w/CLAUDE.md","type":"Project","tokens":3}],` +
			`"agents":[{"agentType":"a","source":"s","pluginId":"p","path":"/p","tokens":1}],"apiUsage":null}`},
	{name: "FetchContextUsage in short", call: func(ctx anyCtx, c client) (any, error) { return c.FetchContextUsage(ctx, claude.ContextDetailSummary) },
		request: `{"subtype":"get_context_usage","detail":"summary"}`, answer: `{"categories":[],"totalTokens":5}`},
	{name: "FetchUsage", call: func(ctx anyCtx, c client) (any, error) { return c.FetchUsage(ctx) },
		request: `{"subtype":"get_usage","skip_behaviors":true}`,
		answer: `{"session":{"total_cost_usd":0.5},"subscription_type":"max","rate_limits_available":true,"rate_limits":{"five_hour":{"utilization":10.5,` +
			`"resets_at":"2026-01-01T00:00:00Z"},"seven_day":null,"model_scoped":[{"display_name":"Opus","utilization":null,"resets_at":null}],` +
			`"extra_usage":{"is_enabled":true,"monthly_limit":100,"used_credits":null,"utilization":null,"currency":null}},"behaviors":{"day":{` +
			`"request_count":1,"session_count":1,"behaviors":[{"key":"cron","pct":1.5,"count":2}],"recommendations":[{"key":"k","pct":1,"title":"t",` +
			`"detail":"d"}],"fix":{"keys":["k"],"messages":["m"]},"agents":[{"name":"a","pct":1}],"skills":[],"plugins":[],"mcp_servers":[]},` +
			`"week":{"request_count":1,"session_count":1,"behaviors":[],"agents":[],"skills":[],"plugins":[],"mcp_servers":[]}}}`},
	{name: "FetchUsageBehaviors", call: func(ctx anyCtx, c client) (any, error) { return c.FetchUsageBehaviors(ctx) },
		request: `{"subtype":"get_usage"}`, answer: `{"session":{"total_cost_usd":0},"subscription_type":null,"rate_limits":null,"behaviors":null}`},
	{name: "FetchSessionCost", call: asks(client.FetchSessionCost), request: `{"subtype":"get_session_cost"}`, answer: `{"text":"$0"}`, member: "text"},
	{name: "ListModels", call: asks(client.ListModels), request: `{"subtype":"list_models"}`, member: "models",
		answer: `{"models":[{"value":"opus","resolvedModel":"claude-opus-5-5","displayName":"Opus","description":"d","supportsEffort":true,` +
			`"supportedEffortLevels":["low"],"supportsAdaptiveThinking":true,"supportsFastMode":true,"supportsAutoMode":true,"supportsThinkingOff":false}]}`},
	{name: "FetchBinaryVersion", call: asks(client.FetchBinaryVersion),
		request: `{"subtype":"get_binary_version"}`, answer: `{"version":"2.1.325","buildTime":"2026-11-13T18:52:23Z"}`},
	{name: "ReloadPlugins", call: func(ctx anyCtx, c client) (any, error) { return c.ReloadPlugins(ctx, nil) },
		request: `{"subtype":"reload_plugins"}`, answer: `{"commands":[],"agents":[],"plugins":[],"mcpServers":[],"error_count":1}`},
	{name: "ReloadPlugins with everything",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.ReloadPlugins(ctx, &claude.ReloadPluginsOptions{HoldOnCacheImpact: true, RefuseIfBusy: true, AddPlugins: []claude.Plugin{{Path: "/p"}}})
		},
		request: `{"subtype":"reload_plugins","hold_on_cache_impact":true,"refuse_if_busy":true,"add_plugins":[{"type":"local","path":"/p"}]}`,
		answer:  `{"plugins":[],"held":true,"cache_impact":{"mcp_servers_added":["a"],"mcp_servers_removed":[],"lsp_tool_change":null}}`},
	{name: "ReloadSkills", call: asks(client.ReloadSkills), request: `{"subtype":"reload_skills"}`, member: "skills",
		answer: `{"skills":[{"name":"greet","description":"greets","argumentHint":""}]}`},
	{name: "ReloadOutputStyles", call: asks(client.ReloadOutputStyles),
		request: `{"subtype":"reload_output_styles"}`, answer: `{"available_output_styles":["default"]}`, member: "available_output_styles"},
}

var sessionCalls = []controlCall{
	{name: "RenameSession", call: silent(func(ctx anyCtx, c client) error { return c.RenameSession(ctx, "t", "") }),
		request: `{"subtype":"rename_session","title":"t","source":"host"}`},
	{name: "RenameSession, this one", call: silent(func(ctx anyCtx, c client) error { return c.RenameSession(ctx, "t", "s") }),
		request: `{"subtype":"rename_session","title":"t","source":"host","session_id":"s"}`},
	{name: "SuggestSessionTitle", call: func(ctx anyCtx, c client) (any, error) { return c.SuggestSessionTitle(ctx, "d") },
		request: `{"subtype":"generate_session_title","description":"d","persist":false}`, answer: `{"title":"Fake title"}`, member: "title"},
	{name: "GenerateSessionTitle, none", call: func(ctx anyCtx, c client) (any, error) { return c.GenerateSessionTitle(ctx, "") },
		request: `{"subtype":"generate_session_title","description":"","persist":true}`, answer: `{"title":null}`, member: "title"},
	{name: "AskSideQuestion",
		call: func(ctx anyCtx, c client) (any, error) {
			return c.AskSideQuestion(ctx, "q", []claude.SideExchange{{Question: "a", Response: "b"}})
		},
		request: `{"subtype":"side_question","question":"q","history":[{"question":"a","response":"b"}]}`,
		answer:  `{"response":"two","synthetic":false,"refusal_fallback":{"original_model":"o","fallback_model":"f","content":"c"}}`},
	{name: "AskSideQuestion without an answer", call: func(ctx anyCtx, c client) (any, error) { return c.AskSideQuestion(ctx, "q", nil) },
		request: `{"subtype":"side_question","question":"q"}`, answer: `{"response":null}`},
	{name: "ExportConversation", call: asks(client.ExportConversation),
		request: `{"subtype":"export_conversation"}`, answer: `{"text":"hello","default_filename":"hello.txt"}`},
	{name: "FetchPlan", call: asks(client.FetchPlan), request: `{"subtype":"get_plan"}`, answer: `{"exists":true,"content":"1.","path":"/p"}`},
	{name: "FetchStatus", call: asks(client.FetchStatus), request: `{"subtype":"get_status"}`, member: "sections",
		answer: `{"sections":[{"title":"Session","rows":[{"label":"Version","value":"2.1.325"}]}]}`},
	{name: "SetHasSubscribers, not known", call: silent(func(ctx anyCtx, c client) error { return c.SetHasSubscribers(ctx, nil) }),
		request: `{"subtype":"set_has_subscribers","has_subscribers":null}`},
	{name: "SetHasSubscribers", call: silent(func(ctx anyCtx, c client) error { return c.SetHasSubscribers(ctx, new(false)) }),
		request: `{"subtype":"set_has_subscribers","has_subscribers":false}`},
	{name: "ResumePromptSuggestions", call: silent(func(ctx anyCtx, c client) error { return c.ResumePromptSuggestions(ctx) }),
		request: `{"subtype":"set_prompt_suggestions_paused","paused":false}`},
	{name: "RateMessage",
		call: silent(func(ctx anyCtx, c client) error {
			return c.RateMessage(ctx, claude.MessageRating{MessageUUID: "u", Sentiment: "positive", Surface: "tool_use"})
		}),
		request: `{"subtype":"message_rated","messageUuid":"u","sentiment":"positive","surface":"tool_use","cleared":false}`, answer: `{}`},
	{name: "EndSession", call: silent(func(ctx anyCtx, c client) error { return c.EndSession(ctx) }), request: `{"subtype":"end_session"}`},
}

var dialogCalls = []controlCall{
	{name: "FetchMemoryDialog", call: asks(client.FetchMemoryDialog), request: `{"subtype":"get_memory_dialog"}`,
		answer: `{"files":[{"kind":"user","path":"/h/CLAUDE.md","label":"User","description":"","exists":false}],"folders":[{"kind":"auto","path":"/m/",` +
			`"label":"Open","description":""}],"memories":[],"auto_memory":{"enabled":true,"toggleable":true,"status":"on"},"auto_dream":{"shown":false,` +
			`"enabled":false,"toggleable":true,"status":"off","detail":""}}`},
	{name: "ListSkills", call: asks(client.ListSkills), request: `{"subtype":"get_skills_dialog"}`, member: "skills",
		answer: `{"skills":[{"name":"greet","display_name":"greet","description":"greets","source":"project","tokens":6,"state":"on","advertised":true,"handles":{}}]}`},
	{name: "FetchSandboxDialog", call: asks(client.FetchSandboxDialog), request: `{"subtype":"get_sandbox_dialog"}`,
		answer: `{"supported":true,"locked":false,"overrides_locked":false,"policy_origins":[],"enabled":false,"enabled_in_settings":false,"mode":"disabled",` +
			`"auto_allow_available":true,"no_sandbox_allowed":true,"unsandboxed_fallback":true,"dependencies":{"errors":["no socat"],"warnings":[]},` +
			`"excluded_commands":[],"restrictions":{"fs_deny_read":[],"fs_allow_read":[],"fs_allow_write":[],"fs_deny_write":[],` +
			`"network_allowed_domains":[],"network_denied_domains":[],"network_managed":false,"unix_sockets":[],"allow_all_unix_sockets":false,` +
			`"ignored_glob_patterns":[]}}`},
	{name: "FetchChromeDialog", call: asks(client.FetchChromeDialog), request: `{"subtype":"get_chrome_dialog"}`,
		answer: `{"allowed":true,"subscriber":false,"wsl":false,"installed":false,"connected":false,"enabled_by_default":false,"at_startup":false,` +
			`"urls":{"install":"https://x"}}`},
}
