package claudeotel_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/claude/claudeotel"
)

// collector is an in-process collector of spans and measurements.
type collector struct {
	t        *testing.T
	exporter *tracetest.InMemoryExporter
	tracers  *sdktrace.TracerProvider
	reader   *sdkmetric.ManualReader
	meters   *sdkmetric.MeterProvider
}

func newCollector(t *testing.T) *collector {
	c := &collector{t: t, exporter: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	c.tracers = sdktrace.NewTracerProvider(sdktrace.WithSyncer(c.exporter))
	c.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(c.reader))
	return c
}

func (c *collector) options() []claudeotel.Option {
	return []claudeotel.Option{claudeotel.WithTracerProvider(c.tracers), claudeotel.WithMeterProvider(c.meters)}
}

// spans returns the exported spans in the order of their start.
func (c *collector) spans() []sdktrace.ReadOnlySpan {
	spans := c.exporter.GetSpans().Snapshots()
	slices.SortStableFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	return spans
}

// find returns the only span with a name.
func (c *collector) find(name string) sdktrace.ReadOnlySpan {
	c.t.Helper()
	var found []sdktrace.ReadOnlySpan
	for _, s := range c.spans() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("%d spans %s in\n%s", len(found), name, c.tree())
	}
	return found[0]
}

// tree formats the spans as a tree with the attributes in show.
func (c *collector) tree(show ...attribute.Key) string {
	var b strings.Builder
	spans := c.spans()
	var draw func(parent trace.SpanID, depth int)
	draw = func(parent trace.SpanID, depth int) {
		for _, s := range spans {
			if s.Parent().SpanID() != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("  ", depth), s.Name(), notes(s, show))
			draw(s.SpanContext().SpanID(), depth+1)
		}
	}
	draw(trace.SpanID{}, 0)
	return b.String()
}

func notes(s sdktrace.ReadOnlySpan, show []attribute.Key) string {
	var b strings.Builder
	attrs := s.Attributes()
	slices.SortFunc(attrs, func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	for _, a := range attrs {
		if slices.Contains(show, a.Key) {
			fmt.Fprintf(&b, " %s=%s", a.Key, text(a.Value))
		}
	}
	for range s.Links() {
		b.WriteString(" linked")
	}
	if s.Status().Code == codes.Error {
		fmt.Fprintf(&b, " error %q", s.Status().Description)
	}
	return b.String()
}

// text formats a value, rounding away the last digits of a sum.
func text(v attribute.Value) string {
	if v.Type() == attribute.FLOAT64 {
		return fmt.Sprintf("%.6g", v.AsFloat64())
	}
	return v.Emit()
}

// covered checks that every span is inside its parent's time, and that all have the same
// trace.
func (c *collector) covered() {
	c.t.Helper()
	byID := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	for _, s := range c.spans() {
		byID[s.SpanContext().SpanID()] = s
	}
	for _, s := range c.spans() {
		if s.EndTime().Before(s.StartTime()) {
			c.t.Errorf("%s ends before it begins", s.Name())
		}
		p := byID[s.Parent().SpanID()]
		if p == nil {
			continue
		}
		if s.StartTime().Before(p.StartTime()) || s.EndTime().After(p.EndTime()) || s.SpanContext().TraceID() != p.SpanContext().TraceID() {
			c.t.Errorf("%s, %v to %v, is not inside of %s, %v to %v", s.Name(), s.StartTime(), s.EndTime(), p.Name(), p.StartTime(), p.EndTime())
		}
	}
}

// measured returns the sums of counters and the counts of histograms, by name and
// attributes.
func (c *collector) measured() map[string]float64 {
	c.t.Helper()
	var all metricdata.ResourceMetrics
	if err := c.reader.Collect(context.Background(), &all); err != nil {
		c.t.Fatal(err)
	}
	got := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			each(m, func(set attribute.Set, v float64) {
				var pairs []string
				for _, a := range set.ToSlice() {
					pairs = append(pairs, string(a.Key)+"="+a.Value.Emit())
				}
				got[strings.TrimSpace(m.Name+" "+strings.Join(pairs, " "))] = v
			})
		}
	}
	return got
}

func each(m metricdata.Metrics, f func(attribute.Set, float64)) {
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Value))
		}
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, p.Value)
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Sum))
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			f(p.Attributes, float64(p.Count))
		}
	}
}
