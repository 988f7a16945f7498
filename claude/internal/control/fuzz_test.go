package control

import (
	"context"
	"encoding/json"
	"testing"
)

// FuzzDeliver delivers lines of a CLI. Every valid request with an id is answered once, with JSON, and Deliver never blocks.
func FuzzDeliver(f *testing.F) {
	for _, line := range []string{
		`{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash"}}`,
		`{"type":"control_request","request_id":"1"}`, `{"type":"control_request","request":{}}`, `{"request_id":7,"request":[]}`,
		`{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{}}}`,
		`{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"e"}}`,
		`{"type":"control_cancel_request","request_id":"1"}`, `{`, ``, `null`,
	} {
		for _, typ := range []string{"control_request", "control_response", "control_cancel_request"} {
			f.Add(typ, line)
		}
	}
	f.Fuzz(func(t *testing.T, typ, line string) {
		lines := make(chan []byte, 4)
		m := New(Options{
			Send: func(_ context.Context, line []byte) error {
				lines <- line
				return nil
			},
			Handle:  func(context.Context, Request) ([]byte, error) { return []byte(`{}`), nil },
			OnPanic: func(_ Request, value any, _ []byte) { t.Errorf("panic: %v", value) },
		})
		err := m.Deliver(typ, line)
		m.Wait()
		if err != nil && json.Valid([]byte(line)) && line[0] == '{' {
			t.Fatalf("%q: %v; want not (err != nil && json.Valid([]byte(line)) && line[0] == '{')", line, err)
		}
		if n := len(lines); n > 1 || n == 1 && typ != "control_request" {
			t.Fatalf("%q has %d answers", line, n)
		}
		if len(lines) == 1 {
			if answer := <-lines; !json.Valid(answer) {
				t.Fatalf("%q is answered by %q", line, answer)
			}
		}
	})
}
