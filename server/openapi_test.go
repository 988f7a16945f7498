package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// openAPISchema returns the schema of 2022-10-07 that the OpenAPI Initiative publishes for its documents (Apache-2.0).
func openAPISchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "openapi-3.1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(text, schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// checkRefs checks that every reference in a value has a target in the document.
func checkRefs(document map[string]any, v any) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := checkRefs(document, e); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, e := range v {
			if ref, ok := e.(string); ok && name == "$ref" {
				var at any = document
				for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
					object, _ := at.(map[string]any)
					at = object[step]
				}
				if at == nil {
					return fmt.Errorf("%s has no target", ref)
				}
			}
			if err := checkRefs(document, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestOpenAPI_valid checks the document against the schema of OpenAPI and its references, and that
// both checks detect a fault.
func TestOpenAPI_valid(t *testing.T) {
	text, err := OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	schema := openAPISchema(t)
	validate := func(text []byte) error {
		var document map[string]any
		if err := json.Unmarshal(text, &document); err != nil {
			return err
		}
		if err := schema.Validate(document); err != nil {
			return err
		}
		return checkRefs(document, document)
	}
	if err := validate(text); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		`"in":"query"`:          `"in":"nowhere"`,
		`"responses":{`:         `"answers":{`,
		`"version":"1"`:         `"version":1`,
		`"paths":{"/v1/`:        `"paths":{"v1/`,
		`#/components/schemas/`: `#/components/nothing/`,
	} {
		bad := bytes.Replace(text, []byte(from), []byte(to), 1)
		if bytes.Equal(bad, text) {
			t.Fatalf("the document does not have %s", from)
		}
		if validate(bad) == nil {
			t.Errorf("with %s in place of %s the document counts as valid", to, from)
		}
	}
}

// TestOpenAPI_types checks that the document has the types from which front ends are generated.
func TestOpenAPI_types(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "web", "schema", "service.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var service struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(text, &service); err != nil {
		t.Fatal(err)
	}
	schemas, err := componentSchemas()
	if err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(schemas); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(service.Defs, got); diff != "" {
		t.Errorf("the types of the document (-web/schema +document):\n%s", diff)
	}
}
