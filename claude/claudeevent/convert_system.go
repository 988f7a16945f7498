package claudeevent

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// other converts messages about the session.
func (c *Converter) other(m message.Message) {
	h := event.Header{SessionID: m.Head().SessionID, UUID: m.Head().UUID}
	raw := rawOf(m)
	switch m := m.(type) {
	case *message.KeepAlive, *message.ControlRequest, *message.ControlResponse,
		*message.ControlCancelRequest, *message.TranscriptMirror:
		// Protocol messages that are not part of the conversation.
	case *message.Init:
		c.beginTurn("", m.SessionID, m.UUID)
		c.init(h, raw, m)
	case *message.Status:
		c.emit(&event.Status{Header: h, Status: m.Status, PermissionMode: string(m.PermissionMode), Data: raw})
		c.changed(h, &event.SessionInfo{PermissionMode: pointer(string(m.PermissionMode))})
	case *message.CompactBoundary:
		meta, _ := raw.Member("compact_metadata")
		c.emit(compactBoundary(h, event.Present(string(meta))))
	case *message.ToolProgress:
		h.ParentToolUseID = m.ParentToolUseID
		output, _ := raw.Member("output")
		c.emit(&event.ToolProgress{Header: h, ToolUseID: m.ToolUseID, ToolName: m.ToolName, ElapsedSeconds: raw.Number("elapsed_time_seconds"),
			TaskID: m.TaskID, Heartbeat: m.Heartbeat, Output: output.Text(), Data: raw})
	case *message.RateLimitEvent:
		info, _ := raw.Member("rate_limit_info")
		c.emit(&event.RateLimit{Header: h, Info: event.Present(string(info))})
	case *message.SessionStateChanged:
		c.emit(&event.SessionState{Header: h, State: string(m.State)})
	case *message.Error:
		c.emit(&event.Error{Header: h, Message: errorText(m.Error)})
	case *message.BadLine:
		c.emit(&event.Error{Header: h, Message: fmt.Sprint(m.Err)})
	default:
		c.task(h, raw, m)
	}
}

// compactBoundary returns the event of a compaction.
func compactBoundary(h event.Header, metadata event.JSON) *event.CompactBoundary {
	trigger, _ := metadata.Member("trigger")
	ev := &event.CompactBoundary{Header: h, Trigger: trigger.Text(), Metadata: metadata}
	if _, ok := metadata.Member("pre_tokens"); ok {
		n := count(metadata, "pre_tokens")
		ev.PreTokens = &n
	}
	return ev
}

// task converts messages about tasks.
func (c *Converter) task(h event.Header, raw event.JSON, m message.Message) {
	switch m := m.(type) {
	case *message.TaskStarted:
		c.emit(&event.TaskStarted{Header: h, TaskID: m.TaskID, TaskType: m.TaskType, Description: m.Description, ToolUseID: m.ToolUseID,
			ParentTaskID: m.ParentTaskID, SubagentType: m.SubagentType, IsBackgrounded: m.IsBackgrounded, Data: raw})
	case *message.TaskProgress:
		usage, _ := raw.Member("usage")
		c.emit(&event.TaskProgress{Header: h, TaskID: m.TaskID, Description: m.Description, LastToolName: m.LastToolName,
			Summary: m.Summary, Usage: event.Present(string(usage)), Data: raw})
	case *message.TaskUpdated:
		c.emit(&event.TaskUpdated{Header: h, TaskID: m.TaskID, Status: string(m.Patch.Status), Description: m.Patch.Description,
			Error: m.Patch.Error, IsBackgrounded: m.Patch.IsBackgrounded, Data: raw})
	case *message.TaskNotification:
		usage, _ := raw.Member("usage")
		c.turn.task = true
		c.emit(&event.TaskNotification{Header: h, TaskID: m.TaskID, Status: string(m.Status), Summary: m.Summary,
			OutputFile: m.OutputFile, Usage: event.Present(string(usage)), Data: raw})
	default:
		c.note(h, raw, m)
	}
}

// errorText returns the text of an error, which usually is a JSON string.
func errorText(j message.JSON) string {
	if s := j.Text(); s != "" {
		return s
	}
	return fmt.Sprint(string(j))
}
