// Package claude/claudeotel exports sessions of package claude to OpenTelemetry: spans for
// sessions, turns, answers of the model, tools and subagents, metrics, and the W3C trace
// context for the CLI.
//
//	opts := &claude.Options{Trace: claudeotel.Trace()}
//	for msg, err := range claude.Query(ctx, "What is 2 + 2?", opts) { … }
//
// The tree is
//
//	claude.session                  from the call to the end of the CLI
//	├── claude.start                from the start of the CLI to the end of the handshake
//	└── invoke_agent claude         a turn
//	    ├── chat MODEL              an answer of the model; only these have token counts
//	    └── execute_tool NAME       a call of a tool
//	        ├── claude.permission   a callback that was asked
//	        ├── claude.hook         a hook of this process
//	        ├── claude.mcp          a tool of this process
//	        └── invoke_agent TYPE   a subagent, with answers and tools of its own
//
// A session is a child of the span in the context that started it. A turn has a link to the
// span in the context that sent its prompt, if that is another span. A task in the background
// may outlive its turn, so it is a child of the session with a link to its tool.
//
// Names and attributes follow the GenAI conventions of OpenTelemetry where they exist; all
// others begin with "claude.". Spans have no content of conversations unless [WithContent] is
// set.
package claudeotel

import (
	"context"
	"errors"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the tracer and the meter of this package, by which a backend can select
// its spans.
const Scope = "github.com/seed7221b0f9/parley/claude/claudeotel"

// Option configures [Trace]. Without options it uses the global providers of OpenTelemetry.
type Option func(*bridge)

// WithTracerProvider returns an option that takes tracers from p. The default is the global
// provider of OpenTelemetry.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(b *bridge) { b.tracers = p }
}

// WithMeterProvider returns an option that takes meters from p. The default is the global
// provider of OpenTelemetry.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(b *bridge) { b.meters = p }
}

// WithContent puts prompts, answers, tools' inputs and results, descriptions of tasks and texts
// of errors into spans, each passed through edit first; a nil edit leaves them unchanged. They
// may contain anything that users and files contain, so consider who can read the spans.
func WithContent(edit func(text string) string) Option {
	return func(b *bridge) {
		if b.edit = edit; edit == nil {
			b.edit = func(text string) string { return text }
		}
	}
}

// WithAttributes returns an option that puts further attributes on the span of each session. It
// adds to earlier ones.
func WithAttributes(attrs ...attribute.KeyValue) Option {
	return func(b *bridge) { b.attrs = append(b.attrs, attrs...) }
}

// Trace returns a [claude.Trace] that exports any number of sessions to OpenTelemetry. It
// passes errors of creating instruments to [otel.Handle].
func Trace(opts ...Option) *claude.Trace {
	b := &bridge{}
	for _, o := range opts {
		o(b)
	}
	if b.tracers == nil {
		b.tracers = otel.GetTracerProvider()
	}
	if b.meters == nil {
		b.meters = otel.GetMeterProvider()
	}
	b.tracer = b.tracers.Tracer(Scope, trace.WithInstrumentationVersion(claude.Version))
	b.newInstruments(b.meters.Meter(Scope, metric.WithInstrumentationVersion(claude.Version)))
	return &claude.Trace{Session: b.session}
}

// Instrument returns a copy of opts, which may be nil, with its Trace set to [Trace].
func Instrument(opts *claude.Options, with ...Option) *claude.Options {
	c := claude.Options{}
	if opts != nil {
		c = *opts
	}
	c.Trace = Trace(with...)
	return &c
}

// bridge is the state that all sessions of a Trace share.
type bridge struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
	attrs   []attribute.KeyValue
	edit    func(string) string // nil: no content in spans

	tracer trace.Tracer
	instruments
}

// environ returns the trace context of ctx as environment variables. An empty variable
// overrides one that the caller inherited, which belongs to another span.
func environ(ctx context.Context) map[string]string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return nil
	}
	env := map[string]string{"TRACESTATE": ""}
	for name, value := range carrier {
		env[strings.ToUpper(name)] = value
	}
	return env
}

// errorType returns the kind of an error, without content of the conversation.
func errorType(err error) string {
	if result, ok := errors.AsType[*message.ResultError](err); ok {
		return resultType(result.Result)
	}
	if exit, ok := errors.AsType[*claude.ExitError](err); ok {
		if exit.Signal != "" {
			return "exit_" + exit.Signal
		}
		return "exit"
	}
	for _, known := range []struct {
		is   bool
		name string
	}{
		{errors.As(err, new(*claude.StalledError)), "stalled"},
		{errors.Is(err, claude.ErrNotFound), "cli_not_found"},
		{errors.As(err, new(*claude.SpawnError)), "spawn"},
		{errors.As(err, new(*claude.HandshakeError)), "handshake"},
		{errors.As(err, new(*claude.ControlError)), "control"},
		{errors.Is(err, context.Canceled), "canceled"},
		{errors.Is(err, context.DeadlineExceeded), "timeout"},
		{errors.Is(err, claude.ErrNoResult), "no_result"},
		{errors.Is(err, claude.ErrClosed), "closed"},
	} {
		if known.is {
			return known.name
		}
	}
	return "_OTHER"
}

// resultType returns the reason why a turn failed.
func resultType(m *message.Result) string {
	if m.Subtype != message.ResultSuccess {
		return string(m.Subtype)
	}
	if m.APIErrorType != "" {
		return m.APIErrorType
	}
	return "api_error"
}
