package event

// applySession folds what is about the session rather than of it.
func (c *Conversation) applySession(ev Event) {
	switch ev := ev.(type) {
	case *SystemInit:
		c.CWD, c.Model, c.PermissionMode, c.Sandbox = kept(ev.CWD), kept(ev.Model), kept(ev.PermissionMode), kept(ev.Sandbox)
		c.Init = &Init{
			APIKeySource: kept(ev.APIKeySource), Tools: keptAll(ev.Tools), MCPServers: keptServers(ev.MCPServers),
			SlashCommands: keptAll(ev.SlashCommands), Agents: keptAll(ev.Agents), Skills: keptAll(ev.Skills),
			OutputStyle: kept(ev.OutputStyle), CLIVersion: kept(ev.CLIVersion),
		}
	case *Status:
		c.Status = kept(ev.Status)
		if ev.PermissionMode != "" {
			c.PermissionMode = kept(ev.PermissionMode)
		}
	case *CompactBoundary:
		c.add(ev.ParentToolUseID, &Item{Kind: ItemCompaction, Compaction: &Compaction{
			UUID: kept(ev.UUID), Trigger: kept(trigger(ev.Metadata)), PreTokens: preTokens(ev.Metadata), Metadata: keptJSON(ev.Metadata),
		}})
	case *RateLimit:
		c.RateLimit = keptJSON(ev.Info)
	case *SessionState:
		c.State = kept(ev.State)
	case *QueueChanged:
		c.Queue = append([]QueueItem{}, ev.Items...)
	case *PermissionRequest, *QuestionRequest, *PermissionResolved, *QuestionResolved:
		c.applyPrompt(ev)
	default:
		c.applyTurn(ev)
	}
}

func trigger(metadata JSON) string {
	t, _ := metadata.Member("trigger")
	return t.Text()
}

func (c *Conversation) applyPrompt(ev Event) {
	switch ev := ev.(type) {
	case *PermissionRequest:
		c.ask(&Prompt{
			Type: PromptPermission, Kind: ev.Kind, RequestID: ev.RequestID, ParentToolUseID: ev.ParentToolUseID, ToolUseID: ev.ToolUseID,
			ToolName: ev.ToolName, DisplayName: ev.DisplayName, Description: ev.Description, Input: ev.Input,
			Suggestions: ev.Suggestions, Choices: ev.Choices, Profile: ev.Profile, BlockedPath: ev.BlockedPath, AgentID: ev.AgentID,
			DefaultToNo: ev.DefaultToNo,
		})
	case *QuestionRequest:
		c.ask(&Prompt{
			Type: PromptQuestion, Kind: ev.Kind, RequestID: ev.RequestID, ParentToolUseID: ev.ParentToolUseID, ToolUseID: ev.ToolUseID,
			Questions: ev.Questions, Blocking: ev.Blocking, MCPServerName: ev.MCPServerName, Message: ev.Message, Mode: ev.Mode, Schema: ev.Schema, URL: ev.URL,
		})
	case *PermissionResolved:
		c.answered(PromptPermission, ev.RequestID, ev.ToolUseID, &Decision{Behavior: ev.Behavior, Scope: ev.Scope, Message: ev.Message, By: ev.By})
	case *QuestionResolved:
		c.answered(PromptQuestion, ev.RequestID, ev.ToolUseID, &Decision{Behavior: ev.Action, By: ev.By})
	}
}

// ask adds a prompt that waits, in place of one with the same id.
func (c *Conversation) ask(p *Prompt) {
	key := promptKey{p.Type, p.RequestID}
	if old := c.index.prompts[key]; old != nil {
		*old = *p
		return
	}
	put(&c.index.prompts, key, p)
	c.Prompts = append(c.Prompts, p)
}

// answered takes a prompt away and notes the answer at its tool.
func (c *Conversation) answered(promptType, requestID, toolUseID string, d *Decision) {
	key := promptKey{promptType, requestID}
	if p := c.index.prompts[key]; p != nil {
		delete(c.index.prompts, key)
		c.index.promptsDirty = true
		if toolUseID == "" {
			toolUseID = p.ToolUseID
		}
	}
	if t := c.index.tools[toolUseID]; t != nil && toolUseID != "" {
		t.Decision = d
	}
}

func (c *Conversation) applyTask(ev Event) {
	set := func(dst *string, s string) {
		if s != "" {
			*dst = kept(s)
		}
	}
	switch ev := ev.(type) {
	case *TaskStarted:
		t := c.task(ev.TaskID)
		set(&t.Type, ev.TaskType)
		set(&t.Description, ev.Description)
		set(&t.ToolUseID, ev.ToolUseID)
		set(&t.ParentTaskID, ev.ParentTaskID)
		set(&t.SubagentType, ev.SubagentType)
		t.IsBackgrounded = ev.IsBackgrounded
	case *TaskProgress:
		t := c.task(ev.TaskID)
		set(&t.Description, ev.Description)
		set(&t.LastToolName, ev.LastToolName)
		set(&t.Summary, ev.Summary)
		t.setUsage(ev.Usage)
	case *TaskUpdated:
		t := c.task(ev.TaskID)
		set(&t.Status, ev.Status)
		set(&t.Description, ev.Description)
		set(&t.Error, ev.Error)
		if ev.IsBackgrounded != nil {
			t.IsBackgrounded = *ev.IsBackgrounded
		}
	case *TaskNotification:
		t := c.task(ev.TaskID)
		set(&t.Status, ev.Status)
		set(&t.Summary, ev.Summary)
		set(&t.OutputFile, ev.OutputFile)
		t.setUsage(ev.Usage)
	}
}

func (t *Task) setUsage(usage JSON) {
	if usage != "" {
		t.Usage = keptJSON(usage)
	}
}

// task returns the task of an id, a new one that runs if there is none.
func (c *Conversation) task(id string) *Task {
	t := c.index.tasks[id]
	if t == nil {
		t = &Task{ID: kept(id), Status: "running"}
		c.Tasks = append(c.Tasks, t)
		put(&c.index.tasks, t.ID, t)
	}
	return t
}

func (c *Conversation) result(ev *ResultMessage) {
	r := &Result{
		UUID: kept(ev.UUID), Subtype: kept(ev.Subtype), IsError: ev.IsError, StructuredOutput: keptJSON(ev.StructuredOutput),
		Errors: keptAll(ev.Errors), NumTurns: ev.NumTurns, DurationMS: ev.DurationMS, StopReason: kept(ev.StopReason), TerminalReason: kept(ev.TerminalReason),
	}
	if len(ev.Denials.Elements()) > 0 {
		r.Denials = keptJSON(ev.Denials)
	}
	if !c.isAnswer(ev.Result) {
		r.Text = kept(ev.Result)
	}
	c.add("", &Item{Kind: ItemResult, Result: r})
	c.Status, c.Retry = "", nil
	if t := c.turn(); t != nil {
		t.Done = true
	}
	c.Totals.add(ev)
}

// isAnswer reports whether a text is the last one of the main thread.
func (c *Conversation) isAnswer(s string) bool {
	if c.Answer == nil {
		return false
	}
	m := c.index.messages[messageKey{"", c.Answer.MessageID}]
	if m == nil {
		return false
	}
	b := m.find(c.Answer.Index)
	return b != nil && b.Type == "text" && string(b.Text.b) == s
}

func (t *Totals) add(ev *ResultMessage) {
	t.Turns++
	if ev.TotalCostUSD != nil {
		t.CostUSD = keptValue(ev.TotalCostUSD)
	}
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

func preTokens(metadata JSON) *float64 {
	if _, ok := metadata.Member("pre_tokens"); !ok {
		return nil
	}
	n := metadata.Number("pre_tokens")
	return &n
}
