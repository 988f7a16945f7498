package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Tool is a tool that runs in this process. Many servers may share it, and many goroutines may call
// it concurrently.
type Tool struct {
	def  *mcp.Tool
	call mcp.ToolHandler
}

// Name returns the name of the tool at its server. In Claude Code and its permission rules the name
// is mcp__server__name.
func (t Tool) Name() string { return t.def.Name }

// AddTo adds the tool to a server and replaces one with the same name. Connected clients are
// notified.
func (t Tool) AddTo(s *mcp.Server) { s.AddTool(t.def, t.call) }

// Definition returns the description of the tool for clients: its name, its description and the
// schema of its arguments. It is a shallow copy; the values it points to must not be modified.
func (t Tool) Definition() *mcp.Tool {
	def := *t.def
	return &def
}

// Call calls the tool without a server, for agents that do not use MCP for their tools, such as
// Codex. [CallInfo] returns info in the tool; it must not be nil. Invalid arguments, an error and a
// panic result in IsError.
func (t Tool) Call(ctx context.Context, info *Call, args json.RawMessage) *mcp.CallToolResult {
	ctx = context.WithValue(ctx, callKey{}, info)
	req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: t.def.Name, Arguments: args}}
	result, err := t.call(ctx, req)
	if err != nil {
		return toolError(err.Error())
	}
	return result
}

// NewTool creates a tool from a function. The schema of its input is inferred from In by
// [jsonschema.For], unless [InputSchema] sets one; calls with arguments that do not match the
// schema are rejected without calling f. In is a struct or a map, or, for unparsed arguments,
// [json.RawMessage] or another type that holds JSON text.
//
// The return value of f is converted by [Result]. An error or a panic becomes a result with
// isError, which the model sees.
//
// The ctx of f ends when the call is cancelled and when the client is closed; [CallInfo] describes
// the call. f may be called concurrently. Closing a client waits for its calls.
//
// NewTool panics if the schema of In is not an object, or is invalid.
func NewTool[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error), opts ...Option) Tool {
	def := &mcp.Tool{Name: name, Description: description}
	for _, set := range opts {
		set(def)
	}
	input, err := newToolInput[In](def)
	if err != nil {
		panic(fmt.Sprintf("mcptool: NewTool %q: %v", name, err))
	}
	call := func(ctx context.Context, req *mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		ctx = withCall(ctx, req)
		defer func() {
			if v := recover(); v != nil {
				reportPanic(ctx, v)
				result = toolPanic(name, v)
			}
		}()
		var in In
		if err := input.decode(req.Params.Arguments, &in); err != nil {
			return toolError("Input validation error: " + err.Error()), nil
		}
		out, err := f(ctx, in)
		if err != nil {
			return toolError(err.Error()), nil
		}
		return Result(out), nil
	}
	return Tool{def, call}
}

// toolInput converts arguments to the input of a tool.
type toolInput struct {
	schema *jsonschema.Resolved
}

// newToolInput also sets the schema of the definition if it is missing.
func newToolInput[In any](def *mcp.Tool) (*toolInput, error) {
	var schema *jsonschema.Schema
	switch t := reflect.TypeFor[In](); {
	case def.InputSchema != nil:
		data, err := json.Marshal(def.InputSchema)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &schema); err != nil {
			return nil, err
		}
		def.InputSchema = json.RawMessage(data)
	case isText(t) || t.Kind() == reflect.Interface:
		schema = &jsonschema.Schema{Type: "object"}
		def.InputSchema = schema
	default:
		var err error
		if schema, err = jsonschema.For[In](nil); err != nil {
			return nil, err
		}
		def.InputSchema = schema
	}
	if schema == nil || schema.Type != "object" {
		return nil, fmt.Errorf("the input is not an object")
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, err
	}
	return &toolInput{resolved}, nil
}

// isText reports whether t holds JSON text, like json.RawMessage.
func isText(t reflect.Type) bool {
	return (t.Kind() == reflect.String || t == reflect.TypeFor[json.RawMessage]()) && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// decode validates the arguments, adds defaults, and decodes them.
func (i *toolInput) decode(args json.RawMessage, dst any) error {
	if len(bytes.TrimSpace(args)) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	values := map[string]any{}
	if err := json.Unmarshal(args, &values); err != nil {
		return err
	}
	given := len(values)
	if err := i.schema.ApplyDefaults(&values); err != nil {
		return err
	}
	if err := i.schema.Validate(&values); err != nil {
		return err
	}
	if len(values) != given || hasDefaults(i.schema.Schema()) {
		filled, err := json.Marshal(values)
		if err != nil {
			return err
		}
		args = filled
	}
	return json.Unmarshal(args, dst)
}

// hasDefaults reports whether the defaults of a schema may have changed values below the top.
func hasDefaults(s *jsonschema.Schema) bool {
	for _, p := range s.Properties {
		if p.Default != nil || len(p.Properties) > 0 && hasDefaults(p) {
			return true
		}
	}
	return false
}

// Result returns the MCP result for the return value of a tool. A string becomes text, content
// blocks and a *mcp.CallToolResult are used unchanged, and nil is a result without content. Any
// other value becomes its JSON as text and, if that is an object, structured content as well.
func Result(out any) *mcp.CallToolResult {
	switch v := out.(type) {
	case nil:
		return &mcp.CallToolResult{Content: []mcp.Content{}}
	case string:
		return toolText(v)
	case []mcp.Content:
		return &mcp.CallToolResult{Content: v}
	case mcp.Content:
		return &mcp.CallToolResult{Content: []mcp.Content{v}}
	case *mcp.CallToolResult:
		if v == nil {
			return &mcp.CallToolResult{Content: []mcp.Content{}}
		}
		return v
	}
	text, err := jsonwire.Marshal(out)
	if err != nil {
		return toolError("the result cannot be encoded: " + err.Error())
	}
	result := toolText(string(text))
	if text[0] == '{' {
		result.StructuredContent = json.RawMessage(text)
	}
	return result
}

func toolText(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func toolError(text string) *mcp.CallToolResult {
	result := toolText(text)
	result.IsError = true
	return result
}

func toolPanic(name string, value any) *mcp.CallToolResult {
	return toolError(fmt.Sprintf("the tool %s panicked: %v", name, value))
}

// panicReporter is the context key of the function that WithPanicReport sets.
type panicReporter struct{}

// WithPanicReport returns a context in which report is called with the value and the stack
// of every panic of a tool.
func WithPanicReport(ctx context.Context, report func(value any, stack []byte)) context.Context {
	return context.WithValue(ctx, panicReporter{}, report)
}

// reportPanic reports a panic to the client of the call. It runs on the goroutine of the panic.
func reportPanic(ctx context.Context, value any) {
	if report, ok := ctx.Value(panicReporter{}).(func(value any, stack []byte)); ok {
		report(value, debug.Stack())
	}
}
