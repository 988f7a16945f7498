package message

// TaskStatus is the state of a task. The set is open. A task that was killed is
// "killed" in a [TaskPatch] and "stopped" in a [TaskNotification].
type TaskStatus string

// The states that are known.
const (
	TaskPending   TaskStatus = "pending"
	TaskRunning   TaskStatus = "running"
	TaskPaused    TaskStatus = "paused"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskKilled    TaskStatus = "killed"
	TaskStopped   TaskStatus = "stopped"
)

// Ended reports whether a task in this state is over.
func (s TaskStatus) Ended() bool {
	switch s {
	case TaskCompleted, TaskFailed, TaskKilled, TaskStopped:
		return true
	}
	return false
}

// TaskStarted says that a task has begun: a subagent, a command in the
// background, a workflow.
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

// TaskProgress says how far a task is.
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

// TaskUsage is what a task has used.
type TaskUsage struct {
	TotalTokens int64 `json:"total_tokens"`
	ToolUses    int64 `json:"tool_uses"`
	DurationMS  int64 `json:"duration_ms"`
}

// TaskUpdated changes a task. The end of a task may be told here alone.
type TaskUpdated struct {
	System
	TaskID string    `json:"task_id"`
	RunID  string    `json:"run_id,omitempty"`
	Patch  TaskPatch `json:"patch"`
}

// TaskPatch has the members of a task that have changed.
type TaskPatch struct {
	Status         TaskStatus `json:"status,omitempty"`
	Description    string     `json:"description,omitempty"`
	Error          string     `json:"error,omitempty"`
	EndTime        float64    `json:"end_time,omitempty"` // milliseconds since 1970
	TotalPausedMS  float64    `json:"total_paused_ms,omitempty"`
	IsBackgrounded *bool      `json:"is_backgrounded,omitempty"`
}

// TaskNotification says that a task has ended.
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

// ResourceLink names a resource of an MCP server.
type ResourceLink struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"`
	Annotations JSON   `json:"annotations,omitempty"`
}

// BackgroundTasksChanged is the whole set of background tasks that live.
type BackgroundTasksChanged struct {
	System
	Tasks []BackgroundTask `json:"tasks"`
}

// BackgroundTask is a task in the background.
type BackgroundTask struct {
	TaskID       string `json:"task_id"`
	TaskType     string `json:"task_type"`
	Description  string `json:"description"`
	RunID        string `json:"run_id,omitempty"`
	SubagentType string `json:"subagent_type,omitempty"`
	ParentTaskID string `json:"parent_task_id,omitempty"`
	Ambient      bool   `json:"ambient,omitempty"`
}
