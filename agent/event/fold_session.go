package event

import "cmp"

// applySession folds events about the session itself.
func (c *Conversation) applySession(ev Event) {
	switch ev := ev.(type) {
	case *SystemInit:
		init := keep(ev)
		c.CWD, c.Model, c.PermissionMode, c.Sandbox = init.CWD, init.Model, init.PermissionMode, init.Sandbox
		c.MCPServers, init.MCPServers = init.MCPServers, nil
		c.Init = init
	case *Status:
		c.Status = kept(ev.Status)
		if ev.PermissionMode != "" {
			c.PermissionMode = kept(ev.PermissionMode)
		}
	case *CompactBoundary:
		c.add("", &Item{Kind: ItemCompaction, Compaction: keep(ev)})
	case *RateLimit:
		c.RateLimit = keep(ev)
	case *SessionState:
		c.State = kept(ev.State)
		c.agentState(ev.State)
	case *QueueChanged:
		c.Queue = (&QueueUpdated{Items: ev.Items}).Apply(nil)
	case *QueueUpdated:
		c.Queue = ev.Apply(c.Queue)
		c.index.steps += int64(len(c.Queue))
	case *PermissionRequest, *QuestionRequest, *PermissionResolved, *QuestionResolved:
		c.applyPrompt(ev)
	default:
		c.applyTurn(ev)
	}
}

func (c *Conversation) applyPrompt(ev Event) {
	switch ev := ev.(type) {
	case *PermissionRequest:
		c.ask(&Prompt{Permission: keep(ev)})
	case *QuestionRequest:
		c.ask(&Prompt{Question: keep(ev)})
	case *PermissionResolved:
		ev = keep(ev)
		c.answered(promptKey{false, ev.RequestID}, ev.ToolUseID, &Decision{Behavior: ev.Behavior, Scope: ev.Scope, Message: ev.Message, By: ev.By})
	case *QuestionResolved:
		ev = keep(ev)
		c.answered(promptKey{true, ev.RequestID}, ev.ToolUseID, &Decision{Behavior: ev.Action, By: ev.By})
	}
}

// ask adds an open prompt, replacing one with the same id.
func (c *Conversation) ask(p *Prompt) {
	key := p.key()
	if old := c.index.prompts[key]; old != nil {
		*old = *p
		return
	}
	put(&c.index.prompts, key, p)
	c.Prompts = append(c.Prompts, p)
}

// answered removes a prompt and records the answer at its tool.
func (c *Conversation) answered(key promptKey, toolUseID string, d *Decision) {
	if p := c.index.prompts[key]; p != nil {
		delete(c.index.prompts, key)
		c.index.promptsDirty = true
		if toolUseID == "" {
			toolUseID = p.ToolUseID()
		}
	}
	if t := c.index.tools[toolUseID]; t != nil && toolUseID != "" {
		t.Decision = d
	}
}

func (c *Conversation) applyTask(ev Event) {
	switch ev := ev.(type) {
	case *TaskStarted:
		if old := c.index.tasks[ev.TaskID]; old != nil && old.Restart != c.Restarts {
			delete(c.index.tasks, ev.TaskID) // another task, of a restarted agent
		}
		t := c.task(ev.TaskID)
		t.Started = over(t.Started, ev)
		t.report("", ev.Description, "", "")
		t.IsBackgrounded = ev.IsBackgrounded
	case *TaskProgress:
		t := c.task(ev.TaskID)
		t.Progress = over(t.Progress, ev)
		t.report("", ev.Description, ev.Summary, ev.Usage)
	case *TaskUpdated:
		t := c.task(ev.TaskID)
		t.Updated = over(t.Updated, ev)
		t.report(ev.Status, ev.Description, "", "")
		set(&t.IsBackgrounded, ev.IsBackgrounded)
	case *TaskNotification:
		t := c.task(ev.TaskID)
		t.Ended = over(t.Ended, ev)
		t.report(ev.Status, "", ev.Summary, ev.Usage)
	}
}

// report sets the reported fields of a task.
func (t *Task) report(status, description, summary string, usage JSON) {
	t.Status, t.Description = cmp.Or(kept(status), t.Status), cmp.Or(kept(description), t.Description)
	t.Summary, t.Usage = cmp.Or(kept(summary), t.Summary), cmp.Or(clean(keptJSON(usage)), t.Usage)
}

// task returns the task with the id, and adds a running one if it is new.
func (c *Conversation) task(id string) *Task {
	t := c.index.tasks[id]
	if t == nil {
		t = &Task{ID: kept(id), Status: "running", Restart: c.Restarts}
		c.Tasks = append(c.Tasks, t)
		put(&c.index.tasks, t.ID, t)
	}
	return t
}

func (c *Conversation) result(ev *ResultMessage) {
	r := *ev
	if c.isAnswer(ev.Result) {
		r.Result = ""
	}
	c.add("", &Item{Kind: ItemResult, Result: keep(&r)})
	c.Status, c.Retry = "", nil
	if t := c.turn(); t != nil {
		t.Done = true
	}
	c.Totals.add(ev, c.Restarts)
}

// agentState ends the turns, tools and tasks that an agent left open, in states without a running
// agent.
func (c *Conversation) agentState(state string) {
	switch state {
	case "starting", "interrupted", "failed", "ended":
	default:
		return
	}
	x := c.index
	for _, t := range c.Turns[x.liveTurns:] {
		t.Done = true
	}
	for _, t := range x.calls {
		if t.Status == ToolInProgress {
			t.Status = ToolInterrupted
		}
	}
	for _, t := range c.Tasks {
		if t.Status == "running" {
			t.Status = "killed"
		}
	}
	x.steps += int64(len(c.Turns) - x.liveTurns + len(x.calls) + len(c.Tasks))
	x.calls, x.liveTurns, x.block = nil, len(c.Turns), nil
	c.Status, c.Retry = "", nil
	if state == "starting" && (len(c.Turns) > 0 || len(c.Threads[0].Items) > 0) {
		c.Restarts++
	}
}

// isAnswer reports whether a text equals the last text of the main thread.
func (c *Conversation) isAnswer(s string) bool {
	if c.Answer == nil {
		return false
	}
	m := c.index.messages[messageKey{"", c.Answer.MessageID, c.Restarts}]
	if m == nil {
		return false
	}
	b := m.find(c.Answer.Index)
	return b != nil && b.Type == "text" && b.Text.String() == s
}

func (t *Totals) add(ev *ResultMessage, restarts int64) {
	t.Turns++
	if ev.TotalCostUSD != nil {
		if t.CostUSD != nil && t.anew(ev, restarts) {
			t.CostBefore = *t.CostUSD
		}
		cost := t.CostBefore + *ev.TotalCostUSD
		t.CostUSD = &cost
	}
	t.Restarts = restarts
	t.DurationMS += ev.DurationMS
	t.DurationAPIMS = ev.DurationAPIMS
	t.InputTokens = finite(t.InputTokens + ev.Usage.Number("input_tokens"))
	t.OutputTokens = finite(t.OutputTokens + ev.Usage.Number("output_tokens"))
	t.CacheCreationInputTokens = finite(t.CacheCreationInputTokens + ev.Usage.Number("cache_creation_input_tokens"))
	t.CacheReadInputTokens = finite(t.CacheReadInputTokens + ev.Usage.Number("cache_read_input_tokens"))
	if ev.ModelUsage != "" {
		t.ModelUsage = keptJSON(ev.ModelUsage)
	}
}

// anew reports whether an agent counts from 0 again: its total decreased, or it was restarted and a
// turn with usage did not increase the total.
func (t *Totals) anew(ev *ResultMessage, restarts int64) bool {
	grown := *ev.TotalCostUSD - (*t.CostUSD - t.CostBefore)
	used := ev.Usage.Number("input_tokens") + ev.Usage.Number("output_tokens")
	return grown < -smallCost || restarts != t.Restarts && used > 0 && grown <= smallCost
}

// smallCost is the tolerance for rounding in the difference of two totals.
const smallCost = 1e-9
