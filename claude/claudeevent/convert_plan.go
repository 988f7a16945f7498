package claudeevent

import (
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// maxPlan limits the entries that a plan of the task tools shows. Each change shows the
// whole plan, so n tasks would be n² entries without a limit.
const maxPlan = 100

// taskList is the plan of the task tools. All agents of a session share it.
type taskList struct {
	order []*event.PlanEntry // in order of creation; deleted ones are skipped
	byID  map[string]*event.PlanEntry
	steps int64
}

// maxBlockedBy limits the blocking entries that are shown for an entry.
const maxBlockedBy = 100

// todos converts the result of TodoWrite, which has the whole list.
func (c *Converter) todos(t liveTool, r *event.ToolComplete) {
	var input tool.TodoWriteInput
	var result tool.TodoWriteResult
	if r.ToolUseResult.Decode(&result) != nil || result.NewTodos == nil {
		if t.input.Decode(&input) != nil {
			return
		}
		result.NewTodos = input.Todos
	}
	ev := &event.Plan{
		Header:  event.Header{ParentToolUseID: t.parent, SessionID: r.SessionID, UUID: r.UUID},
		Entries: []event.PlanEntry{}, ToolUseID: r.ToolUseID,
	}
	for _, todo := range result.NewTodos {
		ev.Entries = append(ev.Entries, event.PlanEntry{Content: todo.Content, Status: todo.Status, ActiveForm: todo.ActiveForm})
	}
	c.emit(ev)
}

// taskTool converts the result of a task tool.
func (c *Converter) taskTool(t liveTool, r *event.ToolComplete) {
	changed := false
	switch t.name {
	case tool.TaskCreate:
		changed = c.tasks.create(t.input, r.ToolUseResult)
	case tool.TaskUpdate:
		changed = c.tasks.update(t.input, r.ToolUseResult)
	case tool.TaskList:
		changed = c.tasks.list(r.ToolUseResult)
	case tool.TaskGet:
		var result tool.TaskGetResult
		if r.ToolUseResult.Decode(&result) == nil && result.Task != nil {
			changed = c.tasks.put(result.Task)
		}
	}
	if !changed {
		return
	}
	ev := &event.Plan{Header: event.Header{SessionID: r.SessionID, UUID: r.UUID}, Entries: []event.PlanEntry{}, ToolUseID: r.ToolUseID}
	for _, e := range c.tasks.live() {
		ev.Entries = append(ev.Entries, *e)
	}
	ev.Omitted = int64(len(c.tasks.byID) - len(ev.Entries))
	c.emit(ev)
}

// live returns the last entries, at most maxPlan. It drops deleted entries on the way, so
// that each is visited once.
func (l *taskList) live() []*event.PlanEntry {
	var last []*event.PlanEntry
	i := len(l.order)
	for ; i > 0 && len(last) < maxPlan; i-- {
		l.steps++
		if e := l.order[i-1]; l.byID[e.ID] == e {
			last = append(last, e)
		}
	}
	slices.Reverse(last)
	l.order = append(l.order[:i], last...)
	return last
}

// entry returns the entry with an id and creates it if necessary.
func (l *taskList) entry(id string) *event.PlanEntry {
	e := l.byID[id]
	if e == nil {
		if l.byID == nil {
			l.byID = map[string]*event.PlanEntry{}
		}
		e = &event.PlanEntry{ID: kept(id), Status: event.PlanPending}
		l.byID[e.ID] = e
		l.order = append(l.order, e)
	}
	return e
}

// put updates an entry from a task in a result.
func (l *taskList) put(t *tool.ListedTask) bool {
	if t.ID == "" {
		return false
	}
	e := l.entry(t.ID)
	e.Content = kept(t.Subject)
	if t.Status != "" {
		e.Status = kept(t.Status)
	}
	if t.Owner != "" {
		e.Owner = kept(t.Owner)
	}
	if t.BlockedBy != nil {
		e.BlockedBy = slices.Clone(t.BlockedBy[:min(len(t.BlockedBy), maxBlockedBy)])
	}
	return true
}

func (l *taskList) create(input, toolUseResult event.JSON) bool {
	var in tool.TaskCreateInput
	var result tool.TaskCreateResult
	if toolUseResult.Decode(&result) != nil || !l.put(&result.Task) {
		return false
	}
	if input.Decode(&in) == nil {
		l.entry(result.Task.ID).ActiveForm = kept(in.ActiveForm)
	}
	return true
}

func (l *taskList) update(input, toolUseResult event.JSON) bool {
	var in tool.TaskUpdateInput
	var result tool.TaskUpdateResult
	if input.Decode(&in) != nil || in.TaskID == "" || toolUseResult.Decode(&result) == nil && !result.Success {
		return false
	}
	if in.Status == "deleted" {
		delete(l.byID, in.TaskID)
		return true
	}
	e := l.entry(in.TaskID)
	set := func(dst *string, s *string) {
		if s != nil {
			*dst = kept(*s)
		}
	}
	set(&e.Content, in.Subject)
	set(&e.ActiveForm, in.ActiveForm)
	set(&e.Owner, in.Owner)
	if in.Status != "" {
		e.Status = kept(in.Status)
	}
	if len(in.AddBlockedBy) > 0 {
		all := slices.Concat(e.BlockedBy, in.AddBlockedBy)
		e.BlockedBy = all[:min(len(all), maxBlockedBy)]
	}
	return true
}

// list replaces all tasks: it deletes those that the result omits.
func (l *taskList) list(toolUseResult event.JSON) bool {
	var result tool.TaskListResult
	if toolUseResult.Decode(&result) != nil || result.Tasks == nil {
		return false
	}
	old := maps.Clone(l.byID)
	l.order, l.byID = nil, nil
	for i := range result.Tasks {
		if l.put(&result.Tasks[i]) {
			if e := old[result.Tasks[i].ID]; e != nil {
				l.entry(e.ID).ActiveForm = e.ActiveForm
			}
		}
	}
	return true
}
