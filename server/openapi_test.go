package server

import (
	"bytes"
	"log/slog"
	"testing"

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
