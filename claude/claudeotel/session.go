package claudeotel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/claude"
)

// session holds the open spans of one session. Its methods are not called concurrently.
type session struct {
	*bridge
	caller trace.SpanContext // the span in the context that started the session
	agent  string            // the main one
	root   open
	turn   open            // the zero value between turns
	tools  map[string]open // by the id of the call
	tasks  map[string]open // subagents, by the id of their Agent call
	others map[string]open // tasks without a call, by their id
	queued int64           // prompts without a turn so far

	prompts int // of the turn, when it began
}

// open is a span that has not ended, with its context.
type open struct {
	span trace.Span
	ctx  context.Context
}

func (b *bridge) session(ctx context.Context, begin *claude.SessionTrace) *claude.Trace {
	caller := trace.SpanContextFromContext(ctx)
	s := &session{bridge: b, caller: caller, agent: "claude", tools: map[string]open{}, tasks: map[string]open{}, others: map[string]open{}}
	if begin.Options.Agent != "" {
		s.agent = begin.Options.Agent
	}
	attrs := append([]attribute.KeyValue{semconv.GenAIProviderNameAnthropic}, b.attrs...)
	if begin.Options.Resume != "" {
		attrs = append(attrs, attribute.String("claude.resume", begin.Options.Resume))
	}
	s.root = s.begin(context.WithoutCancel(ctx), "claude.session", begin.At, attrs)
	s.sessions.Add(s.root.ctx, 1)
	begin.Env = environ(s.root.ctx)
	return &claude.Trace{
		Spawn: s.spawned, Handshake: s.handshakeEnded, Prompt: s.prompted, PromptCancelled: s.cancelled,
		TurnBegin: s.turnBegun, TurnEnd: s.turnEnded, FirstToken: s.firstTokenCame,
		APIRetry: s.retried, Generation: s.generated,
		ToolBegin: s.toolBegun, ToolEnd: s.toolEnded, TaskBegin: s.taskBegun, TaskEnd: s.taskEnded,
		Permission: s.permitted, Hook: s.hooked, MCPCall: s.mcpCalled, Control: s.controlled,
		Stall: s.stalled, Buffered: s.buffered, Exit: s.exited,
	}
}

func (b *bridge) begin(ctx context.Context, name string, at time.Time, attrs []attribute.KeyValue, opts ...trace.SpanStartOption) open {
	opts = append(opts, trace.WithTimestamp(at), trace.WithAttributes(attrs...))
	ctx, span := b.tracer.Start(ctx, name, opts...)
	return open{span, ctx}
}

// end ends a span and marks it as failed if kind is set. With content enabled, text is
// the description of the failure.
func (b *bridge) end(o open, at time.Time, kind, text string) {
	if kind != "" {
		o.span.SetAttributes(semconv.ErrorTypeKey.String(kind))
		if b.edit == nil {
			text = kind
		} else {
			text = b.edit(text)
		}
		o.span.SetStatus(codes.Error, text)
	}
	o.span.End(trace.WithTimestamp(at))
}

// whole records a span with a known start and end.
func (b *bridge) whole(ctx context.Context, name string, p claude.Period, err error, attrs []attribute.KeyValue, opts ...trace.SpanStartOption) {
	b.end(b.begin(ctx, name, p.Begin, attrs, opts...), p.End, failure(err), errorText(err))
}

// failure returns the kind of an error, or "" for nil.
func failure(err error) string {
	if err == nil {
		return ""
	}
	return errorType(err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// inside returns the context of a conversation: the span of a subagent's call, or the
// current turn.
func (s *session) inside(call string) context.Context {
	if call == "" {
		return s.current()
	}
	if task, ok := s.tasks[call]; ok {
		return task.ctx
	}
	return s.at(call)
}

// at returns the context of a tool call.
func (s *session) at(call string) context.Context {
	if tool, ok := s.tools[call]; ok {
		return tool.ctx
	}
	return s.current()
}

// current returns the context of the turn, or of the session between turns.
func (s *session) current() context.Context {
	if s.turn.span != nil {
		return s.turn.ctx
	}
	return s.root.ctx
}

func (s *session) spawned(e claude.SpawnTrace) {
	if e.Err == nil {
		s.root.span.SetAttributes(semconv.ProcessPID(e.PID))
	}
}

func (s *session) handshakeEnded(e claude.HandshakeTrace) {
	s.whole(s.root.ctx, "claude.start", claude.Period{Begin: e.At.Add(-e.Duration), End: e.At}, e.Err, nil)
	s.start.Record(s.root.ctx, e.Duration.Seconds(), failed(failure(e.Err)))
	if e.Version != "" {
		s.root.span.SetAttributes(attribute.String("claude.cli.version", e.Version))
	}
}

// failed returns the measurement attribute with the kind of failure; for "" the list is empty.
func failed(kind string) metric.MeasurementOption {
	if kind == "" {
		return metric.WithAttributes()
	}
	return metric.WithAttributes(semconv.ErrorTypeKey.String(kind))
}

func (s *session) controlled(e claude.ControlTrace) {
	subtype := attribute.String("claude.control.subtype", e.Subtype)
	s.whole(s.root.ctx, "claude.control "+e.Subtype, e.Period, e.Err, []attribute.KeyValue{subtype})
	s.control.Record(s.root.ctx, e.Duration().Seconds(), metric.WithAttributes(subtype), failed(failure(e.Err)))
}

func (s *session) stalled(e claude.StallTrace) {
	phase := attribute.String("claude.phase", e.Err.Phase)
	trace.SpanFromContext(s.current()).AddEvent("claude.stall", trace.WithTimestamp(e.At), trace.WithAttributes(phase))
	s.stalls.Add(s.root.ctx, 1, metric.WithAttributes(phase))
}

func (s *session) buffered(e claude.BufferedTrace) {
	s.root.span.AddEvent("claude.buffered", trace.WithTimestamp(e.At), trace.WithAttributes(attribute.Int64("claude.bytes", e.Bytes)))
	s.slow.Add(s.root.ctx, 1)
}

func (s *session) exited(e claude.ExitTrace) {
	s.waiting.Add(s.root.ctx, -s.queued)
	s.sessions.Add(s.root.ctx, -1)
	s.end(s.root, e.At, failure(e.Err), errorText(e.Err))
}
