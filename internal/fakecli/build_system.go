package fakecli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// fakeCapabilities are the capabilities that the CLI announces.
var fakeCapabilities = []string{
	"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "msg_lifecycle_v1", "sdk_mcp_tools_list_changed", "sdk_mcp_manifests",
}

// fakeInfo returns the answer to initialize.
func fakeInfo() claude.ServerInfo {
	efforts := []string{"low", "medium", "high", "xhigh", "max"}
	return claude.ServerInfo{
		Commands: []message.SlashCommand{
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
		CurrentPermissionMode:  message.ModeDefault,
		SessionState:           message.StateIdle,
		PID:                    int64(os.Getpid()),
		HookOnFailureSupported: true,
	}
}

func (b *Builder) system() message.System { return message.System{Header: b.head()} }

// Init returns the system/init message that opens a turn, with a model, tools and commands like
// those of the real CLI.
func (b *Builder) Init() *message.Init {
	_, prompts := b.promptUUIDs()
	return &message.Init{
		System: b.system(), CWD: b.CWD, OriginalCWD: b.CWD, Model: b.Model, PermissionMode: message.ModeDefault,
		Tools:      []string{"Task", "Bash", "Edit", "Read", "Skill", "WebFetch", "Write"},
		MCPServers: []message.InitMCPServer{}, SlashCommands: []string{"compact", "context", "usage"},
		Agents: []string{"Explore", "general-purpose"}, Skills: []string{}, Plugins: []message.InitPlugin{},
		Capabilities: fakeCapabilities, OutputStyle: "default", APIKeySource: "ANTHROPIC_API_KEY",
		ClaudeCodeVersion: FakeVersion, UserMessageUUIDs: prompts,
	}
}

// State returns the message with which the CLI reports the activity of the session to SDKs
// only.
func (b *Builder) State(s message.SessionState) *message.SessionStateChanged {
	return &message.SessionStateChanged{System: b.system(), State: s, SDKHostOnly: true}
}

// Lifecycle returns a message about the state of a prompt, which its uuid names, in the CLI's
// queue.
func (b *Builder) Lifecycle(uuid string, s message.CommandState) *message.CommandLifecycle {
	return &message.CommandLifecycle{Header: b.head(), CommandUUID: uuid, State: s}
}

// Status returns a message about the CLI's current activity, such as "requesting" or
// "compacting".
func (b *Builder) Status(status string) *message.Status {
	return &message.Status{System: b.system(), Status: status}
}

// Result returns the result of a successful turn. An empty text means the text of the last
// answer.
func (b *Builder) Result(text string) *message.Result {
	m := b.result()
	if text == "" {
		b.mu.Lock()
		text = b.lastText
		b.mu.Unlock()
	}
	m.Subtype, m.Result, m.StopReason, m.TerminalReason = message.ResultSuccess, text, "end_turn", message.TerminalCompleted
	return m
}

// ResultFailed returns the result of a turn that failed, with a subtype and the texts of its
// errors.
func (b *Builder) ResultFailed(subtype message.ResultSubtype, errors ...string) *message.Result {
	m := b.result()
	m.Subtype, m.IsError, m.Errors = subtype, true, errors
	return m
}

// ResultAPIError returns the result of a turn that failed with an API error; its subtype is
// still success.
func (b *Builder) ResultAPIError(status int64, text string) *message.Result {
	m := b.Result(text)
	m.IsError, m.APIErrorStatus, m.TerminalReason, m.StopReason = true, status, message.TerminalAPIError, "stop_sequence"
	return m
}

func (b *Builder) result() *message.Result {
	m := &message.Result{Header: b.head(), DurationMS: 225, DurationAPIMS: 68}
	m.UserMessageUUID, m.UserMessageUUIDs = b.promptUUIDs()
	b.mu.Lock()
	defer b.mu.Unlock()
	index, total := b.results, b.total
	b.results++
	cost := float64(total.InputTokens)*4e-6 + float64(total.OutputTokens)*2e-5
	m.NumTurns, m.ResultIndex, m.TotalCostUSD = int64(max(b.steps, 1)), &index, cost
	m.Usage = &message.Usage{InputTokens: 10 * m.NumTurns, OutputTokens: 5 * m.NumTurns}
	m.ModelUsage = map[string]message.ModelUsage{b.Model: {
		InputTokens: total.InputTokens, OutputTokens: total.OutputTokens, CostUSD: cost,
		ContextWindow: 1_000_000, MaxOutputTokens: 128_000, CanonicalModel: b.Model, Provider: "firstParty", CostBasis: "list",
	}}
	return m
}

// TaskStarted returns the message that reports the start of a task. The type is local_bash or
// local_agent.
func (b *Builder) TaskStarted(id, taskType, description, toolUseID string) *message.TaskStarted {
	return &message.TaskStarted{
		System: b.system(), TaskID: id, TaskType: taskType, Description: description, ToolUseID: toolUseID,
	}
}

// TaskProgress returns a message that reports the activity and the usage of a task so far.
func (b *Builder) TaskProgress(id, description string, usage message.TaskUsage) *message.TaskProgress {
	return &message.TaskProgress{System: b.system(), TaskID: id, Description: description, Usage: usage}
}

// TaskUpdated returns a message that changes the status of a task and no other member.
func (b *Builder) TaskUpdated(id string, status message.TaskStatus) *message.TaskUpdated {
	return &message.TaskUpdated{System: b.system(), TaskID: id, Patch: message.TaskPatch{Status: status}}
}

// TaskNotification returns the message that reports the end of a task with a summary and an
// output file.
func (b *Builder) TaskNotification(id string, status message.TaskStatus, summary string) *message.TaskNotification {
	return &message.TaskNotification{
		System: b.system(), TaskID: id, Status: status, Summary: summary, OutputFile: "/tmp/tasks/" + id + ".output",
	}
}

// BackgroundTasks returns the message with the complete list of the background tasks that are
// running.
func (b *Builder) BackgroundTasks(tasks ...message.BackgroundTask) *message.BackgroundTasksChanged {
	return &message.BackgroundTasksChanged{System: b.system(), Tasks: append([]message.BackgroundTask{}, tasks...)}
}

// APIRetry returns a message that reports that a request to the API failed and is retried.
func (b *Builder) APIRetry(attempt, status int64, kind message.AssistantError) *message.APIRetry {
	return &message.APIRetry{
		System: b.system(), Attempt: attempt, MaxRetries: 10, RetryDelayMS: 500, ErrorStatus: status, Error: kind,
	}
}

// CompactBoundary returns the message that marks the place at which the conversation was
// compacted.
func (b *Builder) CompactBoundary(trigger string, preTokens int64) *message.CompactBoundary {
	return &message.CompactBoundary{
		System: b.system(), CompactMetadata: message.CompactMetadata{Trigger: trigger, PreTokens: preTokens},
	}
}

// Unknown returns a message of a type that no SDK knows. The fields, an object or nil, are
// added to type, uuid and session_id.
func (b *Builder) Unknown(typ string, fields any) message.Message {
	all := map[string]any{}
	if fields != nil {
		if err := json.Unmarshal(mustEncode(fields), &all); err != nil {
			panic(fmt.Sprintf("claudetest: the fields of a message: %v", err))
		}
	}
	all["type"], all["uuid"], all["session_id"] = typ, b.UUID(), b.SessionID
	m, err := message.Decode(mustEncode(all))
	if err != nil {
		panic(fmt.Sprintf("claudetest: %v", err))
	}
	return m
}
