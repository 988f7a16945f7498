package hook

import "github.com/seed7221b0f9/parley/claude/message"

// StopInput is the input of a Stop hook. The turn is about to end, and the hook can keep it
// going.
type StopInput struct {
	Input
	StopInfo
}

// StopInfo describes the end of a turn of the main conversation or of a subagent. It is embedded
// in [StopInput] and [SubagentStopInput].
type StopInfo struct {
	// StopHookActive is set when the turn continues only because a hook prevented its end. A hook
	// that ignores it can keep a turn running forever.
	StopHookActive       bool   `json:"stop_hook_active"`
	LastAssistantMessage string `json:"last_assistant_message,omitempty"`
	// BackgroundTasks are still running; SessionCrons will wake the session.
	BackgroundTasks []BackgroundTaskSummary `json:"background_tasks,omitempty"`
	SessionCrons    []SessionCronSummary    `json:"session_crons,omitempty"`
}

// BackgroundTaskSummary is a task that runs in the background: its kind, description and status.
// The CLI shortens long texts.
type BackgroundTaskSummary struct {
	ID          string `json:"id"`
	Type        string `json:"type"` // shell, subagent, monitor, workflow, ...
	Status      string `json:"status"`
	Description string `json:"description"`
	Command     string `json:"command,omitempty"`    // of a shell
	AgentType   string `json:"agent_type,omitempty"` // of a subagent
	Server      string `json:"server,omitempty"`     // of an MCP task
	Tool        string `json:"tool,omitempty"`       // of an MCP task
	Name        string `json:"name,omitempty"`       // of a workflow
}

// SessionCronSummary is a scheduled prompt that will wake the session, once or repeatedly.
type SessionCronSummary struct {
	ID        string `json:"id"`
	Schedule  string `json:"schedule"`
	Recurring bool   `json:"recurring"`
	Prompt    string `json:"prompt"`
}

// StopFailureInput is the input of a StopFailure hook. The turn has ended with an error of the
// API.
type StopFailureInput struct {
	Input
	Error                message.AssistantError `json:"error"`
	ErrorDetails         string                 `json:"error_details,omitempty"`
	LastAssistantMessage string                 `json:"last_assistant_message,omitempty"`
}

// SubagentStartInput is the input of a SubagentStart hook. The embedded AgentID and AgentType
// name the subagent that starts.
type SubagentStartInput struct{ Input }

// SubagentStopInput is the input of a SubagentStop hook. The subagent that AgentID names is
// about to end.
type SubagentStopInput struct {
	Input
	StopInfo
	AgentTranscriptPath string `json:"agent_transcript_path"`
}

// TeammateIdleInput is the input of a TeammateIdle hook. An agent of a team is idle.
type TeammateIdleInput struct {
	Input
	TeammateName string `json:"teammate_name"`
	TeamName     string `json:"team_name"`
}

// TaskCreatedInput is the input of a TaskCreated hook. It describes a new entry in the list of
// tasks.
type TaskCreatedInput struct {
	Input
	Task
}

// TaskCompletedInput is the input of a TaskCompleted hook. It describes an entry of the list of
// tasks that is about to be marked as completed.
type TaskCompletedInput struct {
	Input
	Task
}

// Task is an entry of the agent's list of tasks, with the teammate and the team if it belongs
// to one.
type Task struct {
	TaskID          string `json:"task_id"`
	TaskSubject     string `json:"task_subject"`
	TaskDescription string `json:"task_description,omitempty"`
	TeammateName    string `json:"teammate_name,omitempty"`
	TeamName        string `json:"team_name,omitempty"`
}
