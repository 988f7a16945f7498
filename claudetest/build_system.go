package claudetest

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/claude"
)

// fakeCapabilities are what the CLI says that it can do.
var fakeCapabilities = []string{
	"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1", "sdk_mcp_tools_list_changed", "sdk_mcp_manifests",
}

// fakeInfo is the answer to initialize.
func fakeInfo() claude.ServerInfo {
	efforts := []string{"low", "medium", "high", "xhigh", "max"}
	return claude.ServerInfo{
		Commands: []claude.SlashCommand{
			{Name: "compact", Description: "Summarise the conversation so far", ArgumentHint: "<instructions>", Builtin: true},
			{Name: "context", Description: "Show what is in the context window", Builtin: true},
			{Name: "usage", Description: "Show tokens and cost", Builtin: true},
		},
		Agents: []claude.AgentInfo{
			{Name: "Explore", Description: "Search without changing anything", Model: "inherit"},
			{Name: "general-purpose", Description: "Any task of several steps"},
		},
		Models: []claude.ModelInfo{
			{Value: "default", ResolvedModel: fakeModel, DisplayName: "Default (recommended)", Description: "The default model",
				SupportsEffort: true, SupportedEffortLevels: efforts, SupportsAdaptiveThinking: true},
			{Value: "sonnet", ResolvedModel: "claude-sonnet-5", DisplayName: "Sonnet", Description: "For everyday tasks",
				SupportsEffort: true, SupportedEffortLevels: efforts, SupportsAdaptiveThinking: true},
		},
		Account:                claude.AccountInfo{TokenSource: "none", APIKeySource: "ANTHROPIC_API_KEY", APIProvider: "firstParty"},
		OutputStyle:            "default",
		AvailableOutputStyles:  []string{"default", "Explanatory"},
		ClaudeCodeVersion:      FakeVersion,
		Capabilities:           fakeCapabilities,
		CurrentPermissionMode:  claude.ModeDefault,
		SessionState:           claude.StateIdle,
		PID:                    int64(os.Getpid()),
		HookOnFailureSupported: true,
	}
}

func (b *Builder) system() claude.SystemMessage { return claude.SystemMessage{Header: b.head()} }

// Init opens a turn.
func (b *Builder) Init() *claude.InitMessage {
	_, prompts := b.promptUUIDs()
	return &claude.InitMessage{
		SystemMessage: b.system(), CWD: b.CWD, OriginalCWD: b.CWD, Model: b.Model, PermissionMode: claude.ModeDefault,
		Tools:      []string{"Task", "Bash", "Edit", "Read", "Skill", "WebFetch", "Write"},
		MCPServers: []claude.InitMCPServer{}, SlashCommands: []string{"compact", "context", "usage"},
		Agents: []string{"Explore", "general-purpose"}, Skills: []string{}, Plugins: []claude.InitPlugin{},
		Capabilities: fakeCapabilities, OutputStyle: "default", APIKeySource: "ANTHROPIC_API_KEY",
		ClaudeCodeVersion: FakeVersion, UserMessageUUIDs: prompts,
	}
}

// State tells the SDK, and only it, what the session does.
func (b *Builder) State(s claude.SessionState) *claude.SessionStateChangedMessage {
	return &claude.SessionStateChangedMessage{SystemMessage: b.system(), State: s, SDKHostOnly: true}
}

// Lifecycle follows a prompt through the queue.
func (b *Builder) Lifecycle(uuid string, s claude.CommandState) *claude.CommandLifecycleMessage {
	return &claude.CommandLifecycleMessage{Header: b.head(), CommandUUID: uuid, State: s}
}

// Status says what the CLI does: "requesting", "compacting".
func (b *Builder) Status(status string) *claude.StatusMessage {
	return &claude.StatusMessage{SystemMessage: b.system(), Status: status}
}

// Result ends a turn that went well. An empty text stands for that of the last
// answer.
func (b *Builder) Result(text string) *claude.ResultMessage {
	m := b.result()
	if text == "" {
		b.mu.Lock()
		text = b.lastText
		b.mu.Unlock()
	}
	m.Subtype, m.Result, m.StopReason, m.TerminalReason = claude.ResultSuccess, text, "end_turn", claude.TerminalCompleted
	return m
}

// ResultFailed ends a turn that failed.
func (b *Builder) ResultFailed(subtype claude.ResultSubtype, errors ...string) *claude.ResultMessage {
	m := b.result()
	m.Subtype, m.IsError, m.Errors = subtype, true, errors
	return m
}

// ResultAPIError ends a turn that failed on the API, whose subtype is success
// none the less.
func (b *Builder) ResultAPIError(status int64, text string) *claude.ResultMessage {
	m := b.Result(text)
	m.IsError, m.APIErrorStatus, m.TerminalReason, m.StopReason = true, status, claude.TerminalAPIError, "stop_sequence"
	return m
}

func (b *Builder) result() *claude.ResultMessage {
	m := &claude.ResultMessage{Header: b.head(), DurationMS: 225, DurationAPIMS: 68}
	m.UserMessageUUID, m.UserMessageUUIDs = b.promptUUIDs()
	b.mu.Lock()
	defer b.mu.Unlock()
	index, total := b.results, b.total
	b.results++
	cost := float64(total.InputTokens)*4e-6 + float64(total.OutputTokens)*2e-5
	m.NumTurns, m.ResultIndex, m.TotalCostUSD = int64(max(b.steps, 1)), &index, cost
	m.Usage = &claude.Usage{InputTokens: 10 * m.NumTurns, OutputTokens: 5 * m.NumTurns}
	m.ModelUsage = map[string]claude.ModelUsage{b.Model: {
		InputTokens: total.InputTokens, OutputTokens: total.OutputTokens, CostUSD: cost,
		ContextWindow: 1_000_000, MaxOutputTokens: 128_000, CanonicalModel: b.Model, Provider: "firstParty", CostBasis: "list",
	}}
	return m
}

// TaskStarted says that a task has begun. The type is local_bash or local_agent.
func (b *Builder) TaskStarted(id, taskType, description, toolUseID string) *claude.TaskStartedMessage {
	return &claude.TaskStartedMessage{
		SystemMessage: b.system(), TaskID: id, TaskType: taskType, Description: description, ToolUseID: toolUseID,
	}
}

// TaskProgress says how far a task is.
func (b *Builder) TaskProgress(id, description string, usage claude.TaskUsage) *claude.TaskProgressMessage {
	return &claude.TaskProgressMessage{SystemMessage: b.system(), TaskID: id, Description: description, Usage: usage}
}

// TaskUpdated changes the state of a task.
func (b *Builder) TaskUpdated(id string, status claude.TaskStatus) *claude.TaskUpdatedMessage {
	return &claude.TaskUpdatedMessage{SystemMessage: b.system(), TaskID: id, Patch: claude.TaskPatch{Status: status}}
}

// TaskNotification says that a task has ended.
func (b *Builder) TaskNotification(id string, status claude.TaskStatus, summary string) *claude.TaskNotificationMessage {
	return &claude.TaskNotificationMessage{
		SystemMessage: b.system(), TaskID: id, Status: status, Summary: summary, OutputFile: "/tmp/tasks/" + id + ".output",
	}
}

// BackgroundTasks is the whole set of background tasks that live.
func (b *Builder) BackgroundTasks(tasks ...claude.BackgroundTask) *claude.BackgroundTasksChangedMessage {
	return &claude.BackgroundTasksChangedMessage{SystemMessage: b.system(), Tasks: append([]claude.BackgroundTask{}, tasks...)}
}

// APIRetry says that an API call is tried again.
func (b *Builder) APIRetry(attempt, status int64, kind claude.AssistantError) *claude.APIRetryMessage {
	return &claude.APIRetryMessage{
		SystemMessage: b.system(), Attempt: attempt, MaxRetries: 10, RetryDelayMS: 500, ErrorStatus: status, Error: kind,
	}
}

// CompactBoundary stands where the conversation was compacted.
func (b *Builder) CompactBoundary(trigger string, preTokens int64) *claude.CompactBoundaryMessage {
	return &claude.CompactBoundaryMessage{
		SystemMessage: b.system(), CompactMetadata: claude.CompactMetadata{Trigger: trigger, PreTokens: preTokens},
	}
}

// Unknown is a message of a type that no SDK knows. The fields, an object or nil,
// are beside type, uuid and session_id.
func (b *Builder) Unknown(typ string, fields any) claude.Message {
	all := map[string]any{}
	if fields != nil {
		if err := json.Unmarshal(mustEncode(fields), &all); err != nil {
			panic(fmt.Sprintf("claudetest: the fields of a message: %v", err))
		}
	}
	all["type"], all["uuid"], all["session_id"] = typ, b.UUID(), b.SessionID
	m, err := claude.DecodeMessage(mustEncode(all))
	if err != nil {
		panic(fmt.Sprintf("claudetest: %v", err))
	}
	return m
}
