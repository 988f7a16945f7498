package claudeevent_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
)

// head returns the header of another provider's event.
func head(provider string) event.Header { return event.Header{Provider: provider, SessionID: "s"} }

// mapped is a message of another provider, the events that carry it, and the expected
// state. It shows that the events can hold the data of the message; separate packages do
// the conversion.
type mapped struct {
	row    string
	events []event.Event
	want   string // part of the state's canonical JSON; empty if the state has no trace of it
}

func codex() event.Header { return head("codex") }

// codexRows has a row for each row of messages of the Codex app-server.
var codexRows = []mapped{
	{"thread/start, resume, fork answers; thread/started", []event.Event{&event.SystemInit{Header: codex(), CWD: "/p", PermissionMode: "on-request", Sandbox: "workspace-write", CLIVersion: "0.166"}}, `"init":{"apiKeySource":"","claude_code_version":"0.166","cwd":"/p"`},
	{"thread/status/changed", []event.Event{&event.SessionState{Header: codex(), State: "requires_action"}}, `"state":"requires_action"`},
	{"turn/started", []event.Event{&event.TurnStart{Header: codex(), TurnID: "t1", By: event.ByAgent}}, `"turns":[{"done":false,"id":"t1","start":{"by":"agent",`},
	{"turn/completed completed / failed / interrupted", []event.Event{&event.ResultMessage{Header: codex(), Subtype: "interrupted", Data: `{"codexErrorInfo":"x"}`}}, `"subtype":"interrupted"`},
	{"item userMessage", []event.Event{&event.UserMessage{Header: event.Header{Provider: "codex", UUID: "u"}, Blocks: []event.Content{event.ContentOf(`{"type":"localImage","path":"/i"}`)}}}, `"data":{"path":"/i","type":"localImage"}`},
	{"item agentMessage + delta", []event.Event{&event.AssistantMessage{Header: event.Header{Provider: "codex", MessageID: "m"}, Phase: "final_answer", Blocks: []event.IndexedBlock{{Block: event.TextContent("x")}}}}, `"phase":"final_answer"`},
	{"agentMessage without item/completed", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.TextStart{Header: event.Header{MessageID: "m"}}, &event.BlockStop{Header: event.Header{MessageID: "m"}, Incomplete: true}, &event.MessageComplete{Header: event.Header{MessageID: "m"}, Incomplete: true}}, `"state":"incomplete"`},
	{"the same before a retry (error willRetry)", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.TextStart{Header: event.Header{MessageID: "m"}}, &event.MessageComplete{Header: event.Header{MessageID: "m"}, AbandonedFrom: new(int64)}, &event.Retry{Header: codex(), Attempt: 1, Reason: "overloaded"}}, `"retry":{"attempt":1,"provider":"codex","reason":"overloaded"`},
	{"item reasoning, summaryTextDelta, summaryPartAdded, textDelta", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ThinkingStart{Header: event.Header{MessageID: "m"}, Summary: true, Thinking: "x"}}, `"summary":true`},
	{"item commandExecution", []event.Event{&event.MessageStart{Header: event.Header{Provider: "codex", MessageID: "m"}}, &event.ToolStart{Header: event.Header{Provider: "codex", MessageID: "m"}, ToolUseID: "t", Name: "commandExecution", BlockType: "tool_use"}, &event.ToolComplete{ToolUseID: "t", ToolUseResult: `{"exitCode":1}`}}, `"toolType":"CODEX_COMMAND_EXECUTION","toolUseResult":{"exitCode":1}`},
	{"outputDelta", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &event.ToolProgress{ToolUseID: "t", Output: "longer"}, &event.ToolComplete{ToolUseID: "t", Content: `"long"`, Truncated: true}}, `"truncated":true`},
	{"outputDelta, item/completed after turn/completed", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &event.ResultMessage{}, &event.ToolComplete{ToolUseID: "t", Content: `"late"`}}, `"result":"late"`},
	{"item fileChange", []event.Event{&event.TurnStart{TurnID: "t1"}, &event.TurnDiff{TurnID: "t1", ToolUseID: "i", Files: []event.FileChange{{Path: "/a", Kind: event.ChangeMove, MovedTo: "/b", Hunks: []event.Hunk{}, Diff: "@@"}}}}, `"movedTo":"/b"`},
	{"fileChange/patchUpdated", []event.Event{&event.TurnDiff{TurnID: "t1", Files: []event.FileChange{{Path: "/old", Hunks: []event.Hunk{}}}}, &event.TurnDiff{TurnID: "t1", Replace: true, Files: []event.FileChange{{Path: "/new", Kind: "update", Hunks: []event.Hunk{}}}}}, `"changes":[{"hunks":[],"kind":"update","path":"/new"}]`},
	{"turn/diff/updated", []event.Event{&event.TurnDiff{TurnID: "t1", Replace: true, Files: []event.FileChange{{Path: "/a", Kind: "update", Hunks: []event.Hunk{}, Diff: "--- a\n"}}}}, `"diff":"--- a\n"`},
	{"turn/plan/updated", []event.Event{&event.Plan{Explanation: "why", Entries: []event.PlanEntry{{Content: "x", Status: event.PlanPending}}}}, `"plan":{"entries":[{"content":"x","status":"pending"}],"explanation":"why"`},
	{"item plan, plan/delta", []event.Event{&event.Plan{Text: "# The plan"}}, `"text":"# The plan"`},
	{"item mcpToolCall, progress", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "t", Name: "mcp__s__t", BlockType: "tool_use"}}, `"toolType":"MCP"`},
	{"item dynamicToolCall + item/tool/call", []event.Event{&event.MessageStart{Header: event.Header{Provider: "codex", MessageID: "m"}}, &event.ToolStart{Header: event.Header{Provider: "codex", MessageID: "m"}, ToolUseID: "t", Name: "mine", BlockType: "tool_use"}}, `"toolType":"CODEX_MINE"`},
	{"item webSearch, imageView, imageGeneration, sleep", []event.Event{&event.MessageStart{Header: event.Header{Provider: "codex", MessageID: "m"}}, &event.ToolStart{Header: event.Header{Provider: "codex", MessageID: "m"}, ToolUseID: "t", Name: "webSearch", BlockType: "tool_use"}}, `"toolType":"CODEX_WEB_SEARCH"`},
	{"item collabAgentToolCall; events of the child thread", []event.Event{&event.MessageStart{Header: event.Header{ParentToolUseID: "t", MessageID: "m"}}}, `"parentToolUseId":"t"`},
	{"item subAgentActivity", []event.Event{&event.TaskStarted{TaskID: "k", TaskType: "subagent"}, &event.TaskNotification{TaskID: "k", Status: "completed"}}, `"task_type":"subagent","type":"task_started"},"status":"completed"}`},
	{"item contextCompaction", []event.Event{&event.CompactBoundary{Header: codex()}}, `{"compaction":{"compact_metadata":null,`},
	{"item enteredReviewMode, exitedReviewMode", []event.Event{&event.Status{Header: codex(), Status: "reviewing"}}, `"status":"reviewing"`},
	{"hook/started, hook/completed", []event.Event{&event.Hook{HookID: "h", Event: "PreToolUse", State: event.HookStarted}, &event.Hook{HookID: "h", State: event.HookFinished, Decision: "deny"}}, `"decision":"deny","event":"PreToolUse","hook_id":"h","provider":"","state":"finished"`},
	{"commandExecution/requestApproval", []event.Event{&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", Input: `{"command":"ls"}`, Choices: []event.Choice{{ID: "acceptForSession", Label: "Allow for this session", Behavior: "allow", Scope: event.ScopeSession}, {ID: "amend", Label: "Amend the policy", Behavior: "allow", Scope: event.ScopeAlways, Data: `{"rule":1}`}}}}, `"id":"acceptForSession","label":"Allow for this session","scope":"session"`},
	{"fileChange/requestApproval", []event.Event{&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "item"}}, `"tool_use_id":"item"`},
	{"permissions/requestApproval", []event.Event{&event.PermissionRequest{Kind: event.PermissionProfile, RequestID: "r", Profile: `{"network":true}`, Choices: []event.Choice{{ID: "turn", Label: "This turn", Behavior: "allow", Scope: event.ScopeTurn}}}}, `"profile":{"network":true}`},
	{"mcpServer/elicitation/request, codex_approval_kind", []event.Event{&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", Choices: []event.Choice{{ID: "always", Label: "Always", Behavior: "allow", Scope: event.ScopeAlways}}}}, `"scope":"always"`},
	{"mcpServer/elicitation/request", []event.Event{&event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: "r", Schema: `{}`}}, `"requested_schema":{}`},
	{"tool/requestUserInput", []event.Event{&event.QuestionRequest{Kind: event.QuestionAsk, RequestID: "r", Blocking: new(bool), Questions: []event.Question{{ID: "q1", Question: "?", IsOther: true, IsSecret: true}}}}, `"blocking":false,"kind":"ask_user_question","provider":"","questions":[{"id":"q1","isOther":true,"isSecret":true,"question":"?"}]`},
	{"serverRequest/resolved", []event.Event{&event.PermissionRequest{RequestID: "r"}, &event.PermissionResolved{RequestID: "r", Behavior: event.ResolvedUnknown}, &event.QuestionRequest{RequestID: "q"}, &event.QuestionResolved{RequestID: "q", Action: "expired"}}, `"prompts":[]`},
	{"thread/tokenUsage/updated", []event.Event{&event.Usage{TurnID: "t1", ContextTokens: new(int64), ReasoningTokens: new(int64)}}, `"usage":{"context_tokens":0,"provider":"","reasoning_tokens":0,"turn_id":"t1"`},
	{"account/rateLimits/updated", []event.Event{&event.RateLimit{Info: `{"x":1}`}}, `"rate_limit_info":{"x":1}`},
	{"error willRetry", []event.Event{&event.Retry{Attempt: 2, Reason: "stream disconnected"}}, `"retry":{"attempt":2`},
	{"warning, configWarning, deprecationNotice, guardianWarning", []event.Event{&event.Notice{Severity: event.NoticeWarning, Text: "w", Code: "configWarning"}}, `"notices":[{"notice":{"code":"configWarning","provider":"","severity":"warning","text":"w"`},
	{"model/rerouted, model/verification, safetyBuffering", []event.Event{&event.Notice{Severity: event.NoticeInfo, Text: "n", Code: "model_rerouted"}}, `"code":"model_rerouted"`},
	{"thread/queue/changed", []event.Event{&event.QueueChanged{Items: []event.QueueItem{{ID: "q"}}}}, `"queue":[{"id":"q"}]`},
	{"the queue of a server", []event.Event{
		&event.QueueChanged{Items: []event.QueueItem{{ID: "a", Content: `"A"`}, {ID: "b", Content: `"B"`, Status: "held"}, {ID: "gone"}, {ID: "d"}}},
		&event.QueueUpdated{Items: []event.QueueItem{{ID: "b", Priority: "now"}, {ID: "c", Content: `"C"`}, {ID: "a", Content: `"A2"`}}, Removed: []string{"gone", "never"}},
		&event.QueueUpdated{Order: []string{"c", "never", "b"}},
	}, `"queue":[{"content":"C","id":"c"},{"content":"B","id":"b","priority":"now"},{"content":"A2","id":"a"},{"id":"d"}]`},
	{"thread/name/updated, archived, unarchived, deleted, reverted, closed, settings/updated, goal/*, readState/changed", []event.Event{
		&event.TurnStart{TurnID: "t1"}, &event.UserMessage{Header: event.Header{UUID: "gone"}, Blocks: []event.Content{event.TextContent("x")}},
		&event.SessionInfo{Title: ptr("T"), Goal: ptr("G"), Archived: ptr(true)}, &event.Truncate{Reason: "revert", TurnID: "t1"},
	}, `"threads":[{"items":[],"parentToolUseId":""}],"title":"T","totals"`},
	{"mcpServer/startupStatus/updated", []event.Event{&event.SessionInfo{MCPServers: []event.MCPServer{{Name: "x", Status: "failed", Error: "e"}}}}, `"mcpServers":[{"error":"e","name":"x","status":"failed"}]`},
	{"remoteControl/status/changed, thread/realtime/*, app/*, fs/*, process/*, windows*", nil, ""},
}

func acp() event.Header { return head("acp:gemini") }

// acpRows has a row for each row of the Agent Client Protocol that concerns a
// conversation. It omits the rows about the connection and about starting agents, which
// have no events.
var acpRows = []mapped{
	{"stop reasons", []event.Event{&event.ResultMessage{Header: acp(), Subtype: "success", StopReason: "max_tokens"}}, `"stop_reason":"max_tokens"`},
	{"agent_message_chunk, agent_thought_chunk, messageId", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ThinkingDelta{Header: event.Header{MessageID: "m"}, Thinking: "hm"}, &event.TextDelta{Header: event.Header{MessageID: "m"}, Index: 1, Text: "x"}}, `"id":"m"`},
	{"user_message_chunk (replay)", []event.Event{&event.UserMessage{Header: acp(), IsReplay: true, Blocks: []event.Content{event.TextContent("x")}}}, `"isReplay":true`},
	{"tool_call / update: title, kind, locations, name", []event.Event{&event.MessageStart{Header: event.Header{Provider: "acp:gemini", MessageID: "m"}}, &event.ToolStart{Header: event.Header{Provider: "acp:gemini", MessageID: "m"}, ToolUseID: "t", Name: "read_file", BlockType: "tool_use", Title: "Read a.go", Kind: "read"}}, `"kind":"read","name":"read_file","status":"in_progress","title":"Read a.go","toolType":"ACP_READ_FILE"`},
	{"input while it streams", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ToolInputDelta{Header: event.Header{MessageID: "m"}, PartialJSON: `{"a`}}, `"inputText":"{\"a"`},
	{"diff", []event.Event{&event.TurnDiff{TurnID: "t", Files: []event.FileChange{{Path: "/a", Kind: "add", Hunks: []event.Hunk{{NewStart: 1, NewLines: 1, Lines: []string{"+x"}}}}}}}, `"lines":["+x"]`},
	{"plan", []event.Event{&event.Plan{Entries: []event.PlanEntry{{Content: "x", Status: "completed", Priority: "high"}}}}, `"priority":"high"`},
	{"live command output", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &event.ToolProgress{ToolUseID: "t", Output: "o"}}, `"output":"o"`},
	{"display terminals", []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &event.ToolComplete{ToolUseID: "t", ToolUseResult: `{"terminalId":"1"}`}}, `"terminalId":"1"`},
	{"request_permission", []event.Event{&event.PermissionRequest{RequestID: "r", Kind: event.PermissionTool, Choices: []event.Choice{{ID: "a", Label: "Always", Behavior: "allow", Scope: event.ScopeAlways}}, Suggestions: []event.Suggestion{{Kind: event.SuggestRules, Label: "Always allow X", Rules: []string{"X"}}}}}, `"permission_suggestions":[{"kind":"rules","label":"Always allow X","rules":["X"]}]`},
	{"ExitPlanMode", []event.Event{&event.PermissionRequest{RequestID: "r", Kind: event.PermissionPlan, Choices: []event.Choice{{ID: "acceptEdits", Label: "Yes, and accept edits", Behavior: "allow"}}}}, `"kind":"plan"`},
	{"AskUserQuestion → elicitation form", []event.Event{&event.QuestionRequest{RequestID: "r", Kind: event.QuestionAsk, Questions: []event.Question{{Question: "?", Options: []event.QuestionOption{{Label: "a"}}}}}}, `"options":[{"label":"a"}]`},
	{"MCP elicitation form/url, complete", []event.Event{&event.QuestionRequest{RequestID: "r", Kind: event.QuestionElicitation, Mode: "url", URL: "https://x"}}, `"url":"https://x"`},
	{"modes + config option mode", []event.Event{&event.SessionInfo{PermissionMode: ptr("plan")}}, `"permissionMode":"plan"`},
	{"model, effort, fast, thinking", []event.Event{&event.SessionInfo{Model: ptr("m")}}, `"model":"m"`},
	{"available_commands", []event.Event{&event.SessionInfo{Commands: `[{"name":"init"}]`}}, `"commands":[{"name":"init"}]`},
	{"usage_update", []event.Event{&event.Usage{ContextTokens: ptr(int64(5)), ContextWindow: ptr(int64(10)), CostUSD: ptr(0.5)}}, `"usage":{"context_tokens":5,"context_window":10,"cost_usd":0.5,`},
	{"session_info_update", []event.Event{&event.SessionInfo{Title: ptr("T")}}, `"title":"T"`},
	{"notice, compaction_update", []event.Event{&event.Notice{Severity: event.NoticeInfo, Text: "n"}, &event.CompactBoundary{Trigger: "auto", PreTokens: ptr(int64(7)), Metadata: `{"trigger":"auto","pre_tokens":7}`}}, `"pre_tokens":7,"trigger":"auto"`},
	{"subagents (unstable), nested transcripts", []event.Event{&event.AssistantMessage{Header: event.Header{ParentToolUseID: "t", MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: event.TextContent("x")}}}}, `"parentToolUseId":"t"`},
	{"session state / idle (v2)", []event.Event{&event.SessionState{State: "idle"}}, `"state":"idle"`},
	{"fork, archive, status, set_title (unstable)", []event.Event{&event.SessionInfo{Archived: ptr(true), Title: ptr("T")}}, `"archived":true`},
	{"death of the CLI", []event.Event{&event.Error{Message: "died"}, &event.PermissionRequest{RequestID: "r"}, &event.PermissionResolved{RequestID: "r", Behavior: event.ResolvedExpired}}, `"error":{"message":"died",`},
}

func ptr[T any](v T) *T { return &v }

// zeroFigure matches a number that must be absent if it is unknown.
var zeroFigure = regexp.MustCompile(`"(costUsd|cost_usd|total_cost_usd|pre_tokens)":0[,}]`)

// Each message of Codex and of the Agent Client Protocol has an event other than the
// unknown event, in both folds.
func TestMapping(t *testing.T) {
	var cases []nodefold.Case
	want := map[string]string{}
	for provider, rows := range map[string][]mapped{"codex": codexRows, "acp": acpRows} {
		for _, m := range rows {
			name := fmt.Sprintf("%s: %s", provider, m.row)
			if want[name] != "" {
				t.Errorf("%s is there twice", name)
			}
			r := follow(t, m.events)
			checkRoundTrip(t, r)
			state := canonical(t, r.conv)
			want[name] = state
			if !strings.Contains(state, m.want) {
				t.Errorf("%s: the state has no %s:\n%s", name, m.want, state)
			}
			for _, line := range r.lines {
				if event.MessageType(line) == "unknown" {
					t.Errorf("%s is an unknown message", name)
				}
			}
			if zeroFigure.MatchString(state) {
				t.Errorf("%s: what is not known is 0: %s", name, state)
			}
			cases = append(cases, nodefold.Case{Name: name, Messages: r.lines, Every: true})
		}
	}
	for name, got := range nodefold.Fold(t, cases) {
		if got.Error != "" || got.State != want[name] {
			t.Errorf("%s: the folds differ: %s\n%s", name, got.Error, diffJSON(t, want[name], got.State))
		}
	}
}
