package claude

import (
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// Task is something that the CLI runs beside or inside of a turn: a subagent, a
// command, a workflow.
type Task struct {
	ID          string
	Type        string // local_agent, local_bash, local_workflow, …
	Description string
	// Status is what the CLI said last; a status that this package does not know
	// is kept.
	Status message.TaskStatus
	// ToolUseID is the call that has begun the task. Messages of a subagent have
	// it as their ParentToolUseID.
	ToolUseID string
	// ParentID is the task inside of which this one was begun, "" for the main
	// conversation.
	ParentID     string
	AgentType    string
	WorkflowName string
	Prompt       string
	Backgrounded bool
	Ambient      bool // no call waits for it
	// Activity is what the task was last said to be doing, LastToolName with
	// which tool.
	Activity     string
	LastToolName string
	Usage        message.TaskUsage
	Summary      string
	OutputFile   string
	Error        string
	// Started and Ended are when this process learned of it; Ended is the CLI's own time where
	// it gives one, and zero while the task lives.
	Started time.Time
	Ended   time.Time
	// Children are the tasks begun by this one.
	Children []Task
}

// Live reports whether the task is still running, as far as the CLI has reported its end to
// this process.
func (t *Task) Live() bool { return t.Ended.IsZero() }

// Tasks returns the tasks of the session as they are now, those that have ended
// included (the last 1,000), in the order of their starts. Tasks begun by others
// are in their Children.
func (c *Client) Tasks() (tasks []Task) {
	c.s.update(func(st *sessionState) { tasks = st.tasks.tree() })
	return tasks
}

// keptTasks is how many tasks a table holds; the oldest that have ended go.
const keptTasks = 1000

// taskTable is what is known of tasks. The session changes it inside update.
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

// see takes a message into account. parentOf gives the call of the subagent
// inside of which a call was made.
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
	if !t.Live() { // an agent that is taken up again
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

// adopt finds the parent of a task whose start does not name it.
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
	// The patch before it may have said more: killed is stopped here.
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

// background is the whole set of live tasks in the background: one that is no
// longer in it has ended, however that is reported.
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

// tree are the tasks of the main conversation, with theirs.
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

// up is the task under which one stands: its parent, or none where that is not
// known or stands below the task itself.
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

// learn changes a field to what was said, if something was.
func learn[T ~string](field *T, value T) {
	if value != "" {
		*field = value
	}
}
