package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/schema"
	"github.com/seed7221b0f9/parley/server/api"
)

// object is a JSON object.
type object = map[string]any

// OpenAPI returns the OpenAPI 3.1 document of the HTTP API, generated from the table of methods. It
// is served as /v1/openapi.json.
func OpenAPI() ([]byte, error) { return openAPIDocument() }

var openAPIDocument = sync.OnceValues(makeOpenAPI)

func openAPI(w http.ResponseWriter, _ *http.Request) error {
	data, err := openAPIDocument()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // a disconnected client is not a fault
	return nil
}

func makeOpenAPI() ([]byte, error) {
	schemas, err := componentSchemas()
	if err != nil {
		return nil, err
	}
	paths := object{
		"/v1/login":                object{"post": loginOperation()},
		"/v1/sessions/{id}/events": object{"get": eventsOperation()},
	}
	for _, m := range methods {
		paths["/v1/"+m.name] = object{"post": methodOperation(m)}
	}
	text, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": "Parley", "version": "1", "description": "Sessions of coding agents. The same methods are JSON-RPC 2.0 on the WebSocket /v1/ws."},
		"paths":   paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
			"responses": object{"Error": object{"description": "The call failed; reason has the cause.",
				"content": jsonContent(object{"type": "object", "required": []string{"error"}, "properties": object{"error": ref("ErrorObject")}})}},
		},
		"security": []object{{"bearer": []string{}}},
	})
	if err != nil {
		return nil, err
	}
	// Definitions refer to each other at the location of JSON Schema.
	return []byte(strings.ReplaceAll(string(text), `"#/$defs/`, `"#/components/schemas/`)), nil
}

// componentSchemas returns the types of the service by name.
func componentSchemas() (map[string]*jsonschema.Schema, error) {
	b := &schema.Builder{}
	b.Plain(reflect.TypeFor[event.JSON](), &jsonschema.Schema{})
	b.Plain(reflect.TypeFor[json.RawMessage](), &jsonschema.Schema{})
	b.Plain(reflect.TypeFor[event.Text](), &jsonschema.Schema{Type: "string"})
	for _, s := range event.Shapes() {
		b.Name(s.Type, s.Name, s.Form)
		b.Type(s.Type, s.Types...)
	}
	b.Union(reflect.TypeFor[event.Prompt](), map[string]reflect.Type{
		"permission_request": reflect.TypeFor[event.PermissionRequest](), "question_request": reflect.TypeFor[event.QuestionRequest](),
	})
	b.Add(reflect.TypeFor[api.Envelope](), reflect.TypeFor[api.ErrorObject]())
	for _, m := range methods {
		b.Add(m.params, m.result)
	}
	s, err := b.Schema("Service")
	if err != nil {
		return nil, fmt.Errorf("server: the OpenAPI document: %w", err)
	}
	return s.Defs, nil
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func jsonContent(s any) object { return object{"application/json": object{"schema": s}} }

func responses(ok object) object {
	return object{"200": ok, "default": object{"$ref": "#/components/responses/Error"}}
}

func methodOperation(m *method) object {
	group, _, _ := strings.Cut(m.name, ".")
	return object{
		"operationId": m.name, "tags": []string{group}, "summary": m.name,
		"description": "Needs the role " + m.role.String() + ".",
		"requestBody": object{"required": true, "content": jsonContent(ref(m.params.Name()))},
		"responses":   responses(object{"description": "The result.", "content": jsonContent(ref(m.result.Name()))}),
	}
}

func loginOperation() object {
	return object{
		"operationId": "login", "summary": "Exchange a token for a cookie", "security": []object{},
		"requestBody": object{"required": true, "content": jsonContent(object{"type": "object", "required": []string{"token"},
			"properties": object{"token": object{"type": "string"}}})},
		"responses": responses(object{"description": "The cookie is set.", "content": jsonContent(ref("Empty"))}),
	}
}

func eventsOperation() object {
	query := func(name, typ, description string) object {
		return object{"name": name, "in": "query", "description": description, "schema": object{"type": typ}}
	}
	return object{
		"operationId": "events", "summary": "The messages of a session",
		"description": "A stream of server-sent events; with wait, a poll. The first event has the position at which the stream begins.",
		"parameters": []object{
			{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}},
			query("after", "string", "A cursor, epoch:seq.sub; the header Last-Event-ID counts before it."),
			query("wait", "number", "Poll: how many seconds to wait for a message, at most 60."),
			query(event.CapabilityOutputDelta, "string", "1 for the progress of tools."),
			{"name": "Last-Event-ID", "in": "header", "schema": object{"type": "string"}},
		},
		"responses": responses(object{"description": "Envelopes, or the answer to a poll.", "content": object{
			"text/event-stream": object{"schema": object{"type": "string"}},
			"application/json": object{"schema": object{"type": "object", "required": []string{"cursor", "state", "events"}, "properties": object{
				"cursor": ref("Cursor"), "state": object{"type": "string"}, "resync": object{"type": "boolean"}, "snapshot": object{},
				"events": object{"type": "array", "items": ref("Envelope")},
			}}},
		}}),
	}
}
