package editor

import (
	"github.com/seed7221b0f9/parley/agent/event"

	"github.com/seed7221b0f9/parley/acp"
)

// task is work that continues in the background.
type task struct {
	tool     string // the call that began it
	subagent bool
}

// taskEvent maps the events of work in the background.
func (m *Mapper) taskEvent(ev event.Event) bool {
	switch ev := ev.(type) {
	case *event.TaskStarted:
		m.tasks[ev.TaskID] = &task{tool: ev.ToolUseID, subagent: ev.SubagentType != "" || isAgentTask(ev.TaskType)}
		m.taskOf(ev)
	case *event.TaskProgress:
	case *event.TaskUpdated:
		if taskOver(ev.Status) {
			m.endTask(ev.TaskID, ev.Status, ev.Error)
		}
	case *event.TaskNotification:
		m.endTask(ev.TaskID, ev.Status, ev.Summary)
	default:
		return false
	}
	return true
}

func isAgentTask(taskType string) bool { return taskType == "local_agent" || taskType == "agent" }

func taskOver(status string) bool {
	return status == "completed" || status == "failed" || status == "stopped" || status == "killed"
}

// background keeps a call open until its task ends. The task may have ended already.
func (m *Mapper) background(t *toolCall, id string) {
	if status, over := m.finished[id]; over {
		delete(m.finished, id)
		t.task = ""
		m.report(t, "", "", stopOfTask(status))
		m.setStatus(t, taskStatus(status))
		m.drop(t)
		return
	}
	t.task = id
	if m.tasks[id] == nil {
		m.tasks[id] = &task{tool: t.id, subagent: isSubagentTool(t.name)}
	}
	m.tasks[id].tool = t.id
	m.running(t)
}

func taskStatus(status string) acp.ToolCallStatus {
	if status == "completed" {
		return acp.ToolCallStatusCompleted
	}
	return acp.ToolCallStatusFailed
}

// endTask ends a task and the call that began it.
func (m *Mapper) endTask(id, status, summary string) {
	known := m.tasks[id]
	delete(m.tasks, id)
	if known == nil {
		return
	}
	t := m.tools[known.tool]
	if t == nil || t.done {
		return
	}
	if t.task != id {
		if len(m.finished) < maxFinished {
			m.finished[id] = status
		}
		return
	}
	t.task = ""
	m.report(t, summary, "", stopOfTask(status))
	u := t.update()
	t.status = taskStatus(status)
	u.Status = acp.Some(t.status)
	if t.terminal {
		t.exit(u, summary, t.status != acp.ToolCallStatusCompleted)
	} else if summary != "" {
		u.Content = acp.Some(append(append([]acp.ToolCallContent{}, t.shown.content...), textContent(summary)))
		u.RawOutput = rawText(summary)
	}
	m.send(t, u)
	m.drop(t)
}

// maxFinished limits the remembered tasks that ended before the result of the call that began them.
const maxFinished = 1000

// Background returns the number of running background tasks, and whether a subagent is among them.
func (m *Mapper) Background() (tasks int, subagent bool) {
	for _, t := range m.tasks {
		if tool := m.tools[t.tool]; tool == nil || tool.task == "" {
			continue // it runs in the foreground
		}
		tasks++
		subagent = subagent || t.subagent
	}
	return tasks, subagent
}

// backgroundTask returns the id of the task that continues a call, or "" if the call has ended.
func backgroundTask(ev *event.ToolComplete) string {
	for _, name := range []string{"backgroundTaskId", "agentId"} {
		id, _ := ev.ToolUseResult.Member(name)
		if name == "agentId" {
			status, _ := ev.ToolUseResult.Member("status")
			if status.Text() != "async_launched" {
				continue
			}
		}
		if id.Text() != "" {
			return id.Text()
		}
	}
	return ""
}
