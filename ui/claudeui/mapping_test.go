package claudeui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/nodefold"
	"github.com/seed7221b0f9/parley/rpc"
	"github.com/seed7221b0f9/parley/ui"
)

// head is the header of another provider's event.
func head(provider string) ui.Header { return ui.Header{Provider: provider, SessionID: "s"} }

// mapped is a message of another provider and the events that carry it, with what a
// screen has to have then. It shows that the event has a place for what the message
// says; the converters are packages of their own.
type mapped struct {
	row    string
	events []ui.Event
	want   string // part of the state's canonical JSON; empty where nothing is shown
}

func codex() ui.Header { return head("codex") }

// codexRows has a row for each row of messages of the Codex app-server.
var codexRows = []mapped{
	{"thread/start, resume, fork answers; thread/started", []ui.Event{&ui.SystemInit{Header: codex(), CWD: "/p", PermissionMode: "on-request", Sandbox: "workspace-write", CLIVersion: "0.166"}}, `"init":{"cliVersion":"0.166"}`},
	{"thread/status/changed", []ui.Event{&ui.SessionState{Header: codex(), State: "requires_action"}}, `"state":"requires_action"`},
	{"turn/started", []ui.Event{&ui.TurnStart{Header: codex(), TurnID: "t1", By: ui.ByAgent}}, `"turns":[{"by":"agent","done":false,"id":"t1"}]`},
	{"turn/completed completed / failed / interrupted", []ui.Event{&ui.ResultMessage{Header: codex(), Subtype: "interrupted", Data: `{"codexErrorInfo":"x"}`}}, `"subtype":"interrupted"`},
	{"item userMessage", []ui.Event{&ui.UserMessage{Header: ui.Header{Provider: "codex", UUID: "u"}, Blocks: []ui.Content{ui.ContentOf(`{"type":"localImage","path":"/i"}`)}}}, `"data":{"path":"/i","type":"localImage"}`},
	{"item agentMessage + delta", []ui.Event{&ui.AssistantMessage{Header: ui.Header{Provider: "codex", MessageID: "m"}, Phase: "final_answer", Blocks: []ui.IndexedBlock{{Block: ui.TextContent("x")}}}}, `"phase":"final_answer"`},
	{"agentMessage without item/completed", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.TextStart{Header: ui.Header{MessageID: "m"}}, &ui.BlockStop{Header: ui.Header{MessageID: "m"}, Incomplete: true}, &ui.MessageComplete{Header: ui.Header{MessageID: "m"}, Incomplete: true}}, `"state":"incomplete"`},
	{"the same before a retry (error willRetry)", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.TextStart{Header: ui.Header{MessageID: "m"}}, &ui.MessageComplete{Header: ui.Header{MessageID: "m"}, AbandonedFrom: new(int64)}, &ui.Retry{Header: codex(), Attempt: 1, Reason: "overloaded"}}, `"retry":{"attempt":1,"reason":"overloaded"}`},
	{"item reasoning, summaryTextDelta, summaryPartAdded, textDelta", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ThinkingStart{Header: ui.Header{MessageID: "m"}, Summary: true, Thinking: "x"}}, `"summary":true`},
	{"item commandExecution", []ui.Event{&ui.MessageStart{Header: ui.Header{Provider: "codex", MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{Provider: "codex", MessageID: "m"}, ToolUseID: "t", Name: "commandExecution", BlockType: "tool_use"}, &ui.ToolComplete{ToolUseID: "t", ToolUseResult: `{"exitCode":1}`}}, `"toolType":"CODEX_COMMAND_EXECUTION","toolUseResult":{"exitCode":1}`},
	{"outputDelta", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &ui.ToolProgress{ToolUseID: "t", Output: "longer"}, &ui.ToolComplete{ToolUseID: "t", Content: `"long"`, Truncated: true}}, `"truncated":true`},
	{"outputDelta, item/completed after turn/completed", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &ui.ResultMessage{}, &ui.ToolComplete{ToolUseID: "t", Content: `"late"`}}, `"result":"late"`},
	{"item fileChange", []ui.Event{&ui.TurnStart{TurnID: "t1"}, &ui.TurnDiff{TurnID: "t1", ToolUseID: "i", Files: []ui.FileChange{{Path: "/a", Kind: ui.ChangeMove, MovedTo: "/b", Hunks: []ui.Hunk{}, Diff: "@@"}}}}, `"movedTo":"/b"`},
	{"fileChange/patchUpdated", []ui.Event{&ui.TurnDiff{TurnID: "t1", Files: []ui.FileChange{{Path: "/old", Hunks: []ui.Hunk{}}}}, &ui.TurnDiff{TurnID: "t1", Replace: true, Files: []ui.FileChange{{Path: "/new", Kind: "update", Hunks: []ui.Hunk{}}}}}, `"changes":[{"hunks":[],"kind":"update","path":"/new"}]`},
	{"turn/diff/updated", []ui.Event{&ui.TurnDiff{TurnID: "t1", Replace: true, Files: []ui.FileChange{{Path: "/a", Kind: "update", Hunks: []ui.Hunk{}, Diff: "--- a\n"}}}}, `"diff":"--- a\n"`},
	{"turn/plan/updated", []ui.Event{&ui.Plan{Explanation: "why", Entries: []ui.PlanEntry{{Content: "x", Status: ui.PlanPending}}}}, `"plan":{"entries":[{"content":"x","status":"pending"}],"explanation":"why"}`},
	{"item plan, plan/delta", []ui.Event{&ui.Plan{Text: "# The plan"}}, `"text":"# The plan"`},
	{"item mcpToolCall, progress", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{MessageID: "m"}, ToolUseID: "t", Name: "mcp__s__t", BlockType: "tool_use"}}, `"toolType":"MCP"`},
	{"item dynamicToolCall + item/tool/call", []ui.Event{&ui.MessageStart{Header: ui.Header{Provider: "codex", MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{Provider: "codex", MessageID: "m"}, ToolUseID: "t", Name: "mine", BlockType: "tool_use"}}, `"toolType":"CODEX_MINE"`},
	{"item webSearch, imageView, imageGeneration, sleep", []ui.Event{&ui.MessageStart{Header: ui.Header{Provider: "codex", MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{Provider: "codex", MessageID: "m"}, ToolUseID: "t", Name: "webSearch", BlockType: "tool_use"}}, `"toolType":"CODEX_WEB_SEARCH"`},
	{"item collabAgentToolCall; events of the child thread", []ui.Event{&ui.MessageStart{Header: ui.Header{ParentToolUseID: "t", MessageID: "m"}}}, `"parentToolUseId":"t"`},
	{"item subAgentActivity", []ui.Event{&ui.TaskStarted{TaskID: "k", TaskType: "subagent"}, &ui.TaskNotification{TaskID: "k", Status: "completed"}}, `"status":"completed","type":"subagent"`},
	{"item contextCompaction", []ui.Event{&ui.CompactBoundary{Header: codex()}}, `{"compaction":{},"kind":"compaction"}`},
	{"item enteredReviewMode, exitedReviewMode", []ui.Event{&ui.Status{Header: codex(), Status: "reviewing"}}, `"status":"reviewing"`},
	{"hook/started, hook/completed", []ui.Event{&ui.Hook{HookID: "h", Event: "PreToolUse", State: ui.HookStarted}, &ui.Hook{HookID: "h", State: ui.HookFinished, Decision: "deny"}}, `"decision":"deny","event":"PreToolUse","id":"h","state":"finished"`},
	{"commandExecution/requestApproval", []ui.Event{&ui.PermissionRequest{Kind: ui.PermissionTool, RequestID: "r", Input: `{"command":"ls"}`, Choices: []ui.Choice{{ID: "acceptForSession", Label: "Allow for this session", Behavior: "allow", Scope: ui.ScopeSession}, {ID: "amend", Label: "Amend the policy", Behavior: "allow", Scope: ui.ScopeAlways, Data: `{"rule":1}`}}}}, `"id":"acceptForSession","label":"Allow for this session","scope":"session"`},
	{"fileChange/requestApproval", []ui.Event{&ui.PermissionRequest{Kind: ui.PermissionTool, RequestID: "r", ToolUseID: "item"}}, `"toolUseId":"item"`},
	{"permissions/requestApproval", []ui.Event{&ui.PermissionRequest{Kind: ui.PermissionProfile, RequestID: "r", Profile: `{"network":true}`, Choices: []ui.Choice{{ID: "turn", Label: "This turn", Behavior: "allow", Scope: ui.ScopeTurn}}}}, `"profile":{"network":true}`},
	{"mcpServer/elicitation/request, codex_approval_kind", []ui.Event{&ui.PermissionRequest{Kind: ui.PermissionTool, RequestID: "r", Choices: []ui.Choice{{ID: "always", Label: "Always", Behavior: "allow", Scope: ui.ScopeAlways}}}}, `"scope":"always"`},
	{"mcpServer/elicitation/request", []ui.Event{&ui.QuestionRequest{Kind: ui.QuestionElicitation, RequestID: "r", Schema: `{}`}}, `"schema":{}`},
	{"tool/requestUserInput", []ui.Event{&ui.QuestionRequest{Kind: ui.QuestionAsk, RequestID: "r", Blocking: new(bool), Questions: []ui.Question{{ID: "q1", Question: "?", IsOther: true, IsSecret: true}}}}, `"blocking":false,"kind":"ask_user_question","questions":[{"id":"q1","isOther":true,"isSecret":true,"question":"?"}]`},
	{"serverRequest/resolved", []ui.Event{&ui.PermissionRequest{RequestID: "r"}, &ui.PermissionResolved{RequestID: "r", Behavior: ui.ResolvedUnknown}, &ui.QuestionRequest{RequestID: "q"}, &ui.QuestionResolved{RequestID: "q", Action: "expired"}}, `"prompts":[]`},
	{"thread/tokenUsage/updated", []ui.Event{&ui.Usage{TurnID: "t1", ContextTokens: new(int64), ReasoningTokens: new(int64)}}, `"usage":{"contextTokens":0,"reasoningTokens":0,"turnId":"t1"}`},
	{"account/rateLimits/updated", []ui.Event{&ui.RateLimit{Info: `{"x":1}`}}, `"rateLimit":{"x":1}`},
	{"error willRetry", []ui.Event{&ui.Retry{Attempt: 2, Reason: "stream disconnected"}}, `"retry":{"attempt":2`},
	{"warning, configWarning, deprecationNotice, guardianWarning", []ui.Event{&ui.Notice{Severity: ui.NoticeWarning, Text: "w", Code: "configWarning"}}, `"notices":[{"code":"configWarning","severity":"warning","text":"w"}]`},
	{"model/rerouted, model/verification, safetyBuffering", []ui.Event{&ui.Notice{Severity: ui.NoticeInfo, Text: "n", Code: "model_rerouted"}}, `"code":"model_rerouted"`},
	{"thread/queue/changed", []ui.Event{&ui.QueueChanged{Items: []ui.QueueItem{{ID: "q"}}}}, `"queue":[{"id":"q"}]`},
	{"thread/name/updated, archived, unarchived, deleted, reverted, closed, settings/updated, goal/*, readState/changed", []ui.Event{
		&ui.TurnStart{TurnID: "t1"}, &ui.UserMessage{Header: ui.Header{UUID: "gone"}, Blocks: []ui.Content{ui.TextContent("x")}},
		&ui.SessionInfo{Title: ptr("T"), Goal: ptr("G"), Archived: ptr(true)}, &ui.Truncate{Reason: "revert", TurnID: "t1"},
	}, `"threads":[{"items":[],"parentToolUseId":""}],"title":"T","totals"`},
	{"mcpServer/startupStatus/updated", []ui.Event{&ui.SessionInfo{MCPServers: []ui.MCPServer{{Name: "x", Status: "failed", Error: "e"}}}}, `"mcpServers":[{"error":"e","name":"x","status":"failed"}]`},
	{"remoteControl/status/changed, thread/realtime/*, app/*, fs/*, process/*, windows*", nil, ""},
}

func acp() ui.Header { return head("acp:gemini") }

// acpRows has a row for each row of the Agent Client Protocol that says something of a
// conversation. The rows about the connection and about starting agents are not here:
// they are a protocol's and a server's, not events.
var acpRows = []mapped{
	{"stop reasons", []ui.Event{&ui.ResultMessage{Header: acp(), Subtype: "success", StopReason: "max_tokens"}}, `"stopReason":"max_tokens"`},
	{"agent_message_chunk, agent_thought_chunk, messageId", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ThinkingDelta{Header: ui.Header{MessageID: "m"}, Thinking: "hm"}, &ui.TextDelta{Header: ui.Header{MessageID: "m"}, Index: 1, Text: "x"}}, `"id":"m"`},
	{"user_message_chunk (replay)", []ui.Event{&ui.UserMessage{Header: acp(), IsReplay: true, Blocks: []ui.Content{ui.TextContent("x")}}}, `"isReplay":true`},
	{"tool_call / update: title, kind, locations, name", []ui.Event{&ui.MessageStart{Header: ui.Header{Provider: "acp:gemini", MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{Provider: "acp:gemini", MessageID: "m"}, ToolUseID: "t", Name: "read_file", BlockType: "tool_use", Title: "Read a.go", Kind: "read"}}, `"kind":"read","name":"read_file","status":"in_progress","title":"Read a.go","toolType":"ACP_READ_FILE"`},
	{"input while it streams", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ToolInputDelta{Header: ui.Header{MessageID: "m"}, PartialJSON: `{"a`}}, `"inputText":"{\"a"`},
	{"diff", []ui.Event{&ui.TurnDiff{TurnID: "t", Files: []ui.FileChange{{Path: "/a", Kind: "add", Hunks: []ui.Hunk{{NewStart: 1, NewLines: 1, Lines: []string{"+x"}}}}}}}, `"lines":["+x"]`},
	{"plan", []ui.Event{&ui.Plan{Entries: []ui.PlanEntry{{Content: "x", Status: "completed", Priority: "high"}}}}, `"priority":"high"`},
	{"live command output", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &ui.ToolProgress{ToolUseID: "t", Output: "o"}}, `"output":"o"`},
	{"display terminals", []ui.Event{&ui.MessageStart{Header: ui.Header{MessageID: "m"}}, &ui.ToolStart{Header: ui.Header{MessageID: "m"}, ToolUseID: "t", Name: "x", BlockType: "tool_use"}, &ui.ToolComplete{ToolUseID: "t", ToolUseResult: `{"terminalId":"1"}`}}, `"terminalId":"1"`},
	{"request_permission", []ui.Event{&ui.PermissionRequest{RequestID: "r", Kind: ui.PermissionTool, Choices: []ui.Choice{{ID: "a", Label: "Always", Behavior: "allow", Scope: ui.ScopeAlways}}, Suggestions: []ui.Suggestion{{Kind: ui.SuggestRules, Label: "Always allow X", Rules: []string{"X"}}}}}, `"suggestions":[{"kind":"rules","label":"Always allow X","rules":["X"]}]`},
	{"ExitPlanMode", []ui.Event{&ui.PermissionRequest{RequestID: "r", Kind: ui.PermissionPlan, Choices: []ui.Choice{{ID: "acceptEdits", Label: "Yes, and accept edits", Behavior: "allow"}}}}, `"kind":"plan"`},
	{"AskUserQuestion → elicitation form", []ui.Event{&ui.QuestionRequest{RequestID: "r", Kind: ui.QuestionAsk, Questions: []ui.Question{{Question: "?", Options: []ui.QuestionOption{{Label: "a"}}}}}}, `"options":[{"label":"a"}]`},
	{"MCP elicitation form/url, complete", []ui.Event{&ui.QuestionRequest{RequestID: "r", Kind: ui.QuestionElicitation, Mode: "url", URL: "https://x"}}, `"url":"https://x"`},
	{"modes + config option mode", []ui.Event{&ui.SessionInfo{PermissionMode: ptr("plan")}}, `"permissionMode":"plan"`},
	{"model, effort, fast, thinking", []ui.Event{&ui.SessionInfo{Model: ptr("m")}}, `"model":"m"`},
	{"available_commands", []ui.Event{&ui.SessionInfo{Commands: `[{"name":"init"}]`}}, `"commands":[{"name":"init"}]`},
	{"usage_update", []ui.Event{&ui.Usage{ContextTokens: ptr(int64(5)), ContextWindow: ptr(int64(10)), CostUSD: ptr(0.5)}}, `"usage":{"contextTokens":5,"contextWindow":10,"costUsd":0.5}`},
	{"session_info_update", []ui.Event{&ui.SessionInfo{Title: ptr("T")}}, `"title":"T"`},
	{"notice, compaction_update", []ui.Event{&ui.Notice{Severity: ui.NoticeInfo, Text: "n"}, &ui.CompactBoundary{Trigger: "auto", PreTokens: ptr(int64(7)), Metadata: `{"trigger":"auto","pre_tokens":7}`}}, `"preTokens":7,"trigger":"auto"`},
	{"subagents (unstable), nested transcripts", []ui.Event{&ui.AssistantMessage{Header: ui.Header{ParentToolUseID: "t", MessageID: "m"}, Blocks: []ui.IndexedBlock{{Block: ui.TextContent("x")}}}}, `"parentToolUseId":"t"`},
	{"session state / idle (v2)", []ui.Event{&ui.SessionState{State: "idle"}}, `"state":"idle"`},
	{"fork, archive, status, set_title (unstable)", []ui.Event{&ui.SessionInfo{Archived: ptr(true), Title: ptr("T")}}, `"archived":true`},
	{"death of the CLI", []ui.Event{&ui.Error{Message: "died"}, &ui.PermissionRequest{RequestID: "r"}, &ui.PermissionResolved{RequestID: "r", Behavior: ui.ResolvedExpired}}, `"error":{"message":"died"}`},
}

func ptr[T any](v T) *T { return &v }

// zeroFigure is a figure that must be absent where it is not known.
var zeroFigure = regexp.MustCompile(`"(costUsd|preTokens)":0[,}]`)

// Each message of Codex and of the Agent Client Protocol has an event that carries it, in
// both folds, and none of them is an unknown one.
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
			for _, msg := range r.messages {
				if _, ok := msg.(*rpc.UnknownMessage); ok {
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
