package otlp

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// object is a JSON object of the protocol.
type object map[string]any

// request returns an ExportTraceServiceRequest: spans by resource and scope. All spans of a
// process have the same resource.
func request(spans []sdktrace.ReadOnlySpan) object {
	var order []instrumentation.Scope
	scopes := map[instrumentation.Scope][]object{}
	for _, s := range spans {
		scope := s.InstrumentationScope()
		if scopes[scope] == nil {
			order = append(order, scope)
		}
		scopes[scope] = append(scopes[scope], span(s))
	}
	var list []object
	for _, scope := range order {
		list = append(list, object{"scope": object{"name": scope.Name, "version": scope.Version}, "schemaUrl": scope.SchemaURL, "spans": scopes[scope]})
	}
	resource := spans[0].Resource()
	return object{"resourceSpans": []object{{
		"resource": object{"attributes": attributes(resource.Attributes())}, "schemaUrl": resource.SchemaURL(), "scopeSpans": list,
	}}}
}

// statuses maps the API's status codes to the protocol's numbers.
var statuses = map[codes.Code]int{codes.Unset: 0, codes.Ok: 1, codes.Error: 2}

func span(s sdktrace.ReadOnlySpan) object {
	context := s.SpanContext()
	o := object{
		"traceId": context.TraceID().String(), "spanId": context.SpanID().String(), "name": s.Name(), "kind": kind(s.SpanKind()),
		"flags": int(context.TraceFlags()), "startTimeUnixNano": nanoseconds(s.StartTime()), "endTimeUnixNano": nanoseconds(s.EndTime()),
		"attributes": attributes(s.Attributes()), "status": object{"code": statuses[s.Status().Code], "message": s.Status().Description},
		"droppedAttributesCount": s.DroppedAttributes(), "droppedEventsCount": s.DroppedEvents(), "droppedLinksCount": s.DroppedLinks(),
	}
	if state := context.TraceState().String(); state != "" {
		o["traceState"] = state
	}
	if s.Parent().SpanID().IsValid() {
		o["parentSpanId"] = s.Parent().SpanID().String()
	}
	var events, links []object
	for _, e := range s.Events() {
		events = append(events, object{"timeUnixNano": nanoseconds(e.Time), "name": e.Name, "attributes": attributes(e.Attributes)})
	}
	for _, l := range s.Links() {
		links = append(links, object{"traceId": l.SpanContext.TraceID().String(), "spanId": l.SpanContext.SpanID().String(), "attributes": attributes(l.Attributes)})
	}
	if events != nil {
		o["events"] = events
	}
	if links != nil {
		o["links"] = links
	}
	return o
}

// kind returns the protocol's number of a kind, which equals the API's: internal is 1 in
// both.
func kind(k trace.SpanKind) int { return int(k) }

// nanoseconds returns a time in the protocol's form: a 64-bit number is a string in JSON.
func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributes(all []attribute.KeyValue) []object {
	list := []object{}
	for _, kv := range all {
		list = append(list, object{"key": string(kv.Key), "value": value(kv.Value)})
	}
	return list
}

func value(v attribute.Value) object {
	switch v.Type() {
	case attribute.BOOL:
		return object{"boolValue": v.AsBool()}
	case attribute.INT64:
		return object{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return object{"doubleValue": v.AsFloat64()}
	case attribute.STRING:
		return object{"stringValue": v.AsString()}
	case attribute.BOOLSLICE:
		return array(v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		return array(v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		return array(v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.STRINGSLICE:
		return array(v.AsStringSlice(), attribute.StringValue)
	}
	return object{"stringValue": v.Emit()}
}

func array[T any](all []T, wrap func(T) attribute.Value) object {
	values := []object{}
	for _, v := range all {
		values = append(values, value(wrap(v)))
	}
	return object{"arrayValue": object{"values": values}}
}
