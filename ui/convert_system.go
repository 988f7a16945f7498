package ui

import (
	"fmt"

	"github.com/seed7221b0f9/parley/claude"
)

// other converts messages about the session rather than of it.
func (c *Converter) other(m claude.Message) {
	h := Header{SessionID: m.Head().SessionID, UUID: m.Head().UUID}
	raw := rawOf(m)
	switch m := m.(type) {
	case *claude.KeepAliveMessage, *claude.ControlRequestMessage, *claude.ControlResponseMessage,
		*claude.ControlCancelRequestMessage, *claude.TranscriptMirrorMessage:
		// The protocol's own lines say nothing of the conversation.
	case *claude.InitMessage:
		ev := &SystemInit{Header: h, CWD: m.CWD, Model: m.Model, PermissionMode: string(m.PermissionMode),
			APIKeySource: m.APIKeySource, Tools: m.Tools, SlashCommands: m.SlashCommands, Agents: m.Agents,
			Skills: m.Skills, OutputStyle: m.OutputStyle, CLIVersion: m.ClaudeCodeVersion, Data: raw}
		for _, s := range m.MCPServers {
			ev.MCPServers = append(ev.MCPServers, MCPServer{Name: s.Name, Status: s.Status})
		}
		c.emit(ev)
	case *claude.StatusMessage:
		c.emit(&Status{Header: h, Status: m.Status, PermissionMode: string(m.PermissionMode), Data: raw})
	case *claude.CompactBoundaryMessage:
		meta, _ := member(raw, "compact_metadata")
		c.emit(&CompactBoundary{Header: h, Trigger: m.CompactMetadata.Trigger, PreTokens: m.CompactMetadata.PreTokens, Metadata: present(meta)})
	case *claude.ToolProgressMessage:
		h.ParentToolUseID = m.ParentToolUseID
		output, _ := member(raw, "output")
		c.emit(&ToolProgress{Header: h, ToolUseID: m.ToolUseID, ToolName: m.ToolName, ElapsedSeconds: finite(m.ElapsedTimeSeconds),
			TaskID: m.TaskID, Heartbeat: m.Heartbeat, Output: text(output), Data: raw})
	case *claude.RateLimitEventMessage:
		info, _ := member(raw, "rate_limit_info")
		c.emit(&RateLimit{Header: h, Info: present(info)})
	case *claude.SessionStateChangedMessage:
		c.emit(&SessionState{Header: h, State: string(m.State)})
	case *claude.ErrorMessage:
		c.emit(&Error{Header: h, Message: errorText(m.Error)})
	case *claude.BadLine:
		c.emit(&Error{Header: h, Message: fmt.Sprint(m.Err)})
	default:
		c.task(h, raw, m)
	}
}

// task converts messages about tasks, and all that is left.
func (c *Converter) task(h Header, raw claude.JSON, m claude.Message) {
	switch m := m.(type) {
	case *claude.TaskStartedMessage:
		c.emit(&TaskStarted{Header: h, TaskID: m.TaskID, TaskType: m.TaskType, Description: m.Description, ToolUseID: m.ToolUseID,
			ParentTaskID: m.ParentTaskID, SubagentType: m.SubagentType, IsBackgrounded: m.IsBackgrounded, Data: raw})
	case *claude.TaskProgressMessage:
		usage, _ := member(raw, "usage")
		c.emit(&TaskProgress{Header: h, TaskID: m.TaskID, Description: m.Description, LastToolName: m.LastToolName,
			Summary: m.Summary, Usage: present(usage), Data: raw})
	case *claude.TaskUpdatedMessage:
		c.emit(&TaskUpdated{Header: h, TaskID: m.TaskID, Status: string(m.Patch.Status), Description: m.Patch.Description,
			Error: m.Patch.Error, IsBackgrounded: m.Patch.IsBackgrounded, Data: raw})
	case *claude.TaskNotificationMessage:
		usage, _ := member(raw, "usage")
		c.emit(&TaskNotification{Header: h, TaskID: m.TaskID, Status: string(m.Status), Summary: m.Summary,
			OutputFile: m.OutputFile, Usage: present(usage), Data: raw})
	default:
		parent, _ := member(raw, "parent_tool_use_id")
		h.ParentToolUseID = text(parent)
		c.emit(&Unknown{Header: h, OriginalType: claude.Kind(m), Data: raw})
	}
}

// errorText is the text of an error that is mostly a string.
func errorText(j claude.JSON) string {
	if s := text(j); s != "" {
		return s
	}
	return fmt.Sprint(string(j))
}
