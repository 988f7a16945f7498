package claude

import "github.com/seed7221b0f9/parley/claude/message"

// runEnd decides when the CLI's input may be closed. The CLI exits only after the end of its
// input, and may need answers while it works: so the input stays open until the run has
// ended, including background tasks. It is pure: the session passes it the messages and
// calls due.
type runEnd struct {
	hold bool // wait for the end of the run; false closes the input after the last prompt

	noMore  bool            // the caller has no more prompts
	sent    int             // prompts written
	pending int64           // prompts after the last result, and those queued after it
	turn    bool            // a turn without a result is running
	started map[string]bool // prompts that were taken into a turn

	state message.SessionState // "" before the CLI has reported it
	tasks taskLedger
	// settling is true after a task has ended in an idle session. The CLI then reports its
	// state again: running if it begins a turn for the task, as in background-tasks-control,
	// idle if it does not, as in stop-task.
	settling bool
}

// prompt records that a prompt was written.
func (r *runEnd) prompt() {
	r.sent++
	r.pending++
}

// see processes a message.
func (r *runEnd) see(m message.Message) {
	switch m := m.(type) {
	case *message.Result:
		r.pending, r.turn = m.QueuedTurnCount, false
	case *message.Init:
		r.turn = true
	case *message.SessionStateChanged:
		r.state, r.settling = m.State, false
	case *message.CommandLifecycle:
		r.command(m)
	default:
		before := r.tasks.live()
		r.tasks.see(m)
		if r.tasks.live() < before && r.state == message.StateIdle {
			r.settling = true
		}
	}
}

// command processes the lifecycle of a prompt. A prompt that is cancelled before its turn
// has no result; one that an interrupt stops has one.
func (r *runEnd) command(m *message.CommandLifecycle) {
	switch m.State {
	case message.CommandStarted:
		if r.started == nil {
			r.started = map[string]bool{}
		}
		r.started[m.CommandUUID] = true
		return
	case message.CommandCancelled:
		if !r.turn && !r.started[m.CommandUUID] {
			r.pending = max(0, r.pending-1)
		}
	}
	delete(r.started, m.CommandUUID)
}

// quiet reports whether a result followed the last prompt, and no prompt is queued.
func (r *runEnd) quiet() bool { return r.pending == 0 }

// working reports whether the CLI is working on a prompt, or will be.
func (r *runEnd) working() bool { return r.turn || !r.quiet() }

// due reports whether the input should be closed now.
func (r *runEnd) due() bool {
	if !r.noMore {
		return false
	}
	return r.sent == 0 || !r.hold || r.over()
}

// over reports whether the run has ended: a result, no task, and the CLI idle. A CLI that
// does not report its state counts as idle after a result.
func (r *runEnd) over() bool {
	return r.quiet() && (r.state == message.StateIdle || r.state == "" && !r.turn) && r.tasks.live() == 0 && !r.settling
}

// waiting reports whether only background tasks keep the input open.
func (r *runEnd) waiting() bool {
	return r.noMore && r.quiet() && !r.turn && r.state != message.StateRequiresAction
}

// taskLedger tracks the running background tasks. Current CLIs report the whole set each
// time; for older ones it is derived from starts and ends.
type taskLedger struct {
	whole bool // the CLI reports the whole set
	tasks map[string]bool
}

func (l *taskLedger) see(m message.Message) {
	switch m := m.(type) {
	case *message.BackgroundTasksChanged:
		l.whole = true
		l.tasks = map[string]bool{}
		for _, t := range m.Tasks {
			if !t.Ambient {
				l.tasks[t.TaskID] = true
			}
		}
	case *message.TaskStarted:
		if !l.whole && !m.Ambient && (m.TaskType == "local_agent" || m.TaskType == "local_workflow") {
			l.add(m.TaskID)
		}
	case *message.TaskUpdated:
		if m.Patch.Status.Ended() {
			delete(l.tasks, m.TaskID)
		}
	case *message.TaskNotification:
		delete(l.tasks, m.TaskID)
	}
}

func (l *taskLedger) add(id string) {
	if l.tasks == nil {
		l.tasks = map[string]bool{}
	}
	l.tasks[id] = true
}

func (l *taskLedger) live() int { return len(l.tasks) }
