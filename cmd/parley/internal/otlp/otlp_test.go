package otlp_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/otlp"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) { e2e.VerifyMain(m) }

// collector responds with these statuses in turn, and then accepts all requests.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	headers  []http.Header
	paths    []string
	bodies   []string
}

func newCollector(t *testing.T, statuses ...int) *collector {
	c := &collector{statuses: statuses}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body) // the body shows a fault
	}
	data, _ := io.ReadAll(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paths, c.headers, c.bodies = append(c.paths, r.URL.Path), append(c.headers, r.Header), append(c.bodies, string(data))
	if len(c.statuses) > 0 {
		if c.statuses[0] == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(c.statuses[0])
		c.statuses = c.statuses[1:]
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// export exports two spans, one of them the parent of the other.
func export(t *testing.T, e *otlp.Exporter) error {
	t.Helper()
	var failed error
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporterFunc(func(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
		if err := e.ExportSpans(ctx, spans); err != nil {
			failed = err
		}
		return nil
	})), sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "test"))))
	tracer := tp.Tracer("scope", trace.WithInstrumentationVersion("1"))
	ctx, outer := tracer.Start(context.Background(), "outer", trace.WithSpanKind(trace.SpanKindServer))
	_, inner := tracer.Start(ctx, "inner", trace.WithAttributes(attribute.Int("n", 7), attribute.Bool("b", true), attribute.Float64("f", 0.5), attribute.StringSlice("l", []string{"x", "y"})),
		trace.WithLinks(trace.Link{SpanContext: outer.SpanContext()}))
	inner.AddEvent("happened")
	inner.SetStatus(codes.Error, "why")
	inner.End()
	outer.End()
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	return failed
}

type exporterFunc func(context.Context, []sdktrace.ReadOnlySpan) error

func (f exporterFunc) ExportSpans(ctx context.Context, s []sdktrace.ReadOnlySpan) error {
	return f(ctx, s)
}
func (f exporterFunc) Shutdown(context.Context) error { return nil }

// received holds the checked members of the protocol.
type received struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []keyValue }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []struct {
				TraceID, SpanID, ParentSpanID, Name string
				Kind                                int
				StartTimeUnixNano, EndTimeUnixNano  string
				Attributes                          []keyValue
				Events                              []struct{ Name, TimeUnixNano string }
				Links                               []struct{ TraceID, SpanID string }
				Status                              struct {
					Code    int
					Message string
				}
			}
		}
	}
}

type keyValue struct {
	Key   string
	Value map[string]any
}

func TestExport(t *testing.T) {
	c := newCollector(t)
	e, err := otlp.New(env("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL+"/", "OTEL_EXPORTER_OTLP_HEADERS", "api-key=s%20ecret, x=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "Authorization=Bearer%20abc",
		"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "OTEL_EXPORTER_OTLP_TIMEOUT", "60000"))
	if err != nil {
		t.Fatal(err)
	}
	if err := export(t, e); err != nil {
		t.Fatal(err)
	}
	if len(c.bodies) != 2 || c.paths[0] != "/v1/traces" || c.headers[0].Get("Authorization") != "Bearer abc" || c.headers[0].Get("Api-Key") != "" || c.headers[0].Get("Content-Type") != "application/json" {
		t.Fatalf("requests to %q with %v", c.paths, c.headers)
	}
	var in, out received
	if json.Unmarshal([]byte(c.bodies[0]), &in) != nil || json.Unmarshal([]byte(c.bodies[1]), &out) != nil {
		t.Fatalf("the bodies are %q", c.bodies)
	}
	scope := in.ResourceSpans[0].ScopeSpans[0]
	s, outer := scope.Spans[0], out.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if scope.Scope.Name != "scope" || scope.Scope.Version != "1" || fmt.Sprint(in.ResourceSpans[0].Resource.Attributes) != "[{service.name map[stringValue:test]}]" {
		t.Errorf("the scope is %+v, the resource %v", scope.Scope, in.ResourceSpans[0].Resource)
	}
	if s.Name != "inner" || s.ParentSpanID != outer.SpanID || s.TraceID != outer.TraceID || len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.Kind != 1 || outer.Kind != 2 || outer.ParentSpanID != "" {
		t.Errorf("the spans are %+v in %+v", s, outer)
	}
	if s.Status.Code != 2 || s.Status.Message != "why" || len(s.Events) != 1 || s.Events[0].Name != "happened" || len(s.Links) != 1 || s.Links[0].SpanID != outer.SpanID || s.StartTimeUnixNano > s.EndTimeUnixNano || len(s.StartTimeUnixNano) != 19 {
		t.Errorf("the span is %+v", s)
	}
	if got := fmt.Sprint(s.Attributes); got != "[{n map[intValue:7]} {b map[boolValue:true]} {f map[doubleValue:0.5]} {l map[arrayValue:map[values:[map[stringValue:x] map[stringValue:y]]]]}]" {
		t.Errorf("the attributes are %s", got)
	}
}

// Requests to an overloaded collector are retried, refused requests are not.
func TestExport_again(t *testing.T) {
	for _, tt := range []struct {
		statuses []int
		requests int
		err      string
	}{
		{[]int{503, 429}, 4, ""}, // two spans, retried twice
		{[]int{400}, 2, "status 400"},
		{[]int{302}, 2, "status 302"}, // a redirect could take the headers elsewhere
	} {
		c := newCollector(t, tt.statuses...)
		e, err := otlp.New(env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.URL+"/own/path", "OTEL_EXPORTER_OTLP_TIMEOUT", "60000"))
		if err != nil {
			t.Fatal(err)
		}
		err = export(t, e)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || len(c.paths) != tt.requests || c.paths[0] != "/own/path" {
			t.Errorf("after %v: %v, requests to %q", tt.statuses, err, c.paths)
		}
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Exporting to an unreachable collector blocks no longer than the time limit.
func TestExport_away(t *testing.T) {
	c := newCollector(t)
	c.Close()
	e, err := otlp.New(env("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL, "OTEL_EXPORTER_OTLP_TIMEOUT", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := export(t, e); err == nil {
		t.Error("spans were sent to nothing")
	}
}

func TestNew_refuses(t *testing.T) {
	for _, pairs := range [][]string{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zip"}, {"OTEL_EXPORTER_OTLP_HEADERS", "s3cret"}, {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist"},
	} {
		if _, err := otlp.New(env(pairs...)); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v; want err != nil and not strings.Contains(err.Error(), \"s3cret\")", pairs, err)
		}
	}
	if _, err := otlp.New(env()); err != nil {
		t.Error(err)
	}
}

// TestByteOrderMark reads the certificate authorities of a file with a byte order mark at its start.
func TestByteOrderMark(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, append([]byte("\ufeff"), ca...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := otlp.New(env("OTEL_EXPORTER_OTLP_CERTIFICATE", file)); err != nil {
		t.Error(err)
	}
}
