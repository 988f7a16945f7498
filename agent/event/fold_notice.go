package event

import "slices"

// maxRows is the number of notices and hook runs that a conversation keeps. Older ones are only
// counted.
const maxRows = 100

// applyNotice folds events outside the conversation.
func (c *Conversation) applyNotice(ev Event) {
	switch ev := ev.(type) {
	case *Notice:
		row := NoticeRow{Notice: keep(ev)}
		if t := c.turn(); t != nil {
			row.TurnID = t.ID
		}
		c.Notices = append(c.Notices, row)
		if n := len(c.Notices) - maxRows; n > 0 {
			c.Notices = slices.Delete(c.Notices, 0, n)
			c.NoticesOmitted += int64(n)
		}
	case *Retry:
		c.Retry = keep(ev)
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
		h = &HookRun{}
		c.Hooks = append(c.Hooks, h)
		put(&c.index.hooks, kept(ev.HookID), h)
		for len(c.Hooks) > maxRows {
			if old := c.Hooks[0]; c.index.hooks[old.Hook.HookID] == old {
				delete(c.index.hooks, old.Hook.HookID)
			}
			c.Hooks = slices.Delete(c.Hooks, 0, 1)
			c.HooksOmitted++
		}
	}
	hook := *ev
	hook.Output = ""
	h.Hook = over(h.Hook, &hook)
	if ev.State == HookFinished {
		if ev.Output != "" {
			h.Output = NewText(ev.Output) // the complete output
		}
	} else {
		h.Output.Append(ev.Output)
	}
}

func (c *Conversation) sessionInfo(ev *SessionInfo) {
	ev = keep(ev)
	set(&c.Title, ev.Title)
	set(&c.Goal, ev.Goal)
	set(&c.Model, ev.Model)
	set(&c.PermissionMode, ev.PermissionMode)
	set(&c.Sandbox, ev.Sandbox)
	set(&c.CWD, ev.CWD)
	set(&c.Archived, ev.Archived)
	set(&c.Deleted, ev.Deleted)
	if ev.MCPServers != nil {
		c.MCPServers = ev.MCPServers
	}
	if ev.Commands != "" {
		c.Commands = ev.Commands
	}
}

// set sets a value that has changed.
func set[T any](dst, v *T) {
	if v != nil {
		*dst = *v
	}
}
