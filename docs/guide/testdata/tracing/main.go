package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeotel"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"log"
)

func traced() *claude.Options {
	return &claude.Options{Trace: claudeotel.Trace()}
}

func withContent() *claude.Trace {
	redactor := claudetest.NewRedactor() // or any function that removes what must not be read
	return claudeotel.Trace(claudeotel.WithContent(redactor.Text))
}

func exportFromCLI(opts *claude.Options) {
	opts.Env = map[string]string{
		"CLAUDE_CODE_ENABLE_TELEMETRY":        "1",
		"CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
		"OTEL_TRACES_EXPORTER":                "otlp",
		"OTEL_EXPORTER_OTLP_ENDPOINT":         "http://localhost:4318",
		"OTEL_EXPORTER_OTLP_PROTOCOL":         "http/json",
	}
}

func main() {
	opts := traced()
	opts.Trace = &claude.Trace{
		FirstToken: func(t claude.FirstTokenTrace) { fmt.Println("first token after", t.SincePrompt) },
		TurnEnd:    func(t claude.TurnEndTrace) { fmt.Printf("the turn cost $%.4f\n", t.CostUSD) },
		Stall:      func(t claude.StallTrace) { log.Println(t.Err) },
	}
	if _, err := claude.Run(context.Background(), "Hello.", opts); err != nil {
		log.Fatal(err)
	}
}
