package claudeotel

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/claude"
)

func (s *session) prompted(e claude.PromptTrace) {
	if !e.NoQuery {
		s.wait(1)
	}
}

func (s *session) cancelled(claude.PromptTrace) { s.wait(-1) }

// wait adds n to the number of waiting prompts.
func (s *session) wait(n int) {
	s.queued += int64(n)
	s.waiting.Add(s.root.ctx, int64(n))
}

func (s *session) turnBegun(e claude.TurnBeginTrace) {
	attrs := []attribute.KeyValue{
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIProviderNameAnthropic, semconv.GenAIAgentName(s.agent),
		attribute.Bool("claude.turn.prompted", len(e.Prompts) > 0),
	}
	attrs = add(attrs, semconv.GenAIConversationIDKey, e.SessionID)
	attrs = add(attrs, semconv.GenAIRequestModelKey, e.Model)
	attrs = add(attrs, "claude.turn.id", e.ID)
	attrs = append(attrs, s.messageAttribute(semconv.GenAIInputMessagesKey, "user", func() string { return promptsText(e.Prompts) })...)
	s.turn = s.begin(s.root.ctx, "invoke_agent "+s.agent, e.At, attrs, s.linked(e.Prompts))
	s.root.span.SetAttributes(add(nil, semconv.GenAIConversationIDKey, e.SessionID)...)
	s.prompts = len(e.Prompts)
	if s.prompts > 0 {
		s.wait(-s.prompts)
		s.queue.Record(s.turn.ctx, e.Waited.Seconds())
	}
}

// linked returns links to the spans of a turn's prompts.
func (s *session) linked(prompts []claude.PromptTrace) trace.SpanStartOption {
	var links []trace.Link
	for _, p := range prompts {
		from := trace.SpanContextFromContext(p.Context)
		if from.IsValid() && !from.Equal(s.caller) {
			links = append(links, trace.Link{SpanContext: from})
		}
	}
	return trace.WithLinks(links...)
}

func (s *session) firstTokenCame(e claude.FirstTokenTrace) {
	d := e.SincePrompt
	if d == 0 {
		d = e.Duration
	}
	s.turn.span.AddEvent("claude.first_token", trace.WithTimestamp(e.At))
	s.firstToken.Record(s.turn.ctx, d.Seconds())
}

func (s *session) retried(e claude.APIRetryTrace) {
	attrs := []attribute.KeyValue{attribute.Int64("http.response.status_code", e.Retry.ErrorStatus), semconv.ErrorTypeKey.String(string(e.Retry.Error))}
	s.retries.Add(s.root.ctx, 1, metric.WithAttributes(attrs...))
	attrs = append(attrs, attribute.Int64("claude.retry.attempt", e.Retry.Attempt), attribute.Float64("claude.retry.delay", e.Retry.RetryDelayMS/1000))
	trace.SpanFromContext(s.current()).AddEvent("claude.api_retry", trace.WithTimestamp(e.At), trace.WithAttributes(attrs...))
}

func (s *session) turnEnded(e claude.TurnEndTrace) {
	kind, text := failure(e.Err), errorText(e.Err)
	if m := e.Result; m != nil {
		s.turn.span.SetAttributes(
			attribute.String("claude.turn.subtype", string(m.Subtype)),
			attribute.String("claude.turn.terminal_reason", string(m.TerminalReason)),
			attribute.Int64("claude.turn.steps", m.NumTurns),
			attribute.Float64("claude.turn.cost", e.CostUSD),
		)
		s.turn.span.SetAttributes(s.messageAttribute(semconv.GenAIOutputMessagesKey, "assistant", m.Text)...)
		if m.IsError {
			kind, text = resultType(m), m.Text()
		}
	}
	s.wait(s.prompts - len(e.Prompts)) // prompts that joined the running turn
	s.turnDuration(e, kind)
	s.spend(s.turn.ctx, e)
	s.end(s.turn, e.End, kind, text)
	s.turn = open{}
}

func (s *session) turnDuration(e claude.TurnEndTrace, kind string) {
	s.bridge.turn.Record(s.turn.ctx, e.Duration().Seconds(), metric.WithAttributes(semconv.GenAIAgentName(s.agent)), failed(kind))
}

// generated records a finished span for each answer: answers are reported when they are
// complete.
func (s *session) generated(e claude.GenerationTrace) {
	attrs := []attribute.KeyValue{semconv.GenAIOperationNameChat, semconv.GenAIProviderNameAnthropic, semconv.GenAIRequestModel(e.Model), semconv.GenAIResponseModel(e.Model)}
	attrs = add(attrs, semconv.GenAIResponseIDKey, e.ID)
	attrs = add(attrs, "claude.request_id", e.RequestID)
	if e.StopReason != "" {
		attrs = append(attrs, semconv.GenAIResponseFinishReasons(e.StopReason))
	}
	attrs = append(attrs, usage(e)...)
	if !e.FirstToken.IsZero() {
		attrs = append(attrs, attribute.Float64("gen_ai.response.time_to_first_chunk", e.FirstToken.Sub(e.Begin).Seconds()))
	}
	attrs = append(attrs, s.messageAttribute(semconv.GenAIOutputMessagesKey, "assistant", func() string { return answerText(e.Messages) })...)
	ctx := s.inside(e.ParentToolUseID)
	span := s.begin(ctx, "chat "+e.Model, e.Begin, attrs, trace.WithSpanKind(trace.SpanKindClient))
	s.end(span, e.End, string(e.Err), answerText(e.Messages))
	s.chat.Record(span.ctx, e.Duration().Seconds(),
		metric.WithAttributes(semconv.GenAIOperationNameChat, semconv.GenAIProviderNameAnthropic, semconv.GenAIRequestModel(e.Model)), failed(string(e.Err)))
}

// usage returns the token attributes of an answer. Tokens read from or written to the cache
// count as input. It omits output tokens if the stream has only the number at the start.
func usage(e claude.GenerationTrace) []attribute.KeyValue {
	u := e.Usage
	if u == nil || e.Err != "" {
		return nil
	}
	attrs := []attribute.KeyValue{
		semconv.GenAIUsageInputTokens(int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens)),
		semconv.GenAIUsageCacheReadInputTokens(int(u.CacheReadInputTokens)),
		semconv.GenAIUsageCacheCreationInputTokens(int(u.CacheCreationInputTokens)),
	}
	if !e.Partial {
		attrs = append(attrs, semconv.GenAIUsageOutputTokens(int(u.OutputTokens)))
	}
	return attrs
}

// add appends an attribute unless its value is empty.
func add(attrs []attribute.KeyValue, key attribute.Key, value string) []attribute.KeyValue {
	if value == "" {
		return attrs
	}
	return append(attrs, key.String(value))
}
