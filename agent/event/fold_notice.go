package event

import "slices"

// maxRows is how many notices and runs of hooks a conversation keeps. Older ones are
// counted.
const maxRows = 100

// applyNotice folds what is beside the conversation.
func (c *Conversation) applyNotice(ev Event) {
	switch ev := ev.(type) {
	case *Notice:
		row := NoticeRow{Severity: kept(ev.Severity), Text: kept(ev.Text), Code: kept(ev.Code), ToolUseID: kept(ev.ToolUseID)}
		if t := c.turn(); t != nil {
			row.TurnID = t.ID
		}
		c.Notices = append(c.Notices, row)
		if n := len(c.Notices) - maxRows; n > 0 {
			c.Notices = slices.Delete(c.Notices, 0, n)
			c.NoticesOmitted += int64(n)
		}
	case *Retry:
		c.Retry = &RetryState{
			Attempt: ev.Attempt, MaxAttempts: keptValue(ev.MaxAttempts), DelayMS: keptValue(ev.DelayMS),
			Reason: kept(ev.Reason), Status: keptValue(ev.Status),
		}
	case *Hook:
		c.hook(ev)
	case *SessionInfo:
		c.sessionInfo(ev)
	default:
		c.applyTask(ev)
	}
}

func (c *Conversation) hook(ev *Hook) {
	h := c.index.hooks[ev.HookID]
	if h == nil {
		h = &HookRun{ID: kept(ev.HookID)}
		c.Hooks = append(c.Hooks, h)
		put(&c.index.hooks, h.ID, h)
		for len(c.Hooks) > maxRows {
			if old := c.Hooks[0]; c.index.hooks[old.ID] == old {
				delete(c.index.hooks, old.ID)
			}
			c.Hooks = slices.Delete(c.Hooks, 0, 1)
			c.HooksOmitted++
		}
	}
	set := func(dst *string, s string) {
		if s != "" {
			*dst = kept(s)
		}
	}
	set(&h.Name, ev.Name)
	set(&h.Event, ev.Event)
	set(&h.State, ev.State)
	set(&h.Outcome, ev.Outcome)
	set(&h.Decision, ev.Decision)
	set(&h.Message, ev.Message)
	set(&h.ToolUseID, ev.ToolUseID)
	overlay(&h.ExitCode, ev.ExitCode)
	if ev.State == HookFinished {
		if ev.Output != "" {
			h.Output = NewText(ev.Output) // all of it
		}
	} else {
		h.Output.Append(ev.Output)
	}
}

func (c *Conversation) sessionInfo(ev *SessionInfo) {
	set := func(dst *string, s *string) {
		if s != nil {
			*dst = kept(*s)
		}
	}
	set(&c.Title, ev.Title)
	set(&c.Goal, ev.Goal)
	set(&c.Model, ev.Model)
	set(&c.PermissionMode, ev.PermissionMode)
	set(&c.Sandbox, ev.Sandbox)
	set(&c.CWD, ev.CWD)
	if ev.Archived != nil {
		c.Archived = *ev.Archived
	}
	if ev.Deleted != nil {
		c.Deleted = *ev.Deleted
	}
	if ev.MCPServers != nil {
		if c.Init == nil {
			c.Init = &Init{}
		}
		c.Init.MCPServers = keptServers(ev.MCPServers)
	}
	if ev.Commands != "" {
		c.Commands = keptJSON(ev.Commands)
	}
}

// keptServers are MCP servers that outlive their line. A list that is nil stays nil.
func keptServers(list []MCPServer) []MCPServer {
	if list == nil {
		return nil
	}
	all := make([]MCPServer, 0, len(list))
	for _, s := range list {
		all = append(all, MCPServer{Name: kept(s.Name), Status: kept(s.Status), Error: kept(s.Error)})
	}
	return all
}
