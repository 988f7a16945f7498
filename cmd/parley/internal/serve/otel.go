package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudeotel"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/otlp"
)

// traceCloseLimit limits the export of the last spans when the server ends.
const traceCloseLimit = 5 * time.Second

// tracing returns the tracer provider, or nil without --otel, and the function that closes it. The
// standard variables OTEL_* configure the endpoint, the service name and the sampling.
func (f *Settings) tracing(ctx context.Context, logger *slog.Logger) (trace.TracerProvider, func() error, error) {
	if !f.otel || os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, func() error { return nil }, nil
	}
	exporter, err := otlp.New(os.Getenv)
	if err != nil {
		return nil, nil, err
	}
	// Later values win: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the
	// defaults.
	described, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "parley"), attribute.String("service.version", f.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("spans were not exported", "err", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	return provider, func() error {
		bound, cancel := context.WithTimeout(context.Background(), traceCloseLimit)
		defer cancel()
		if err := provider.Shutdown(bound); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil // export errors must not fail the server
	}, nil
}

// traceAgents makes sessions of the Claude CLI create spans below the server's.
func traceAgents(providers []agent.Provider, provider trace.TracerProvider) {
	for _, p := range providers {
		if p, ok := p.(*claudeagent.Provider); ok && provider != nil {
			p.Options.Trace = claudeotel.Trace(claudeotel.WithTracerProvider(provider))
		}
	}
}
