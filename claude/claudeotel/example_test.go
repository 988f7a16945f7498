package claudeotel_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeotel"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// Every session with these options is traced. The option is not needed with a global
// tracer provider.
func ExampleTrace() {
	exporter := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
	opts := &claude.Options{Trace: claudeotel.Trace(claudeotel.WithTracerProvider(provider))}
	opts.Spawner = claudetest.InProcess(claudetest.Program(func(cli *claudetest.CLI) int { // in place of the CLI
		cli.Handshake()
		cli.Prompt()
		cli.Turn("4")
		<-cli.InputEnd()
		return 0
	}))
	if _, err := claude.Run(context.Background(), "What is 2 + 2?", opts); err != nil {
		log.Fatal(err)
	}
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// claude.start
	// chat claude-opus-5-5
	// invoke_agent claude
	// claude.session
}
