package claudeevent

import (
	"cmp"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// note converts notices and passes other messages on to hook.
func (c *Converter) note(h event.Header, raw event.JSON, m message.Message) {
	switch m := m.(type) {
	case *message.Informational:
		c.emit(notice(h, m.Level, m.Content, m.Tag, m.ToolUseID, raw))
	case *message.Notification:
		c.emit(notice(h, m.Priority, m.Text, m.Key, "", raw))
	case *message.PermissionDenied:
		c.emit(notice(h, event.NoticeWarning, m.Message, "permission_denied", m.ToolUseID, raw))
	case *message.ModelFallback:
		c.emit(notice(h, event.NoticeWarning, m.Content, "model_fallback", "", raw))
		c.changed(h, &event.SessionInfo{Model: pointer(m.FallbackModel)})
	case *message.ModelRefusalFallback:
		c.emit(notice(h, event.NoticeWarning, m.Content, "model_refusal_fallback", "", raw))
		if lines := texts(fields(raw).raw("retracted_message_uuids")); len(lines) > 0 {
			c.emit(&event.Truncate{Header: h, Reason: "refusal", Lines: lines})
		}
	case *message.ModelRefusalNoFallback:
		c.emit(notice(h, event.NoticeError, m.Content, "model_refusal_no_fallback", "", raw))
	case *message.MirrorError:
		c.emit(notice(h, event.NoticeError, m.Error, "mirror_error", "", raw))
	case *message.SessionWritesLost:
		c.emit(notice(h, event.NoticeError, "the disk is full ("+m.ErrorCode+"): lost "+strings.Join(m.Lost, ", "), "session_writes_lost", "", raw))
	case *message.APIRetry:
		c.emit(retry(h, raw, m))
	case *message.ConversationReset:
		c.emit(&event.Truncate{Header: h, Reason: cmp.Or(m.Trigger, "reset"), All: true})
	default:
		c.hook(h, raw, m)
	}
}

// severities maps the CLI's levels of a notice to severities.
var severities = map[string]string{
	"warning": event.NoticeWarning, "error": event.NoticeError, "high": event.NoticeWarning, "immediate": event.NoticeWarning,
}

func notice(h event.Header, level, text, code, toolUseID string, data event.JSON) *event.Notice {
	return &event.Notice{Header: h, Severity: cmp.Or(severities[level], event.NoticeInfo), Text: text, Code: code, ToolUseID: toolUseID, Data: data}
}

func retry(h event.Header, raw event.JSON, m *message.APIRetry) *event.Retry {
	ev := &event.Retry{Header: h, Attempt: count(raw, "attempt"), Reason: string(m.Error), Data: raw}
	given := func(key string) *int64 {
		if j, ok := raw.Member(key); !ok || j == "null" {
			return nil
		}
		n := count(raw, key)
		return &n
	}
	ev.MaxAttempts, ev.DelayMS, ev.Status = given("max_retries"), given("retry_delay_ms"), given("error_status")
	return ev
}

// hook converts messages about hooks and passes other messages on to rest.
func (c *Converter) hook(h event.Header, raw event.JSON, m message.Message) {
	switch m := m.(type) {
	case *message.HookStarted:
		c.emit(&event.Hook{Header: h, HookID: m.HookID, Name: m.HookName, Event: m.HookEvent, State: event.HookStarted, Data: raw})
	case *message.HookProgress:
		c.emit(&event.Hook{Header: h, HookID: m.HookID, Name: m.HookName, Event: m.HookEvent, State: event.HookRunning, Output: m.Output, Data: raw})
	case *message.HookResponse:
		ev := &event.Hook{Header: h, HookID: m.HookID, Name: m.HookName, Event: m.HookEvent, State: event.HookFinished,
			Outcome: m.Outcome, Output: m.Output, ExitCode: m.ExitCode, Data: raw}
		ev.Decision, ev.Message = decisionOf(event.NewJSON(strings.TrimSpace(m.Stdout)))
		c.emit(ev)
	default:
		c.rest(h, raw, m)
	}
}

// rest converts changes of the session and keeps unknown messages.
func (c *Converter) rest(h event.Header, raw event.JSON, m message.Message) {
	switch m := m.(type) {
	case *message.SessionTitleChanged:
		c.emit(&event.SessionInfo{Header: h, Title: &m.Title, Data: raw})
		return
	case *message.CommandsChanged:
		c.emit(&event.SessionInfo{Header: h, Commands: fields(raw).raw("commands"), Data: raw})
		return
	case *message.CommandLifecycle:
		if m.State == message.CommandStarted && c.turn.open || m.State == message.CommandCancelled || m.State == message.CommandCompleted {
			c.turn.joined(m.CommandUUID)
		}
	}
	h.ParentToolUseID = fields(raw).str("parent_tool_use_id")
	c.emit(&event.Unknown{Header: h, OriginalType: message.Kind(m), Data: raw})
}
