package claudeotel

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"
)

func (s *session) toolBegun(e claude.ToolBeginTrace) {
	attrs := []attribute.KeyValue{semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(e.Name), semconv.GenAIToolCallID(e.ToolUseID), semconv.GenAIToolType(toolType(e.Name))}
	attrs = append(attrs, s.content(semconv.GenAIToolCallArgumentsKey, func() string { return string(e.Input) })...)
	s.tools[e.ToolUseID] = s.begin(s.inside(e.ParentToolUseID), "execute_tool "+e.Name, e.At, attrs)
}

// toolType returns extension for tools of MCP servers.
func toolType(name string) string {
	if strings.HasPrefix(name, "mcp__") {
		return "extension"
	}
	return "function"
}

func (s *session) toolEnded(e claude.ToolEndTrace) {
	tool, ok := s.tools[e.ToolUseID]
	if !ok {
		return
	}
	delete(s.tools, e.ToolUseID)
	kind, text := "", ""
	switch {
	case e.Result == nil:
		kind = "no_result"
	case e.Meta != nil && e.Meta.NonExecutionKind != "":
		kind, text = e.Meta.NonExecutionKind, e.Result.Content.String()
	case e.IsError:
		kind, text = "tool_error", e.Result.Content.String()
	}
	if e.Result != nil {
		tool.span.SetAttributes(s.content(semconv.GenAIToolCallResultKey, e.Result.Content.String)...)
	}
	s.end(tool, e.End, kind, text)
	s.tool.Record(tool.ctx, e.Duration().Seconds(), metric.WithAttributes(semconv.GenAIToolName(e.Name)), failed(kind))
}

func (s *session) taskBegun(e claude.TaskBeginTrace) {
	m := e.Task
	name := taskName(m)
	attrs := []attribute.KeyValue{attribute.String("claude.task.type", m.TaskType), attribute.Bool("claude.task.background", m.IsBackgrounded)}
	if isAgent(m) {
		attrs = append(attrs, semconv.GenAIOperationNameInvokeAgent, semconv.GenAIProviderNameAnthropic, semconv.GenAIAgentID(m.TaskID), semconv.GenAIAgentName(m.SubagentType))
	} else {
		attrs = append(attrs, attribute.String("claude.task.id", m.TaskID))
	}
	attrs = append(attrs, s.content(semconv.GenAIAgentDescriptionKey, func() string { return m.Description })...)
	attrs = append(attrs, s.messageAttribute(semconv.GenAIInputMessagesKey, "user", func() string { return m.Prompt })...)
	parent, opts := s.at(m.ToolUseID), []trace.SpanStartOption(nil)
	if m.IsBackgrounded {
		opts = append(opts, trace.WithLinks(trace.LinkFromContext(parent)))
		parent = s.root.ctx
	}
	span := s.begin(parent, name, e.At, attrs, opts...)
	if m.ToolUseID == "" {
		s.others[m.TaskID] = span
	} else {
		s.tasks[m.ToolUseID] = span
	}
}

func isAgent(m *message.TaskStarted) bool { return m.SubagentType != "" }

func taskName(m *message.TaskStarted) string {
	if isAgent(m) {
		return "invoke_agent " + m.SubagentType
	}
	return strings.TrimSpace("claude.task " + m.TaskType)
}

func (s *session) taskEnded(e claude.TaskEndTrace) {
	spans, id := s.tasks, e.Task.ToolUseID
	if id == "" {
		spans, id = s.others, e.Task.TaskID
	}
	task, ok := spans[id]
	if !ok {
		return
	}
	delete(spans, id)
	kind := ""
	switch e.Status {
	case message.TaskCompleted:
	case "":
		kind = "no_result"
	default:
		kind = string(e.Status)
	}
	s.end(task, e.End, kind, e.Error)
	s.task.Record(task.ctx, e.Duration().Seconds(), metric.WithAttributes(attribute.String("claude.task.type", e.Task.TaskType)), failed(kind))
}

func (s *session) permitted(e claude.PermissionTrace) {
	attrs := []attribute.KeyValue{attribute.String("claude.permission.kind", e.Kind)}
	attrs = add(attrs, "claude.permission.answer", e.Answer)
	attrs = add(attrs, semconv.GenAIToolNameKey, e.ToolName)
	s.whole(s.at(e.ToolUseID), "claude.permission", e.Period, e.Err, attrs)
	s.permission.Record(s.root.ctx, e.Duration().Seconds(), metric.WithAttributes(attrs...), failed(failure(e.Err)))
}

func (s *session) hooked(e claude.HookTrace) {
	attrs := []attribute.KeyValue{attribute.String("claude.hook.event", string(e.Event))}
	s.whole(s.at(e.ToolUseID), "claude.hook", e.Period, e.Err, attrs)
	s.hook.Record(s.root.ctx, e.Duration().Seconds(), metric.WithAttributes(attrs...), failed(failure(e.Err)))
}

func (s *session) mcpCalled(e claude.MCPCallTrace) {
	attrs := []attribute.KeyValue{attribute.String("claude.mcp.server", e.Server), semconv.GenAIToolName(e.Tool)}
	span := s.begin(s.at(e.ToolUseID), "claude.mcp", e.Begin, attrs)
	kind := failure(e.Err)
	if kind == "" && e.IsError {
		kind = "tool_error"
	}
	s.end(span, e.End, kind, errorText(e.Err))
}
