package tool

import "github.com/seed7221b0f9/parley/claude/message"

// TaskStopInput is the input of TaskStop: the id of the background task to stop, or the name of an
// agent.
type TaskStopInput struct {
	TaskID  string `json:"task_id,omitempty"`
	ShellID string `json:"shell_id,omitempty"` // the older name of TaskID
}

// TaskStopResult is the result of TaskStop: the task that was stopped, and the command that it
// ran.
type TaskStopResult struct {
	Message  string `json:"message"`
	TaskID   string `json:"task_id"`
	TaskType string `json:"task_type"`
	Command  string `json:"command,omitempty"`
}

// TodoWriteInput is the input of TodoWrite: the whole list of things to do, which replaces the
// list before it.
type TodoWriteInput struct {
	Todos []Todo `json:"todos"`
}

// Todo is one entry of the list that TodoWrite replaces. ActiveForm is its text while it is in
// progress.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"` // pending, in_progress, completed
	ActiveForm string `json:"activeForm"`
}

// TodoWriteResult is the result of TodoWrite: the whole list before and after the call.
type TodoWriteResult struct {
	OldTodos []Todo `json:"oldTodos"`
	NewTodos []Todo `json:"newTodos"`
}

// TaskCreateInput is the input of TaskCreate. The tasks of TaskCreate, TaskGet, TaskUpdate and
// TaskList are the agent's list of things to do, not background tasks.
type TaskCreateInput struct {
	Subject     string                  `json:"subject"`
	Description string                  `json:"description"`
	ActiveForm  string                  `json:"activeForm,omitempty"`
	Metadata    map[string]message.JSON `json:"metadata,omitempty"`
}

// TaskCreateResult is the result of TaskCreate: the new task of the list with its id.
type TaskCreateResult struct {
	Task ListedTask `json:"task"`
}

// ListedTask is a task of the agent's list. The comment of a member names the tools that set it.
type ListedTask struct {
	ID          string   `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitempty"` // TaskGet; TaskCreate of newer CLIs
	Status      string   `json:"status,omitempty"`      // TaskGet, TaskList: pending, in_progress, completed
	Owner       string   `json:"owner,omitempty"`       // TaskList
	Blocks      []string `json:"blocks,omitzero"`       // TaskGet: the tasks that wait for this one
	BlockedBy   []string `json:"blockedBy,omitzero"`    // TaskGet, TaskList
}

// TaskGetInput is the input of TaskGet: the id of the task in the list to return.
type TaskGetInput struct {
	TaskID string `json:"taskId"`
}

// TaskGetResult is the result of TaskGet: the task with all its members, or nil if it does not
// exist.
type TaskGetResult struct {
	Task *ListedTask `json:"task"` // nil: there is none
}

// TaskUpdateInput is the input of TaskUpdate. Absent members are not changed.
type TaskUpdateInput struct {
	TaskID       string                  `json:"taskId"`
	Subject      *string                 `json:"subject,omitempty"`
	Description  *string                 `json:"description,omitempty"`
	ActiveForm   *string                 `json:"activeForm,omitempty"`
	Status       string                  `json:"status,omitempty"` // pending, in_progress, completed, deleted
	AddBlocks    []string                `json:"addBlocks,omitempty"`
	AddBlockedBy []string                `json:"addBlockedBy,omitempty"`
	Owner        *string                 `json:"owner,omitempty"`
	Metadata     map[string]message.JSON `json:"metadata,omitempty"` // null deletes a key
}

// TaskUpdateResult is the result of TaskUpdate: which fields have changed, or the error if the
// task could not be updated.
type TaskUpdateResult struct {
	Success       bool              `json:"success"`
	TaskID        string            `json:"taskId"`
	UpdatedFields []string          `json:"updatedFields"`
	Error         string            `json:"error,omitempty"`
	StatusChange  *TaskStatusChange `json:"statusChange,omitempty"`
}

// TaskStatusChange is a change in the status of a task: the status before, and the one after.
type TaskStatusChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// TaskListInput is the input of TaskList, which takes no arguments and returns all tasks of the
// list.
type TaskListInput struct{}

// TaskListResult is the result of TaskList: the tasks of the list with their subjects, their
// status and their owners.
type TaskListResult struct {
	Tasks []ListedTask `json:"tasks"`
}
