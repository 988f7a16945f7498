package ui

import (
	"math"
	"slices"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// applySession folds what is about the session rather than of it.
func (c *Conversation) applySession(ev Event) {
	switch ev := ev.(type) {
	case *SystemInit:
		c.CWD, c.Model, c.PermissionMode = kept(ev.CWD), kept(ev.Model), kept(ev.PermissionMode)
		c.Init = &Init{
			APIKeySource: kept(ev.APIKeySource), Tools: keptAll(ev.Tools), MCPServers: slices.Clone(ev.MCPServers),
			SlashCommands: keptAll(ev.SlashCommands), Agents: keptAll(ev.Agents), Skills: keptAll(ev.Skills),
			OutputStyle: kept(ev.OutputStyle), ClaudeCodeVersion: kept(ev.CLIVersion),
		}
	case *Status:
		c.Status = kept(ev.Status)
		if ev.PermissionMode != "" {
			c.PermissionMode = kept(ev.PermissionMode)
		}
	case *CompactBoundary:
		c.thread(ev.ParentToolUseID).add(&Item{Kind: ItemCompaction, Compaction: &Compaction{
			UUID: kept(ev.UUID), Trigger: kept(trigger(ev.Metadata)), PreTokens: number(ev.Metadata, "pre_tokens"), Metadata: keptJSON(ev.Metadata),
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
		c.applyTask(ev)
	}
}

func trigger(metadata claude.JSON) string {
	t, _ := member(metadata, "trigger")
	return text(t)
}

func (c *Conversation) applyPrompt(ev Event) {
	switch ev := ev.(type) {
	case *PermissionRequest:
		c.ask(&Prompt{
			Type: PromptPermission, Kind: ev.Kind, RequestID: ev.RequestID, ParentToolUseID: ev.ParentToolUseID, ToolUseID: ev.ToolUseID,
			ToolName: ev.ToolName, DisplayName: ev.DisplayName, Description: ev.Description, Input: ev.Input,
			Suggestions: ev.Suggestions, BlockedPath: ev.BlockedPath, AgentID: ev.AgentID,
		})
	case *QuestionRequest:
		c.ask(&Prompt{
			Type: PromptQuestion, Kind: ev.Kind, RequestID: ev.RequestID, ParentToolUseID: ev.ParentToolUseID, ToolUseID: ev.ToolUseID,
			Questions: ev.Questions, MCPServerName: ev.MCPServerName, Message: ev.Message, Mode: ev.Mode, Schema: ev.Schema, URL: ev.URL,
		})
	case *PermissionResolved:
		c.answered(PromptPermission, ev.RequestID, ev.ToolUseID, &Decision{Behavior: ev.Behavior, Message: ev.Message, By: ev.By})
	case *QuestionResolved:
		c.answered(PromptQuestion, ev.RequestID, ev.ToolUseID, &Decision{Behavior: ev.Action, By: ev.By})
	}
}

// ask adds a prompt that waits, in place of one with the same id.
func (c *Conversation) ask(p *Prompt) {
	for i, old := range c.Prompts {
		if old.Type == p.Type && old.RequestID == p.RequestID {
			c.Prompts[i] = p
			return
		}
	}
	c.Prompts = append(c.Prompts, p)
}

// answered takes a prompt away and notes the answer at its tool.
func (c *Conversation) answered(promptType, requestID, toolUseID string, d *Decision) {
	c.Prompts = slices.DeleteFunc(c.Prompts, func(p *Prompt) bool {
		if p.Type != promptType || p.RequestID != requestID {
			return false
		}
		if toolUseID == "" {
			toolUseID = p.ToolUseID
		}
		return true
	})
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

func (t *Task) setUsage(usage claude.JSON) {
	if usage != "" {
		t.Usage = keptJSON(usage)
	}
}

// task returns the task of an id, a new one that runs if there is none.
func (c *Conversation) task(id string) *Task {
	t := c.index.tasks[id]
	if t == nil {
		t = &Task{ID: kept(id), Status: string(claude.TaskRunning)}
		c.Tasks = append(c.Tasks, t)
		c.index.tasks[t.ID] = t
	}
	return t
}

func (c *Conversation) result(ev *ResultMessage) {
	r := &Result{
		UUID: kept(ev.UUID), Subtype: kept(ev.Subtype), IsError: ev.IsError, StructuredOutput: keptJSON(ev.StructuredOutput),
		Errors: keptAll(ev.Errors), NumTurns: ev.NumTurns, DurationMS: ev.DurationMS, StopReason: kept(ev.StopReason), TerminalReason: kept(ev.TerminalReason),
	}
	if len(elements(ev.Denials)) > 0 {
		r.Denials = keptJSON(ev.Denials)
	}
	main := c.thread("")
	if !main.endsWith(ev.Result) {
		r.Text = kept(ev.Result)
	}
	main.add(&Item{Kind: ItemResult, Result: r})
	c.Status = ""
	c.Totals.add(ev)
}

// endsWith reports whether the last answer ends with a block of this text.
func (t *Thread) endsWith(s string) bool {
	for i := len(t.Items) - 1; i >= 0; i-- {
		m := t.Items[i].Message
		if m == nil || m.Role != "assistant" {
			continue
		}
		for j := len(m.Blocks) - 1; j >= 0; j-- {
			if m.Blocks[j].Type == "text" {
				return string(m.Blocks[j].Text.b) == s
			}
		}
		return false
	}
	return false
}

func (t *Totals) add(ev *ResultMessage) {
	t.Turns++
	t.CostUSD = ev.TotalCostUSD
	t.DurationMS += ev.DurationMS
	t.DurationAPIMS = ev.DurationAPIMS
	t.InputTokens = finite(t.InputTokens + number(ev.Usage, "input_tokens"))
	t.OutputTokens = finite(t.OutputTokens + number(ev.Usage, "output_tokens"))
	t.CacheCreationInputTokens = finite(t.CacheCreationInputTokens + number(ev.Usage, "cache_creation_input_tokens"))
	t.CacheReadInputTokens = finite(t.CacheReadInputTokens + number(ev.Usage, "cache_read_input_tokens"))
	if ev.ModelUsage != "" {
		t.ModelUsage = keptJSON(ev.ModelUsage)
	}
}

// number is a member that is a number, 0 for anything else.
func number(object claude.JSON, key string) float64 {
	j, _ := member(object, key)
	f, _ := jsonwire.NewDecoder(string(j)).Float()
	return finite(f)
}

// finite is a number that JSON can hold, 0 for any other.
func finite(f float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}
