package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestTurnTrace checks that for every kind of end of a turn or an input, no span stays open and none starts twice.
func TestTurnTrace(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tr := newTurnTrace(NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)), "test"), "s")
	a, b, c := input{ID: "a", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, input{ID: "b"}, input{ID: "c"}
	for _, in := range []input{a, b, c} {
		tr.accepted(in)
	}
	tr.observe(&event.ToolStart{ToolUseID: "early", Name: "Bash"}) // no turn is running
	tr.sent(a, "sim", false)
	tr.sent(b, "sim", true) // it joins the turn
	for range 2 {
		tr.observe(&event.ToolStart{ToolUseID: "t1", Name: "Bash"})
		tr.observe(&event.AssistantMessage{Blocks: []event.IndexedBlock{{Block: event.Content{Type: "tool_use", ToolUseID: "t1", Name: "Bash"}}, {Block: event.Content{Type: "text"}}}})
		tr.observe(&event.ToolComplete{ToolUseID: "t1", IsError: true})
	}
	tr.observe(&event.QuestionRequest{RequestID: "q"})
	tr.observe(&event.ToolStart{ToolUseID: "t2", Name: strings.Repeat("ä", 100)})
	tr.ended("agent_ended")
	tr.ended("agent_ended")
	tr.stop()
	var got []string
	for _, s := range exporter.GetSpans() {
		got = append(got, s.Name+" "+s.Status.Description)
	}
	slices.Sort(got)
	want := []string{"execute_tool " + strings.Repeat("ä", 50) + " unfinished", "execute_tool Bash tool_error", "parley.question unfinished", "parley.queue ", "parley.queue ", "parley.queue stopped", "parley.turn agent_ended"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the spans are %q, want %q", got, want)
	}
}
