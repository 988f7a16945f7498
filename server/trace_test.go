package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	otelcodes "go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

const (
	callerTrace = "0af7651916cd43dd8448eb211c80319c"
	callerSpan  = "b7ad6b7169203331"
	traceparent = "00-" + callerTrace + "-" + callerSpan + "-01"
)

// variable returns a variable of the newest agent, or "".
func (p *envProvider) variable(name string) string {
	for _, entry := range p.last() {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// spans are the exported spans.
type spans struct {
	t   *testing.T
	all tracetest.SpanStubs
}

func (s spans) named(name string) tracetest.SpanStub {
	s.t.Helper()
	for _, span := range s.all {
		if span.Name == name {
			return span
		}
	}
	var names []string
	for _, span := range s.all {
		names = append(names, span.Name)
	}
	s.t.Fatalf("there is no span %s among %q", name, names)
	return tracetest.SpanStub{}
}

// above returns the names of a span and its ancestors, up to the caller's span.
func (s spans) above(name string) string {
	s.t.Helper()
	span := s.named(name)
	path := span.Name
	for span.Parent.IsValid() {
		if span.SpanContext.TraceID().String() != callerTrace {
			return path + " in trace " + span.SpanContext.TraceID().String()
		}
		if span.Parent.SpanID().String() == callerSpan {
			return path + " < caller"
		}
		i := slices.IndexFunc(s.all, func(p tracetest.SpanStub) bool { return p.SpanContext.SpanID() == span.Parent.SpanID() })
		if i < 0 {
			return path + " < unknown"
		}
		span = s.all[i]
		path += " < " + span.Name
	}
	return path
}

// traced is a harness with a server that exports to memory.
type traced struct {
	*harness
	exporter *tracetest.InMemoryExporter
	agents   *envProvider
}

func newTraced(t *testing.T, on bool) *traced {
	r := &traced{exporter: tracetest.NewInMemoryExporter(), agents: &envProvider{}}
	r.harness = newHarness(t, func(o *Options) {
		if on {
			o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(r.exporter))
		}
		r.agents.Provider = &agenttest.Provider{}
		o.Providers = []agent.Provider{r.agents}
	})
	return r
}

// callTraced calls a method like an HTTP client with a trace.
func (r *traced) callTraced(method string, params, result any) {
	r.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		r.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.ctx(), http.MethodPost, r.url+"/v1/"+method, bytes.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + r.token}, "Content-Type": {"application/json"}, "Traceparent": {traceparent}}
	if status, _, data := r.do(req); status != http.StatusOK {
		r.Fatalf("%s: %d %s; want status == http.StatusOK", method, status, data)
	} else if err := json.Unmarshal(data, result); err != nil {
		r.Fatal(err)
	}
}

// finished stops the server and returns its spans.
func (r *traced) finished() spans {
	r.Helper()
	if err := r.stop(); err != nil {
		r.Fatal(err)
	}
	return spans{r.T, r.exporter.GetSpans()}
}

// TestTrace follows one trace from the request of a client to the tool of the agent.
func TestTrace(t *testing.T) {
	r := newTraced(t, true)
	var c api.ConnectResult
	r.callTraced("session.connect", api.ConnectParams{}, &c)
	id := c.SessionID
	w := r.watch(id)
	r.callTraced("session.query", api.QueryParams{SessionID: id, Text: "tool Bash"}, &api.Accepted{})
	w.state(session.RequiresAction)
	r.call("permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: r.history(id).Prompts[0].RequestID(), Behavior: "allow", Reason: "hush-hush"}, nil)
	w.results(1)
	w.stop()
	got := r.finished()
	for _, want := range []string{
		"session.query < caller", "parley.queue < session.query < caller", "parley.start < session.connect < caller", "parley.turn < session.query < caller",
		"execute_tool Bash < parley.turn < session.query < caller", "parley.permission < execute_tool Bash < parley.turn < session.query < caller",
	} {
		name, _, _ := strings.Cut(want, " <")
		if path := got.above(name); path != want {
			t.Errorf("the span is %q, want %q", path, want)
		}
	}
	if v := r.agents.variable("TRACEPARENT"); v != fmt.Sprintf("00-%s-%s-01", callerTrace, got.named("parley.start").SpanContext.SpanID()) {
		t.Errorf("the agent got the trace %q", v)
	}
	if span := got.named("session.query"); span.SpanKind != trace.SpanKindServer || span.Status.Code == otelcodes.Error {
		t.Errorf("the span of the request is %+v", span)
	}
	data, err := json.Marshal(got.all)
	if err != nil || bytes.Contains(data, []byte("hush-hush")) || bytes.Contains(data, []byte(r.token)) || !bytes.Contains(data, []byte(id)) {
		t.Errorf("the spans hold what they must not, or no session: %v", err)
	}
}

// TestTrace_socket uses the trace of each request of a socket, and records the reason of a failed turn.
func TestTrace_socket(t *testing.T) {
	r := newTraced(t, true)
	id := r.connect()
	w := r.watch(id)
	conn := r.dial(r.token).conn
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session.query","params":{"session_id":%q,"text":"fail"},"traceparent":%q}`, id, traceparent)
	if err := conn.Write(r.ctx(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
	w.until("the end of the turn", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == string(session.Idle) })
	r.refused(api.InvalidParams, "session.query", api.QueryParams{SessionID: id, Text: ""})
	w.stop()
	got := r.finished()
	if path := got.above("parley.turn"); path != "parley.turn < session.query < caller" {
		t.Errorf("the turn is %q", path)
	}
	if span := got.named("parley.turn"); span.Status.Code != otelcodes.Error {
		t.Errorf("the turn that failed is %+v", span.Status)
	}
	if !slices.ContainsFunc(got.all, func(s tracetest.SpanStub) bool {
		return s.Name == "session.query" && s.Status.Code == otelcodes.Error && s.Status.Description == string(api.InvalidParams)
	}) {
		t.Error("no span says why a request was refused")
	}
}

// TestTrace_off checks that a server without a tracer provider passes a caller's trace neither to
// the agent nor to the log.
func TestTrace_off(t *testing.T) {
	r := newTraced(t, false)
	id := r.connect()
	w := r.watch(id)
	r.callTraced("session.query", api.QueryParams{SessionID: id, Text: "auto Bash"}, &api.Accepted{})
	w.results(1)
	w.stop()
	if v := r.agents.variable("TRACEPARENT"); v != "" {
		t.Errorf("the agent got the trace %q", v)
	}
	if got := r.finished(); len(got.all) != 0 {
		t.Errorf("%d spans were made", len(got.all))
	}
}
