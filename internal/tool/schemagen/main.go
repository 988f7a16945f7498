// Generate writes the JSON Schemas of the RPC messages, the service and the conversation, and the
// rows of the reference of methods. It is run by go generate:
//
//	go run ./internal/tool/schemagen web/schema docs/reference/methods.md
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/schema"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/api"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate <directory> <reference>")
		os.Exit(2)
	}
	if err := errors.Join(generate(os.Args[1]), reference(os.Args[2])); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, build := range schemas {
		s, err := build()
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, name+".schema.json"), s); err != nil {
			return err
		}
	}
	return nil
}

// schemas are the generated files.
var schemas = map[string]func() (*jsonschema.Schema, error){
	"rpc": Messages, "service": Service, "conversation": Conversation,
}

// builder returns a builder with the types that have a custom JSON form.
func builder() *schema.Builder {
	b := &schema.Builder{}
	b.Plain(reflect.TypeFor[event.JSON](), &jsonschema.Schema{})
	b.Plain(reflect.TypeFor[json.RawMessage](), &jsonschema.Schema{})
	b.Plain(reflect.TypeFor[event.Text](), &jsonschema.Schema{Type: "string"})
	b.Plain(reflect.TypeFor[event.State](), &jsonschema.Schema{Enum: []any{event.Streaming, event.Complete, event.Incomplete}})
	return b
}

// withEvents returns a builder with the events that other types contain, such as a prompt and the
// items of a conversation. Their messages have no blocks.
func withEvents() *schema.Builder {
	b := builder()
	inMemory := map[string]reflect.Type{"UserMessage": reflect.TypeFor[event.UserMessage](), "AssistantMessage": reflect.TypeFor[event.AssistantMessage]()}
	for _, s := range event.Shapes() {
		t := s.Type
		if other, ok := inMemory[s.Name]; ok {
			t = other
		}
		if s.Name == "Content" {
			b.Plain(t, object(map[string]*jsonschema.Schema{"content": {Type: "array"}}))
			continue
		}
		b.Name(t, s.Name, s.Form)
		b.Type(t, s.Types...)
	}
	b.Union(reflect.TypeFor[event.Prompt](), map[string]reflect.Type{
		"permission_request": reflect.TypeFor[event.PermissionRequest](), "question_request": reflect.TypeFor[event.QuestionRequest](),
	})
	return b
}

// Messages returns the schema of an RPC message.
func Messages() (*jsonschema.Schema, error) {
	b := builder()
	unions := map[reflect.Type]map[string]reflect.Type{}
	for _, s := range event.Shapes() {
		b.Name(s.Type, s.Name, s.Form)
		if s.Union == nil {
			continue
		}
		if unions[s.Union] == nil {
			unions[s.Union] = map[string]reflect.Type{}
			b.Name(s.Union, event.UnionName(s.Union), nil)
		}
		for _, name := range s.Types {
			unions[s.Union][name] = s.Type
		}
	}
	for t, variants := range unions {
		b.Union(t, variants)
	}
	return b.Schema("RpcMessage", reflect.TypeFor[event.Event]())
}

// Service returns the schema of an object with a member for each method, which has its parameters
// and its result, and of the envelope and the error.
func Service() (*jsonschema.Schema, error) {
	b := withEvents()
	b.Add(reflect.TypeFor[api.Envelope](), reflect.TypeFor[api.ErrorObject]())
	for _, m := range server.Methods() {
		b.Add(m.Params, m.Result)
	}
	s, err := b.Schema("Service")
	if err != nil {
		return nil, err
	}
	methods := map[string]*jsonschema.Schema{}
	for _, m := range server.Methods() {
		methods[m.Name] = object(map[string]*jsonschema.Schema{"params": schema.Ref(m.Params), "result": schema.Ref(m.Result)})
	}
	*s = jsonschema.Schema{Schema: s.Schema, Title: s.Title, Defs: s.Defs, Type: "object", Properties: map[string]*jsonschema.Schema{
		"envelope": schema.Ref(reflect.TypeFor[api.Envelope]()),
		"error":    schema.Ref(reflect.TypeFor[api.ErrorObject]()),
		"methods":  object(methods),
	}, Required: []string{"envelope", "error", "methods"}}
	return s, nil
}

// object returns an object that has all of the given members.
func object(members map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: members, Required: slices.Sorted(maps.Keys(members))}
}

// Conversation returns the schema of a folded conversation.
func Conversation() (*jsonschema.Schema, error) {
	return withEvents().Schema("FoldedConversation", reflect.TypeFor[event.Conversation]())
}

func write(name string, s *jsonschema.Schema) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return os.WriteFile(name, b.Bytes(), 0o644)
}
