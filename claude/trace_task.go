package claude

import (
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// openTask is a task with an end that was not reported to Trace yet.
type openTask struct {
	TaskBeginTrace
	end *TaskEndTrace // it has ended; more details may follow
}

// task processes the start and the end of tasks.
func (s *traceStream) task(m message.Message, at time.Time) {
	switch m := m.(type) {
	case *message.TaskStarted:
		s.endTask(m.TaskID, &TaskEndTrace{Period: Period{End: at}}) // a resumed task
		begin := TaskBeginTrace{At: at, Task: m}
		s.tasks = append(s.tasks, &openTask{TaskBeginTrace: begin})
		if m.ToolUseID != "" {
			s.talk(m.ToolUseID, at).since = at
		}
		event(s.t.TaskBegin, begin)
	case *message.TaskUpdated:
		if t := s.findTask(m.TaskID); t != nil && m.Patch.Status.Ended() {
			// Usually a notification with the usage follows.
			t.end = &TaskEndTrace{Period: Period{End: at}, Status: m.Patch.Status, Error: m.Patch.Error}
		}
	case *message.TaskNotification:
		end := &TaskEndTrace{Period: Period{End: at}, Status: m.Status}
		if t := s.findTask(m.TaskID); t != nil && t.end != nil {
			end = t.end
		}
		end.Usage = m.Usage
		s.endTask(m.TaskID, end)
	case *message.BackgroundTasksChanged:
		// Tasks that are no longer listed have ended.
		s.endTasks(at, func(t *openTask) bool {
			return t.end != nil && !slices.ContainsFunc(m.Tasks, func(b message.BackgroundTask) bool { return b.TaskID == t.Task.TaskID })
		})
	}
}

func (s *traceStream) findTask(id string) *openTask {
	if i := slices.IndexFunc(s.tasks, func(t *openTask) bool { return t.Task.TaskID == id }); i >= 0 {
		return s.tasks[i]
	}
	return nil
}

// calls reports whether a call is open.
func (s *traceStream) calls(toolUseID string) bool {
	return slices.ContainsFunc(s.tools, func(t ToolBeginTrace) bool { return t.ToolUseID == toolUseID })
}

// leave ends the task of a call with a result: one that has ended without further
// details, or a subagent of a CLI that does not report tasks.
func (s *traceStream) leave(call string, at time.Time) {
	s.endTasks(at, func(t *openTask) bool { return t.end != nil && t.Task.ToolUseID == call })
	if !slices.ContainsFunc(s.tasks, func(t *openTask) bool { return t.Task.ToolUseID == call }) {
		s.endTalk(call, at)
	}
}

// endTalk ends the conversation of a subagent.
func (s *traceStream) endTalk(call string, at time.Time) {
	if s.talks[call] == nil {
		return
	}
	s.complete(call)
	delete(s.talks, call)
	s.endTools(at, func(t ToolBeginTrace) bool { return t.ParentToolUseID == call })
}

// endTasks ends tasks, nested ones first.
func (s *traceStream) endTasks(at time.Time, which func(*openTask) bool) {
	for _, t := range slices.Backward(slices.Clone(s.tasks)) {
		if !which(t) {
			continue
		}
		end := t.end
		if end == nil {
			end = &TaskEndTrace{Period: Period{End: at}}
		}
		s.endTask(t.Task.TaskID, end)
	}
}

// endTask ends a running task, with the last answer of its subagent and its open calls.
func (s *traceStream) endTask(id string, end *TaskEndTrace) {
	t := s.findTask(id)
	if t == nil {
		return
	}
	s.tasks = slices.DeleteFunc(s.tasks, func(x *openTask) bool { return x == t })
	if t.Task.ToolUseID != "" {
		s.endTalk(t.Task.ToolUseID, end.End)
	}
	end.Begin, end.Task = t.At, t.Task
	event(s.t.TaskEnd, *end)
}
