package api

import "github.com/seed7221b0f9/parley/agent/event"

// sessionEvent is the event of a message about the session.
func sessionEvent(m Message) event.Event {
	switch m := m.(type) {
	case *SystemInit:
		return &event.SystemInit{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}, CWD: m.CWD, Model: m.Model, PermissionMode: m.PermissionMode,
			APIKeySource: m.APIKeySource, Tools: m.Tools, MCPServers: m.MCPServers, SlashCommands: m.SlashCommands, Agents: m.Agents,
			Skills: m.Skills, OutputStyle: m.OutputStyle, CLIVersion: m.CLIVersion, Sandbox: m.Sandbox, Data: raw(m, m.Extra),
		}
	case *StatusSystem:
		h := event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Status{Header: h, Status: m.Status, PermissionMode: m.PermissionMode, Data: raw(m, m.Extra)}
	case *CompactBoundary:
		ev := &event.CompactBoundary{Header: event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}, Metadata: m.CompactMetadata}
		trigger, _ := m.CompactMetadata.Member("trigger")
		ev.Trigger = trigger.Text()
		if _, ok := m.CompactMetadata.Member("pre_tokens"); ok {
			n := int64(m.CompactMetadata.Number("pre_tokens"))
			ev.PreTokens = &n
		}
		return ev
	case *RateLimit:
		return &event.RateLimit{Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, Info: m.RateLimitInfo}
	case *SessionState:
		return &event.SessionState{Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, State: m.State}
	case *QueueChanged:
		return &event.QueueChanged{Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, Items: m.Items}
	}
	if ev := promptEvent(m); ev != nil {
		return ev
	}
	if ev := turnEvent(m); ev != nil {
		return ev
	}
	return taskEvent(m)
}

func promptEvent(m Message) event.Event {
	switch m := m.(type) {
	case *PermissionRequest:
		return &event.PermissionRequest{
			Header: event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID}, Kind: m.Kind, RequestID: m.RequestID,
			ToolUseID: m.ToolUseID, ToolName: m.ToolName, DisplayName: m.DisplayName, Description: m.Description, Input: m.Input,
			Suggestions: m.PermissionSuggestions, Choices: m.Choices, Profile: m.Profile, BlockedPath: m.BlockedPath, AgentID: m.AgentID,
			DefaultToNo: m.DefaultToNo, Data: raw(m, m.Extra),
		}
	case *PermissionResolved:
		return &event.PermissionResolved{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, RequestID: m.RequestID, ToolUseID: m.ToolUseID, Behavior: m.Behavior, Scope: m.Scope, Message: m.Message, By: m.By,
		}
	case *QuestionRequest:
		return &event.QuestionRequest{
			Header: event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID}, Kind: m.Kind, RequestID: m.RequestID,
			ToolUseID: m.ToolUseID, Questions: m.Questions, Blocking: m.Blocking, MCPServerName: m.MCPServerName, Message: m.Message, Mode: m.Mode,
			Schema: m.RequestedSchema, URL: m.URL, Data: raw(m, m.Extra),
		}
	case *QuestionResolved:
		return &event.QuestionResolved{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, RequestID: m.RequestID, ToolUseID: m.ToolUseID, Action: m.Action, Answers: m.Answers, By: m.By,
		}
	}
	return nil
}

func taskEvent(m Message) event.Event {
	switch m := m.(type) {
	case *TaskStarted:
		return &event.TaskStarted{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, TaskID: m.TaskID, TaskType: m.TaskType, Description: m.Description, ToolUseID: m.ToolUseID,
			ParentTaskID: m.ParentTaskID, SubagentType: m.SubagentType, IsBackgrounded: m.IsBackgrounded, Data: raw(m, m.Extra),
		}
	case *TaskProgress:
		return &event.TaskProgress{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, TaskID: m.TaskID, Description: m.Description, LastToolName: m.LastToolName,
			Summary: m.Summary, Usage: m.Usage, Data: raw(m, m.Extra),
		}
	case *TaskUpdated:
		return &event.TaskUpdated{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, TaskID: m.TaskID, Status: m.Status, Description: m.Description, Error: m.Error,
			IsBackgrounded: m.IsBackgrounded, Data: raw(m, m.Extra),
		}
	case *TaskNotification:
		return &event.TaskNotification{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID}, TaskID: m.TaskID, Status: m.Status, Summary: m.Summary, OutputFile: m.OutputFile,
			Usage: m.Usage, Data: raw(m, m.Extra),
		}
	}
	return nil
}
