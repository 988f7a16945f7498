package api

import "github.com/seed7221b0f9/parley/agent/event"

// sessionMessage is the message of an event about the session, nil if there is none.
func sessionMessage(ev event.Event) Message {
	switch ev := ev.(type) {
	case *event.SystemInit:
		m := &SystemInit{
			SessionID: ev.SessionID, CWD: ev.CWD, Model: ev.Model, PermissionMode: ev.PermissionMode, APIKeySource: ev.APIKeySource,
			Tools: ev.Tools, MCPServers: ev.MCPServers, SlashCommands: ev.SlashCommands, Agents: ev.Agents, Skills: ev.Skills,
			OutputStyle: ev.OutputStyle, CLIVersion: ev.CLIVersion, Sandbox: ev.Sandbox, UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.Status:
		m := &StatusSystem{
			Subtype: "status", Status: ev.Status, PermissionMode: ev.PermissionMode, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.CompactBoundary:
		return &CompactBoundary{SessionID: ev.SessionID, CompactMetadata: clean(ev.Metadata), UUID: ev.UUID, Provider: ev.Provider}
	case *event.RateLimit:
		return &RateLimit{RateLimitInfo: clean(ev.Info), SessionID: ev.SessionID, Provider: ev.Provider}
	case *event.SessionState:
		return &SessionState{State: ev.State, SessionID: ev.SessionID, Provider: ev.Provider}
	case *event.QueueChanged:
		m := &QueueChanged{SessionID: ev.SessionID, Provider: ev.Provider}
		for _, item := range ev.Items {
			item.Content = clean(item.Content)
			m.Items = append(m.Items, item)
		}
		return m
	}
	if m := promptMessage(ev); m != nil {
		return m
	}
	if m := turnMessage(ev); m != nil {
		return m
	}
	return taskMessage(ev)
}

func promptMessage(ev event.Event) Message {
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		return &PermissionRequest{
			Kind: ev.Kind, RequestID: ev.RequestID, ToolName: ev.ToolName, DisplayName: ev.DisplayName, Description: ev.Description,
			Input: clean(ev.Input), ToolUseID: ev.ToolUseID, PermissionSuggestions: cleanSuggestions(ev.Suggestions), Choices: cleanChoices(ev.Choices), Profile: clean(ev.Profile), BlockedPath: ev.BlockedPath,
			AgentID: ev.AgentID, DefaultToNo: ev.DefaultToNo, ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, Provider: ev.Provider,
		}
	case *event.PermissionResolved:
		return &PermissionResolved{
			RequestID: ev.RequestID, ToolUseID: ev.ToolUseID, Behavior: ev.Behavior, Scope: ev.Scope, Message: ev.Message, By: ev.By,
			SessionID: ev.SessionID, Provider: ev.Provider,
		}
	case *event.QuestionRequest:
		return &QuestionRequest{
			Kind: ev.Kind, RequestID: ev.RequestID, ToolUseID: ev.ToolUseID, Questions: cleanQuestions(ev.Questions), Blocking: ev.Blocking, MCPServerName: ev.MCPServerName,
			Message: ev.Message, Mode: ev.Mode, RequestedSchema: clean(ev.Schema), URL: ev.URL, ParentToolUseID: ev.ParentToolUseID,
			SessionID: ev.SessionID, Provider: ev.Provider,
		}
	case *event.QuestionResolved:
		return &QuestionResolved{
			RequestID: ev.RequestID, ToolUseID: ev.ToolUseID, Action: ev.Action, Answers: clean(ev.Answers), By: ev.By,
			SessionID: ev.SessionID, Provider: ev.Provider,
		}
	}
	return nil
}

func taskMessage(ev event.Event) Message {
	switch ev := ev.(type) {
	case *event.TaskStarted:
		m := &TaskStarted{
			TaskID: ev.TaskID, TaskType: ev.TaskType, Description: ev.Description, ToolUseID: ev.ToolUseID, ParentTaskID: ev.ParentTaskID,
			SubagentType: ev.SubagentType, IsBackgrounded: ev.IsBackgrounded, SessionID: ev.SessionID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.TaskProgress:
		m := &TaskProgress{
			TaskID: ev.TaskID, Description: ev.Description, LastToolName: ev.LastToolName, Summary: ev.Summary, Usage: clean(ev.Usage),
			SessionID: ev.SessionID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.TaskUpdated:
		m := &TaskUpdated{
			TaskID: ev.TaskID, Status: ev.Status, Description: ev.Description, Error: ev.Error, IsBackgrounded: ev.IsBackgrounded,
			SessionID: ev.SessionID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.TaskNotification:
		m := &TaskNotification{
			TaskID: ev.TaskID, Status: ev.Status, Summary: ev.Summary, OutputFile: ev.OutputFile, Usage: clean(ev.Usage),
			SessionID: ev.SessionID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	}
	return nil
}
