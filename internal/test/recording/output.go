package recording

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// CheckOutput compares sdk.jsonl with what the CLI wrote: each message that the official SDK
// gave its caller is a line of the output, decoded, in this order. Without an SDK it
// compares the types of the lines and the exit code.
func (r *Recording) CheckOutput() error {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(r.Processes)) {
		lines = append(lines, r.Processes[name].Stdout...)
	}
	if r.Caller == nil {
		return r.checkRaw(lines)
	}
	var values []any
	for _, line := range lines {
		if m, err := message.Decode([]byte(strings.TrimSpace(line))); err == nil {
			values = append(values, JSONValue(m.Raw()))
		}
	}
	for i, rec := range r.SDK {
		if rec.Kind != "message" {
			continue
		}
		want := JSONValue(rec.Message)
		if m, ok := want.(map[string]any); ok && m["subtype"] == "mirror_error" {
			continue // made by the SDK
		}
		n := slices.IndexFunc(values, func(v any) bool { return reflect.DeepEqual(v, want) })
		if n < 0 {
			return fmt.Errorf("sdk.jsonl, line %d: not in the CLI's output, or not in this order: %.200s", i+1, rec.Message)
		}
		values = values[n+1:]
	}
	return nil
}

// rawType is the type of a line, or of the record that the driver made of it.
type rawType struct{ Type, Subtype string }

func (r *Recording) checkRaw(lines []string) error {
	var got, want []rawType
	for _, line := range lines {
		var l struct {
			rawType
			Request, Response rawType
		}
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		switch l.Type {
		case "control_request":
			l.Subtype = l.Request.Subtype
		case "control_response":
			l.Subtype = l.Response.Subtype
		}
		got = append(got, l.rawType)
	}
	for _, rec := range r.SDK {
		switch rec.Kind {
		case "raw_out":
			want = append(want, rawType{rec.Type, rec.Subtype})
		case "raw_exit":
			if exit := r.Processes["."].Exit; rec.Code != nil && exit.Signal == nil && *rec.Code != exit.Code {
				return fmt.Errorf("sdk.jsonl: exit code %d, exit.json has %d", *rec.Code, exit.Code)
			}
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("sdk.jsonl: the types of the lines are %v, those of the output are %v", want, got)
	}
	return nil
}
