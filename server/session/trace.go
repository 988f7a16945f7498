package session

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/seed7221b0f9/parley/agent/event"
)

// traceScope is the name of the server's tracer.
const traceScope = "github.com/seed7221b0f9/parley/server"

// Tracer creates the spans of a server. Without a provider it creates no spans and ignores the
// trace contexts of requests.
type Tracer struct {
	trace.Tracer
	enabled bool
}

// NewTracer returns a tracer; without a provider it creates no spans.
func NewTracer(provider trace.TracerProvider, version string) Tracer {
	if provider == nil {
		return Tracer{Tracer: noop.NewTracerProvider().Tracer(traceScope)}
	}
	return Tracer{provider.Tracer(traceScope, trace.WithInstrumentationVersion(version)), true}
}

// From adds the trace context of a carrier to ctx. It is for known callers.
func (t Tracer) From(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	if !t.enabled {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}

// FromText adds a trace context in the form of the header traceparent to ctx. An empty or invalid
// one has no effect.
func (t Tracer) FromText(ctx context.Context, traceparent string) context.Context {
	if !t.enabled || traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// ToText returns the trace context of ctx in the form of the header traceparent, or "".
func (t Tracer) ToText(ctx context.Context) string {
	if !t.enabled {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// Method starts the span of a call.
func (t Tracer) Method(ctx context.Context, method string) (context.Context, trace.Span) {
	return t.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("rpc.system.name", "jsonrpc"), attribute.String("rpc.method", method)))
}

// EndSpan ends a span. It records only the reason of an error: messages may quote the conversation.
func EndSpan(span trace.Span, err error) {
	if err != nil {
		fail(span, string(FailureOf(err).Reason))
	}
	span.End()
}

func fail(span trace.Span, why string) {
	span.SetAttributes(attribute.String("error.type", why))
	span.SetStatus(otelcodes.Error, why)
}

// turnTrace holds the spans of a session: waiting inputs, the running turn, and in it tools and
// open requests. It belongs to the loop of its actor.
type turnTrace struct {
	Tracer
	session string

	waiting map[string]trace.Span // inputs by id
	turn    trace.Span            // nil between turns
	ctx     context.Context       // of the turn
	open    map[string]trace.Span // tools and requests by id
	seen    map[string]bool       // ids of this turn, so that no span starts twice
}

func newTurnTrace(t Tracer, session string) *turnTrace {
	return &turnTrace{Tracer: t, session: session, waiting: map[string]trace.Span{}}
}

func (t *turnTrace) attributes(more ...attribute.KeyValue) trace.SpanStartEventOption {
	return trace.WithAttributes(append(more, attribute.String("parley.session.id", t.session))...)
}

// accepted starts the wait of an input.
func (t *turnTrace) accepted(in input) {
	if t.enabled {
		_, t.waiting[in.ID] = t.Start(t.parent(in), "parley.queue", t.attributes(attribute.String("parley.turn.id", in.ID)))
	}
}

// parent returns a context with the span of an input.
func (t *turnTrace) parent(in input) context.Context {
	return t.FromText(context.Background(), in.Trace)
}

// sent ends the wait of an input and, unless it joins the running turn, starts one.
func (t *turnTrace) sent(in input, provider string, joins bool) {
	if !t.enabled {
		return
	}
	t.dropped(in.ID, "")
	if joins && t.turn != nil {
		return
	}
	t.ended("replaced") // open only if its end was missed
	t.ctx, t.turn = t.Start(t.parent(in), "parley.turn", t.attributes(attribute.String("parley.turn.id", in.ID), attribute.String("parley.provider", provider)))
	t.open, t.seen = map[string]trace.Span{}, map[string]bool{}
}

// dropped ends the wait of an input, with a reason if it does not run.
func (t *turnTrace) dropped(id, why string) {
	endIn(t.waiting, id, why)
}

// endIn ends the span with an id and removes it from the map, if there is one.
func endIn(spans map[string]trace.Span, id, why string) {
	span, ok := spans[id]
	if !ok {
		return
	}
	delete(spans, id)
	if why != "" {
		fail(span, why)
	}
	span.End()
}

// within returns ctx with the span of the turn.
func (t *turnTrace) within(ctx context.Context) context.Context {
	if t.turn == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, t.turn)
}

// ended ends the turn with all open spans in it, with a reason if it failed.
func (t *turnTrace) ended(why string) {
	if t.turn == nil {
		return
	}
	for id := range t.open {
		t.close(id, "unfinished")
	}
	if why != "" {
		fail(t.turn, why)
	}
	t.turn.End()
	t.turn, t.ctx = nil, nil
}

// stop ends everything: the session is unloaded.
func (t *turnTrace) stop() {
	t.ended("stopped")
	for id := range t.waiting {
		t.dropped(id, "stopped")
	}
}

// begin starts a span in the turn, in the span of a tool if it has one.
func (t *turnTrace) begin(id, parent, name string, attrs ...attribute.KeyValue) {
	if t.turn == nil || id == "" || t.seen[id] || len(t.seen) >= maxTurnSpans {
		return
	}
	ctx := t.ctx
	if span, ok := t.open[parent]; ok {
		ctx = trace.ContextWithSpan(ctx, span)
	}
	t.seen[id] = true
	_, t.open[id] = t.Start(ctx, name, t.attributes(attrs...))
}

// maxTurnSpans limits the spans of one turn.
const maxTurnSpans = 10_000

func (t *turnTrace) close(id, why string) { endIn(t.open, id, why) }

// observe follows an event of the agent or of the server.
func (t *turnTrace) observe(ev event.Event) {
	if t.turn == nil {
		return
	}
	switch ev := ev.(type) {
	case *event.ToolStart:
		t.tool(ev.ToolUseID, ev.ParentToolUseID, ev.Name)
	case *event.AssistantMessage:
		for _, b := range ev.Blocks {
			if strings.HasSuffix(b.Block.Type, "tool_use") {
				t.tool(b.Block.ToolUseID, ev.ParentToolUseID, b.Block.Name)
			}
		}
	case *event.ToolComplete:
		why := ""
		if ev.IsError {
			why = "tool_error"
		}
		t.close(ev.ToolUseID, why)
	case *event.PermissionRequest:
		t.begin(requestSpan+ev.RequestID, ev.ToolUseID, "parley.permission", attribute.String("gen_ai.tool.name", spanText(ev.ToolName)))
	case *event.QuestionRequest:
		t.begin(requestSpan+ev.RequestID, ev.ToolUseID, "parley.question")
	case *event.PermissionResolved:
		t.answered(ev.RequestID, ev.Behavior)
	case *event.QuestionResolved:
		t.answered(ev.RequestID, ev.Action)
	case *event.ResultMessage:
		why := ""
		if ev.IsError {
			why = spanText(ev.Subtype)
		}
		t.ended(why)
	}
}

// requestSpan returns the key of a request, which differs from that of a tool with the same id.
const requestSpan = "request "

func (t *turnTrace) tool(id, parent, name string) {
	name = spanText(name)
	t.begin(id, parent, "execute_tool "+name, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", name), attribute.String("gen_ai.tool.call.id", spanText(id)))
}

func (t *turnTrace) answered(id, outcome string) {
	if span, ok := t.open[requestSpan+id]; ok {
		span.SetAttributes(attribute.String("parley.outcome", spanText(outcome)))
		t.close(requestSpan+id, "")
	}
}

// spanText limits the length of a name from an agent.
func spanText(s string) string {
	if len(s) > 100 {
		s = s[:100]
	}
	return strings.ToValidUTF8(s, "")
}

// withTrace returns the environment of an agent with the trace of its start, which the Claude CLI
// and other programs continue.
func withTrace(env []string, traceparent string) []string {
	if traceparent == "" {
		return env
	}
	var own []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, "TRACEPARENT=") && !strings.HasPrefix(entry, "TRACESTATE=") {
			own = append(own, entry)
		}
	}
	return append(own, "TRACEPARENT="+traceparent)
}

// starting starts the span of a start of the agent, in the trace of the request that needs it.
func (t *turnTrace) starting(ctx context.Context, traceparent string) (context.Context, trace.Span) {
	return t.Start(t.FromText(ctx, traceparent), "parley.start", t.attributes())
}
