package api

import "github.com/seed7221b0f9/parley/agent/event"

// turnMessage is the message of an event about a turn, nil if there is none.
func turnMessage(ev event.Event) Message {
	switch ev := ev.(type) {
	case *event.TurnStart:
		return &TurnStart{TurnID: ev.TurnID, By: ev.By, PromptID: ev.PromptID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider}
	case *event.Plan:
		return &Plan{
			Entries: ev.Entries, Explanation: ev.Explanation, Text: ev.Text, ToolUseID: ev.ToolUseID, Omitted: ev.Omitted,
			ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
	case *event.TurnDiff:
		return &TurnDiff{
			TurnID: ev.TurnID, ToolUseID: ev.ToolUseID, Replace: ev.Replace, Files: ev.Files,
			ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
	case *event.Usage:
		return &Usage{
			TurnID: ev.TurnID, Model: ev.Model, InputTokens: ev.InputTokens, OutputTokens: ev.OutputTokens,
			CacheCreationInputTokens: ev.CacheCreationInputTokens, CacheReadInputTokens: ev.CacheReadInputTokens,
			ReasoningTokens: ev.ReasoningTokens, ContextTokens: ev.ContextTokens, ContextWindow: ev.ContextWindow,
			CostUSD: ev.CostUSD, Data: clean(ev.Data), SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
	case *event.Truncate:
		return &Truncate{
			Reason: ev.Reason, From: ev.From, TurnID: ev.TurnID, Lines: ev.Lines, All: ev.All,
			ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
	}
	return noticeMessage(ev)
}

// noticeMessage is the message of an event beside the conversation, nil if there is
// none.
func noticeMessage(ev event.Event) Message {
	switch ev := ev.(type) {
	case *event.Notice:
		m := &Notice{
			Severity: ev.Severity, Text: ev.Text, Code: ev.Code, ToolUseID: ev.ToolUseID,
			ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.Retry:
		m := &Retry{
			Attempt: ev.Attempt, MaxAttempts: ev.MaxAttempts, DelayMS: ev.DelayMS, Reason: ev.Reason, Status: ev.Status,
			ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.Hook:
		m := &Hook{
			HookID: ev.HookID, Name: ev.Name, Event: ev.Event, State: ev.State, Outcome: ev.Outcome, Decision: ev.Decision,
			Message: ev.Message, Output: ev.Output, ExitCode: ev.ExitCode, ToolUseID: ev.ToolUseID,
			ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	case *event.SessionInfo:
		m := &SessionInfo{
			Title: ev.Title, Model: ev.Model, PermissionMode: ev.PermissionMode, Sandbox: ev.Sandbox, CWD: ev.CWD, Goal: ev.Goal,
			Archived: ev.Archived, Deleted: ev.Deleted, MCPServers: ev.MCPServers, Commands: clean(ev.Commands),
			SessionID: ev.SessionID, UUID: ev.UUID, Provider: ev.Provider,
		}
		m.Extra = extraOf(ev.Data, m)
		return m
	}
	return nil
}

// cleanSuggestions are suggestions with their JSON in the form that messages have.
func cleanSuggestions(all []event.Suggestion) []event.Suggestion {
	return each(all, func(s *event.Suggestion) { s.Update = clean(s.Update) })
}

func cleanChoices(all []event.Choice) []event.Choice {
	return each(all, func(c *event.Choice) { c.Data = clean(c.Data) })
}

func cleanQuestions(all []event.Question) []event.Question {
	return each(all, func(q *event.Question) { q.Data = clean(q.Data) })
}

// each is a copy of a list with every element changed; nil stays nil.
func each[T any](list []T, change func(*T)) []T {
	if list == nil {
		return nil
	}
	all := make([]T, len(list))
	copy(all, list)
	for i := range all {
		change(&all[i])
	}
	return all
}
