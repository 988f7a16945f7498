package claude

import (
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// Task is work that the CLI runs inside of a turn or in the background: a subagent, a command,
// a workflow.
type Task struct {
	ID          string
	Type        string // local_agent, local_bash, local_workflow, …
	Description string
	// Status is the last status that the CLI reported, including unknown values.
	Status message.TaskStatus
	// ToolUseID is the call that started the task. Messages of a subagent have it as their
	// ParentToolUseID.
	ToolUseID string
	// ParentID is the task that started this one, "" for the main conversation.
	ParentID     string
	AgentType    string
	WorkflowName string
	Prompt       string
	Backgrounded bool
	Ambient      bool // no call waits for it
	// Activity is the last reported activity of the task, LastToolName the tool that it used.
	Activity     string
	LastToolName string
	Usage        message.TaskUsage
	Summary      string
	OutputFile   string
	Error        string
	// Started and Ended are the times at which this process received the reports; Ended is the
	// CLI's time if it reports one, and zero while the task runs.
	Started time.Time
	Ended   time.Time
	// Children are the tasks started by this one.
	Children []Task
}

// Live reports whether the task is running, that is, the CLI has not reported its end.
func (t *Task) Live() bool { return t.Ended.IsZero() }

// Tasks returns the current state of the session's tasks in the order of their start,
// including the last 1,000 that have ended. Tasks started by other tasks are in their
// Children.
func (c *Client) Tasks() (tasks []Task) {
	c.s.update(func(st *sessionState) { tasks = st.tasks.tree() })
	return tasks
}

// keptTasks limits the tasks in a table; the oldest ended ones are dropped.
const keptTasks = 1000

// taskTable holds the state of tasks. The session changes it inside update.
type taskTable struct {
	tasks []*Task
	byID  map[string]*Task
}

func (tt *taskTable) at(id string) *Task {
	if t := tt.byID[id]; t != nil {
		return t
	}
	if len(tt.tasks) >= keptTasks {
		tt.forget()
	}
	if tt.byID == nil {
		tt.byID = map[string]*Task{}
	}
	t := &Task{ID: id, Status: message.TaskRunning, Started: time.Now()}
	tt.tasks, tt.byID[id] = append(tt.tasks, t), t
	return t
}

func (tt *taskTable) forget() {
	if i := slices.IndexFunc(tt.tasks, func(t *Task) bool { return !t.Live() }); i >= 0 {
		delete(tt.byID, tt.tasks[i].ID)
		tt.tasks = slices.Delete(tt.tasks, i, i+1)
	}
}

// see processes a message. parentOf returns the call of the subagent that made a call.
func (tt *taskTable) see(m message.Message, parentOf func(toolUseID string) string) {
	switch m := m.(type) {
	case *message.TaskStarted:
		tt.at(m.TaskID).start(m)
		tt.adopt(m, parentOf)
	case *message.TaskProgress:
		t := tt.at(m.TaskID)
		t.Usage = m.Usage
		learn(&t.Activity, m.Description)
		learn(&t.ToolUseID, m.ToolUseID)
		learn(&t.AgentType, m.SubagentType)
		learn(&t.LastToolName, m.LastToolName)
		learn(&t.Summary, m.Summary)
	case *message.TaskUpdated:
		tt.at(m.TaskID).patch(&m.Patch)
	case *message.TaskNotification:
		tt.at(m.TaskID).notified(m)
	case *message.BackgroundTasksChanged:
		tt.background(m.Tasks)
	}
}

func (t *Task) start(m *message.TaskStarted) {
	if !t.Live() { // a resumed agent
		t.Started, t.Ended, t.Status = time.Now(), time.Time{}, message.TaskRunning
	}
	learn(&t.Type, m.TaskType)
	learn(&t.Description, m.Description)
	learn(&t.ToolUseID, m.ToolUseID)
	learn(&t.ParentID, m.ParentTaskID)
	learn(&t.AgentType, m.SubagentType)
	learn(&t.WorkflowName, m.WorkflowName)
	learn(&t.Prompt, m.Prompt)
	t.Backgrounded, t.Ambient = m.IsBackgrounded, m.Ambient
}

// adopt finds the parent of a task if its start does not name it.
func (tt *taskTable) adopt(m *message.TaskStarted, parentOf func(string) string) {
	t := tt.at(m.TaskID)
	call := parentOf(m.ToolUseID)
	if t.ParentID != "" || call == "" {
		return
	}
	for _, p := range tt.tasks {
		if p.ToolUseID == call && p != t {
			t.ParentID = p.ID
		}
	}
}

func (t *Task) patch(p *message.TaskPatch) {
	learn(&t.Status, p.Status)
	learn(&t.Description, p.Description)
	learn(&t.Error, p.Error)
	if p.IsBackgrounded != nil {
		t.Backgrounded = *p.IsBackgrounded
	}
	switch {
	case p.EndTime > 0:
		t.Ended = time.UnixMilli(int64(p.EndTime))
	case p.Status.Ended() && t.Live():
		t.Ended = time.Now()
	}
}

func (t *Task) notified(m *message.TaskNotification) {
	// The patch before it is more specific: a killed task is reported as stopped here.
	if !t.Status.Ended() {
		learn(&t.Status, m.Status)
	}
	learn(&t.ToolUseID, m.ToolUseID)
	learn(&t.Summary, m.Summary)
	learn(&t.OutputFile, m.OutputFile)
	if m.Usage != nil {
		t.Usage = *m.Usage
	}
	if t.Live() {
		t.Ended = time.Now()
	}
}

// background replaces the set of running background tasks: a task that is missing from it has
// ended, even without another report.
func (tt *taskTable) background(tasks []message.BackgroundTask) {
	there := map[string]bool{}
	for _, b := range tasks {
		there[b.TaskID] = true
		t := tt.at(b.TaskID)
		learn(&t.Type, b.TaskType)
		learn(&t.Description, b.Description)
		learn(&t.AgentType, b.SubagentType)
		learn(&t.ParentID, b.ParentTaskID)
		t.Backgrounded, t.Ambient = true, b.Ambient
	}
	for _, t := range tt.tasks {
		if t.Backgrounded && t.Live() && !there[t.ID] {
			t.Ended = time.Now()
		}
	}
}

// tree returns the tasks of the main conversation with their children.
func (tt *taskTable) tree() []Task {
	kids := map[string][]*Task{}
	for _, t := range tt.tasks {
		up := tt.up(t)
		kids[up] = append(kids[up], t)
	}
	return branch(kids, "")
}

func branch(kids map[string][]*Task, id string) (tasks []Task) {
	for _, t := range kids[id] {
		c := *t
		c.Children = branch(kids, t.ID)
		tasks = append(tasks, c)
	}
	return tasks
}

// up returns the parent of a task, or "" if the parent is unknown or a descendant of the task
// itself.
func (tt *taskTable) up(t *Task) string {
	p := tt.byID[t.ParentID]
	for n := 0; p != nil; n++ {
		if p == t || n > len(tt.tasks) {
			return ""
		}
		p = tt.byID[p.ParentID]
	}
	if tt.byID[t.ParentID] == nil {
		return ""
	}
	return t.ParentID
}

// learn sets a field unless the value is empty.
func learn[T ~string](field *T, value T) {
	if value != "" {
		*field = value
	}
}
