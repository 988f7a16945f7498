package session

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/agent/event"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// spanTexts describes spans: name, parent, attributes and the reason of a failure.
func spanTexts(all tracetest.SpanStubs) (list []string) {
	names := map[string]string{}
	for _, s := range all {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range all {
		var attrs []string
		for _, a := range s.Attributes {
			attrs = append(attrs, string(a.Key)+"="+a.Value.Emit())
		}
		slices.Sort(attrs)
		parent := s.Parent.SpanID().String()
		list = append(list, strings.TrimSpace(s.Name+" < "+cmp.Or(names[parent], parent)+" ["+strings.Join(attrs, " ")+"] "+s.Status.Description))
	}
	slices.Sort(list)
	return list
}

// TestTurnTrace checks that for every kind of end of a turn or an input, no span stays open and none starts twice, and that every span has
// its parent and its attributes.
func TestTurnTrace(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tr := newTurnTrace(NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)), "test"), "s")
	a, b, c := input{ID: "a", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, input{ID: "b"}, input{ID: "c"}
	for _, in := range []input{a, b, c} {
		tr.accepted(in)
	}
	tr.observe(&event.ToolStart{ToolUseID: "early", Name: "Bash"}) // no turn is running
	if ctx := tr.within(t.Context()); ctx != t.Context() {
		t.Error("the context has the span of a turn before the first")
	}
	tr.sent(a, "sim", false)
	if got := trace.SpanFromContext(tr.within(t.Context())); got != tr.turn {
		t.Errorf("the context has the span %v, want that of the turn", got)
	}
	tr.sent(b, "sim", true) // it joins the turn
	for range 2 {
		tr.observe(&event.ToolStart{ToolUseID: "t1", Name: "Bash"})
		tr.observe(&event.AssistantMessage{Blocks: []event.IndexedBlock{{Block: event.Content{Type: "tool_use", ToolUseID: "t1", Name: "Bash"}}, {Block: event.Content{Type: "text"}}}})
		tr.observe(&event.PermissionRequest{RequestID: "p", ToolUseID: "t1", ToolName: "Bash"})
		tr.observe(&event.PermissionResolved{RequestID: "p", Behavior: "allow"})
		tr.observe(&event.AssistantMessage{Header: event.Header{ParentToolUseID: "t1"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "server_tool_use", ToolUseID: "t3", Name: "Read"}}}})
		tr.observe(&event.ToolComplete{ToolUseID: "t3"})
		tr.observe(&event.ToolComplete{ToolUseID: "t1", IsError: true})
	}
	tr.observe(&event.QuestionRequest{RequestID: "q"})
	tr.observe(&event.QuestionRequest{RequestID: "q2"})
	tr.observe(&event.QuestionResolved{RequestID: "q2", Action: "decline"})
	tr.observe(&event.ToolStart{ToolUseID: "t2", Name: strings.Repeat("ä", 100)})
	tr.ended("agent_ended")
	tr.ended("agent_ended")
	for _, end := range []*event.ResultMessage{{}, {IsError: true, Subtype: "error_max_turns"}} {
		tr.sent(input{ID: "later"}, "sim", false)
		tr.observe(end)
	}
	tr.stop()
	long, tool, none := strings.Repeat("ä", 50), "gen_ai.operation.name=execute_tool gen_ai.tool.call.id=", "0000000000000000"
	want := []string{
		"execute_tool " + long + " < parley.turn [error.type=unfinished " + tool + "t2 gen_ai.tool.name=" + long + " parley.session.id=s] unfinished",
		"execute_tool Bash < parley.turn [error.type=tool_error " + tool + "t1 gen_ai.tool.name=Bash parley.session.id=s] tool_error",
		"execute_tool Read < execute_tool Bash [" + tool + "t3 gen_ai.tool.name=Read parley.session.id=s]",
		"parley.permission < execute_tool Bash [gen_ai.tool.name=Bash parley.outcome=allow parley.session.id=s]",
		"parley.question < parley.turn [error.type=unfinished parley.session.id=s] unfinished",
		"parley.question < parley.turn [parley.outcome=decline parley.session.id=s]",
		"parley.queue < " + none + " [error.type=stopped parley.session.id=s parley.turn.id=c] stopped",
		"parley.queue < " + none + " [parley.session.id=s parley.turn.id=b]",
		"parley.queue < b7ad6b7169203331 [parley.session.id=s parley.turn.id=a]",
		"parley.turn < " + none + " [error.type=error_max_turns parley.provider=sim parley.session.id=s parley.turn.id=later] error_max_turns",
		"parley.turn < " + none + " [parley.provider=sim parley.session.id=s parley.turn.id=later]",
		"parley.turn < b7ad6b7169203331 [error.type=agent_ended parley.provider=sim parley.session.id=s parley.turn.id=a] agent_ended",
	}
	slices.Sort(want)
	if diff := gocmp.Diff(want, spanTexts(exporter.GetSpans())); diff != "" {
		t.Errorf("the spans (-want +got):\n%s", diff)
	}
}
