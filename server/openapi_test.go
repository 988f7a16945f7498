package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi/datamodel"
)

// TestOpenAPI_valid has a validator check the document against the specification of OpenAPI,
// and checks that the validator finds a fault.
func TestOpenAPI_valid(t *testing.T) {
	document, err := OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text []byte) []string {
		t.Helper()
		quiet := &datamodel.DocumentConfiguration{Logger: slog.New(slog.DiscardHandler)}
		doc, err := libopenapi.NewDocumentWithConfiguration(text, quiet)
		if err != nil {
			return []string{err.Error()}
		}
		v, errs := validator.NewValidator(doc)
		if len(errs) > 0 {
			return []string{errs[0].Error()}
		}
		var faults []string
		_, found := v.ValidateDocument()
		for _, e := range found {
			faults = append(faults, e.Error())
			for _, s := range e.SchemaValidationErrors {
				faults = append(faults, s.Location+": "+s.Reason)
			}
		}
		return faults
	}
	for _, fault := range validate(document) {
		t.Error(fault)
	}
	for from, to := range map[string]string{
		`"in":"query"`:          `"in":"nowhere"`,
		`"responses":{`:         `"answers":{`,
		`"version":"1"`:         `"version":1`,
		`"paths":{"/v1/`:        `"paths":{"v1/`,
		`#/components/schemas/`: `#/components/nothing/`,
	} {
		bad := bytes.Replace(document, []byte(from), []byte(to), 1)
		if bytes.Equal(bad, document) {
			t.Fatalf("the document does not have %s", from)
		}
		if len(validate(bad)) == 0 {
			t.Errorf("with %s in place of %s the document counts as valid", to, from)
		}
	}
}

// TestOpenAPI_types checks that the document has the types that front ends are generated from.
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
