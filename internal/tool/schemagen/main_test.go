package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

func resolved(t *testing.T, build func() (*jsonschema.Schema, error)) *jsonschema.Resolved {
	t.Helper()
	s, err := build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func validate(t *testing.T, r *jsonschema.Resolved, text []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("%.300s: %v", text, err)
	}
}

// The output of the packages conforms to the schemas, for a dialogue of each kind.
func TestSchemas_hold(t *testing.T) {
	messages, conversation := resolved(t, Messages), resolved(t, Conversation)
	for _, name := range []string{
		"agent-forward-text", "api-truncated", "partial-thinking", "partial-tool", "unknown-content-block", "cli-garbage-stdout",
		"api-prompt-too-long-2nd", "background-tasks-control", "interrupt-stream", "api-429-forever", "structured-ok",
	} {
		var c claudeevent.Converter
		var conv event.Conversation
		to := event.NewEncoder("00000000", 0, event.CapabilityOutputDelta)
		show := func(events []event.Event) {
			for _, ev := range events {
				conv.Apply(ev)
				all, err := to.Messages(ev)
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range all {
					validate(t, messages, text)
				}
			}
		}
		for _, m := range recorded(t, name) {
			show(c.Add(m))
		}
		show(c.Ask("r1", `{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{}}`))
		show(c.Ask("r2", `{"subtype":"elicitation","message":"?"}`))
		show(c.Answer("r1", `{"behavior":"allow"}`, "me"))
		show(c.Emit(&event.QueueChanged{Items: []event.QueueItem{{ID: "q", Content: `"x"`}}}))
		show(c.End(nil))
		text, err := json.Marshal(&conv)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, conversation, text)
	}
}

func recorded(t *testing.T, name string) []message.Message {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "wire", name, "stdout.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []message.Message
	begin := 0
	for i, c := range data {
		if c != '\n' {
			continue
		}
		if m, err := message.Decode(data[begin:i]); err == nil {
			all = append(all, m)
		}
		begin = i + 1
	}
	return all
}

// The schemas refuse invalid values.
func TestSchemas_refuse(t *testing.T) {
	messages := resolved(t, Messages)
	for _, text := range []string{
		`{}`, `{"type":"newer"}`, `{"type":"user","provider":"claude"}`, `{"type":"error","message":7,"provider":"claude"}`,
		`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}},"provider":"claude"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if messages.Validate(v) == nil {
			t.Errorf("%s is taken for a message", text)
		}
	}
}

// The committed files equal the generated ones.
func TestSchemas_committed(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir); err != nil {
		t.Fatal(err)
	}
	for name := range schemas {
		file := name + ".schema.json"
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "web", "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("web/schema/%s is not up to date: run make generate", file)
		}
	}
}
