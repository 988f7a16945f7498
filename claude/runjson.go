package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// StructuredOutputError is returned when a successful turn has no answer of the requested
// type. It holds the model's answer.
type StructuredOutputError struct {
	Result *message.Result
	Text   string // the original answer
	Err    error  // the reason why it is not a value of the type
}

func (e *StructuredOutputError) Error() string { return "claude: structured output: " + e.Err.Error() }

// Unwrap returns the reason why the output is not a value of the type, mostly an error of
// package json.
func (e *StructuredOutputError) Unwrap() error { return e.Err }

var errNoStructuredOutput = errors.New("the result has none")

// RunJSON runs one prompt and returns its answer as a value of type T. The schema is
// inferred from T, with the descriptions of its jsonschema tags, unless [Options.JSONSchema]
// is set; the answer is checked against it. The error of a successful turn without such an
// answer is a *[StructuredOutputError].
func RunJSON[T any](ctx context.Context, prompt string, opts *Options) (T, *message.Result, error) {
	var value T
	with := *opts.Clone()
	shape, err := shapeOf[T](with.JSONSchema)
	if err != nil {
		return value, nil, err
	}
	with.JSONSchema = shape.text
	result, err := Run(ctx, prompt, &with)
	if err != nil {
		return value, result, err
	}
	if err := shape.decode(result.StructuredOutput, &value); err != nil {
		return value, result, &StructuredOutputError{Result: result, Text: result.Result, Err: err}
	}
	return value, result, nil
}

// shape is the schema of an answer.
type shape struct {
	text    message.JSON
	schema  *jsonschema.Resolved
	wrapped bool // T is not an object, so it is the member "value" of one
}

func shapeOf[T any](given message.JSON) (*shape, error) {
	schema, wrapped := &jsonschema.Schema{}, false
	if given != "" {
		if err := given.Decode(schema); err != nil {
			return nil, fmt.Errorf("claude: JSONSchema: %w", err)
		}
	} else {
		inferred, err := jsonschema.For[T](nil)
		if err != nil {
			return nil, fmt.Errorf("claude: a schema for %T: %w", *new(T), err)
		}
		schema = inferred
		// The answer is the input of a tool, which must be an object.
		if wrapped = schema.Type != "object"; wrapped {
			schema = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"value": inferred}, Required: []string{"value"}}
		}
	}
	text, err := jsonwire.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("claude: JSONSchema: %w", err)
	}
	if given != "" {
		text = given.Bytes() // unchanged
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("claude: JSONSchema: %w", err)
	}
	return &shape{text: message.JSON(text), schema: resolved, wrapped: wrapped}, nil
}

func (s *shape) decode(output message.JSON, dst any) error {
	if output == "" || output == "null" {
		return errNoStructuredOutput
	}
	if err := s.schema.Validate(output.Value()); err != nil {
		return err
	}
	if s.wrapped {
		var w struct {
			Value json.RawMessage `json:"value"`
		}
		if err := output.Decode(&w); err != nil {
			return err
		}
		return json.Unmarshal(w.Value, dst)
	}
	return output.Decode(dst)
}
