package api

import "github.com/seed7221b0f9/parley/agent/event"

// turnEvent is the event of a message about a turn, nil if there is none.
func turnEvent(m Message) event.Event {
	switch m := m.(type) {
	case *TurnStart:
		h := event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}
		return &event.TurnStart{Header: h, TurnID: m.TurnID, By: m.By, PromptID: m.PromptID}
	case *Plan:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Plan{Header: h, Entries: m.Entries, Explanation: m.Explanation, Text: m.Text, ToolUseID: m.ToolUseID, Omitted: m.Omitted}
	case *TurnDiff:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.TurnDiff{Header: h, TurnID: m.TurnID, ToolUseID: m.ToolUseID, Replace: m.Replace, Files: m.Files}
	case *Usage:
		return &event.Usage{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}, TurnID: m.TurnID, Model: m.Model,
			InputTokens: m.InputTokens, OutputTokens: m.OutputTokens, CacheCreationInputTokens: m.CacheCreationInputTokens,
			CacheReadInputTokens: m.CacheReadInputTokens, ReasoningTokens: m.ReasoningTokens, ContextTokens: m.ContextTokens,
			ContextWindow: m.ContextWindow, CostUSD: m.CostUSD, Data: m.Data,
		}
	case *Truncate:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Truncate{Header: h, Reason: m.Reason, From: m.From, TurnID: m.TurnID, Lines: m.Lines, All: m.All}
	}
	return noticeEvent(m)
}

// noticeEvent is the event of a message beside the conversation, nil if there is none.
func noticeEvent(m Message) event.Event {
	switch m := m.(type) {
	case *Notice:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Notice{Header: h, Severity: m.Severity, Text: m.Text, Code: m.Code, ToolUseID: m.ToolUseID, Data: raw(m, m.Extra)}
	case *Retry:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Retry{
			Header: h, Attempt: m.Attempt, MaxAttempts: m.MaxAttempts, DelayMS: m.DelayMS, Reason: m.Reason, Status: m.Status, Data: raw(m, m.Extra),
		}
	case *Hook:
		h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, SessionID: m.SessionID, UUID: m.UUID}
		return &event.Hook{
			Header: h, HookID: m.HookID, Name: m.Name, Event: m.Event, State: m.State, Outcome: m.Outcome, Decision: m.Decision,
			Message: m.Message, Output: m.Output, ExitCode: m.ExitCode, ToolUseID: m.ToolUseID, Data: raw(m, m.Extra),
		}
	case *SessionInfo:
		return &event.SessionInfo{
			Header: event.Header{Provider: m.Provider, SessionID: m.SessionID, UUID: m.UUID}, Title: m.Title, Model: m.Model,
			PermissionMode: m.PermissionMode, Sandbox: m.Sandbox, CWD: m.CWD, Goal: m.Goal, Archived: m.Archived, Deleted: m.Deleted,
			MCPServers: m.MCPServers, Commands: m.Commands, Data: raw(m, m.Extra),
		}
	}
	return nil
}
