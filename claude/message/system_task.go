package message

// TaskStatus is the state of a task. A task that was killed is "killed" in a [TaskPatch] but
// "stopped" in a [TaskNotification]. The set is open: a newer CLI may send values that have no
// constant here.
type TaskStatus string

// The states that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	TaskPending   TaskStatus = "pending"
	TaskRunning   TaskStatus = "running"
	TaskPaused    TaskStatus = "paused"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskKilled    TaskStatus = "killed"
	TaskStopped   TaskStatus = "stopped"
)

// Ended reports whether a task in this state is over: completed, failed, killed or stopped.
// Unknown states are not over.
func (s TaskStatus) Ended() bool {
	switch s {
	case TaskCompleted, TaskFailed, TaskKilled, TaskStopped:
		return true
	}
	return false
}

// TaskStarted reports that a task has begun: a subagent, a command in the background, or a
// workflow. Its later messages have the same TaskID.
type TaskStarted struct {
	System
	TaskID         string `json:"task_id"`
	Description    string `json:"description"`
	TaskType       string `json:"task_type,omitempty"` // local_agent, local_bash, local_workflow, …
	ToolUseID      string `json:"tool_use_id,omitempty"`
	RunID          string `json:"run_id,omitempty"`
	ParentTaskID   string `json:"parent_task_id,omitempty"`
	SubagentType   string `json:"subagent_type,omitempty"`
	IsBackgrounded bool   `json:"is_backgrounded,omitempty"`
	SpawnDepth     int64  `json:"spawn_depth,omitempty"`
	WorkflowName   string `json:"workflow_name,omitempty"`
	Prompt         string `json:"prompt,omitempty"`
	SkipTranscript bool   `json:"skip_transcript,omitempty"`
	Ambient        bool   `json:"ambient,omitempty"`
}

// TaskProgress reports the current activity of a task and its usage so far.
type TaskProgress struct {
	System
	TaskID       string    `json:"task_id"`
	Description  string    `json:"description"`
	Usage        TaskUsage `json:"usage"`
	ToolUseID    string    `json:"tool_use_id,omitempty"`
	RunID        string    `json:"run_id,omitempty"`
	SubagentType string    `json:"subagent_type,omitempty"`
	LastToolName string    `json:"last_tool_name,omitempty"`
	Summary      string    `json:"summary,omitempty"`
}

// TaskUsage is the usage of a task so far: total tokens, the number of tool calls, and the time
// in milliseconds.
type TaskUsage struct {
	TotalTokens int64 `json:"total_tokens"`
	ToolUses    int64 `json:"tool_uses"`
	DurationMS  int64 `json:"duration_ms"`
}

// TaskUpdated reports the changed members of a task. It may be the only message about the end of
// a task.
type TaskUpdated struct {
	System
	TaskID string    `json:"task_id"`
	RunID  string    `json:"run_id,omitempty"`
	Patch  TaskPatch `json:"patch"`
}

// TaskPatch holds the members of a task that have changed. Unset members are unchanged.
type TaskPatch struct {
	Status         TaskStatus `json:"status,omitempty"`
	Description    string     `json:"description,omitempty"`
	Error          string     `json:"error,omitempty"`
	EndTime        float64    `json:"end_time,omitempty"` // milliseconds since 1970
	TotalPausedMS  float64    `json:"total_paused_ms,omitempty"`
	IsBackgrounded *bool      `json:"is_backgrounded,omitempty"`
}

// TaskNotification reports that a task has ended, with its status, a summary for the model, and
// the file with its output.
type TaskNotification struct {
	System
	TaskID         string         `json:"task_id"`
	Status         TaskStatus     `json:"status"` // completed, failed, stopped
	Summary        string         `json:"summary"`
	OutputFile     string         `json:"output_file"`
	ToolUseID      string         `json:"tool_use_id,omitempty"`
	RunID          string         `json:"run_id,omitempty"`
	Reason         string         `json:"reason,omitempty"`
	Usage          *TaskUsage     `json:"usage,omitempty"`
	ResourceLinks  []ResourceLink `json:"resource_links,omitempty"`
	SkipTranscript bool           `json:"skip_transcript,omitempty"`
	Ambient        bool           `json:"ambient,omitempty"`
}

// ResourceLink names a resource of an MCP server by its URI, with its title, its type and its
// size.
type ResourceLink struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"`
	Annotations JSON   `json:"annotations,omitempty"`
}

// BackgroundTasksChanged is the complete list of the background tasks that are running. It
// replaces any earlier list.
type BackgroundTasksChanged struct {
	System
	Tasks []BackgroundTask `json:"tasks"`
}

// BackgroundTask is one entry of [BackgroundTasksChanged]: a subagent or a command that runs
// while the conversation continues.
type BackgroundTask struct {
	TaskID       string `json:"task_id"`
	TaskType     string `json:"task_type"`
	Description  string `json:"description"`
	RunID        string `json:"run_id,omitempty"`
	SubagentType string `json:"subagent_type,omitempty"`
	ParentTaskID string `json:"parent_task_id,omitempty"`
	Ambient      bool   `json:"ambient,omitempty"`
}
