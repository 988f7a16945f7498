package claudeotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"

	"github.com/seed7221b0f9/parley/claude"
)

// instruments holds the metric instruments.
type instruments struct {
	sessions   metric.Int64UpDownCounter
	start      metric.Float64Histogram
	waiting    metric.Int64UpDownCounter
	queue      metric.Float64Histogram
	firstToken metric.Float64Histogram
	turn       metric.Float64Histogram
	chat       metric.Float64Histogram
	usage      metric.Int64Histogram
	tokens     metric.Int64Counter
	cost       metric.Float64Counter
	tool       metric.Float64Histogram
	task       metric.Float64Histogram
	permission metric.Float64Histogram
	hook       metric.Float64Histogram
	control    metric.Float64Histogram
	retries    metric.Int64Counter
	stalls     metric.Int64Counter
	slow       metric.Int64Counter
}

// seconds are the bucket bounds of duration histograms, from a short hook to a long turn.
var seconds = metric.WithExplicitBucketBoundaries(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)

func (i *instruments) newInstruments(m metric.Meter) {
	seconds := func(name, what string) metric.Float64Histogram {
		return made(m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), seconds))
	}
	i.start = seconds("claude.start.duration", "From the start of the CLI to the end of the handshake.")
	i.queue = seconds("claude.turn.queue_time", "From sending a prompt to the begin of its turn.")
	i.firstToken = seconds("claude.turn.time_to_first_token", "From sending a prompt to the first piece of the answer.")
	i.turn = seconds("claude.turn.duration", "How long turns take.")
	i.chat = seconds("gen_ai.client.operation.duration", "How long answers of the model take.")
	i.tool = seconds("claude.tool.duration", "How long calls of tools take, waiting for permission included.")
	i.task = seconds("claude.task.duration", "How long subagents and other tasks take.")
	i.permission = seconds("claude.permission.wait", "How long callbacks that are asked for permission take.")
	i.hook = seconds("claude.hook.duration", "How long hooks of this process take.")
	i.control = seconds("claude.control.duration", "How long control requests take.")

	i.sessions = made(m.Int64UpDownCounter("claude.sessions", metric.WithUnit("{session}"), metric.WithDescription("Sessions that live.")))
	i.waiting = made(m.Int64UpDownCounter("claude.prompts.waiting", metric.WithUnit("{prompt}"), metric.WithDescription("Prompts without a started turn.")))
	i.usage = made(m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithDescription("Tokens of a turn, subagents included."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)))
	i.tokens = made(m.Int64Counter("claude.tokens", metric.WithUnit("{token}"), metric.WithDescription("Tokens, each counted once.")))
	i.cost = made(m.Float64Counter("claude.cost", metric.WithUnit("USD"), metric.WithDescription("The cost that the CLI reports.")))
	i.retries = made(m.Int64Counter("claude.api.retries", metric.WithUnit("{retry}"), metric.WithDescription("Requests to the API that failed and are sent again.")))
	i.stalls = made(m.Int64Counter("claude.stalls", metric.WithUnit("{stall}"), metric.WithDescription("Waits that were too long.")))
	i.slow = made(m.Int64Counter("claude.buffered", metric.WithUnit("{session}"), metric.WithDescription("Sessions whose reader was too slow.")))
}

// made returns an instrument. With an error the API returns a no-op instrument.
func made[I any](i I, err error) I {
	if err != nil {
		otel.Handle(err)
	}
	return i
}

// spend counts the usage of a turn. It uses the result, because the usage of answers can
// be incomplete.
func (i *instruments) spend(ctx context.Context, end claude.TurnEndTrace) {
	if len(end.ModelUsage) == 0 && end.CostUSD > 0 {
		i.cost.Add(ctx, end.CostUSD)
	}
	for model, u := range end.ModelUsage {
		name := semconv.GenAIResponseModelKey.String(model)
		i.cost.Add(ctx, u.CostUSD, metric.WithAttributes(name))
		for kind, n := range map[string]int64{"input": u.InputTokens, "output": u.OutputTokens, "cache_read": u.CacheReadInputTokens, "cache_creation": u.CacheCreationInputTokens} {
			i.tokens.Add(ctx, n, metric.WithAttributes(name, tokenType.String(kind)))
		}
		of := metric.WithAttributes(name, semconv.GenAIProviderNameAnthropic, semconv.GenAIOperationNameInvokeAgent)
		i.usage.Record(ctx, u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, of, metric.WithAttributes(tokenType.String("input")))
		i.usage.Record(ctx, u.OutputTokens, of, metric.WithAttributes(tokenType.String("output")))
	}
}

const tokenType = attribute.Key("gen_ai.token.type")
