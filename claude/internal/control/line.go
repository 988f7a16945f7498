package control

import (
	"errors"
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// quote returns the JSON of a string, without escapes for HTML.
func quote(s string) []byte {
	text, _ := jsonwire.Marshal(s) // cannot fail for strings
	return text
}

func requestLine(id string, request []byte) []byte {
	return slices.Concat([]byte(`{"request_id":`), quote(id), []byte(`,"type":"control_request","request":`), request, []byte(`}`))
}

func cancelLine(id string) []byte {
	return slices.Concat([]byte(`{"type":"control_cancel_request","request_id":`), quote(id), []byte(`}`))
}

// responseLine returns the answer to the request id. Absent parts are omitted, because
// the CLI rejects null.
func responseLine(id string, response []byte, err error) []byte {
	head := []byte(`{"type":"control_response","response":{"subtype":`)
	if err == nil {
		line := slices.Concat(head, []byte(`"success","request_id":`), quote(id))
		if len(response) > 0 && string(response) != "null" {
			line = slices.Concat(line, []byte(`,"response":`), response)
		}
		return append(line, `}}`...)
	}
	line := slices.Concat(head, []byte(`"error","request_id":`), quote(id), []byte(`,"error":`), quote(err.Error()))
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		line = slices.Concat(line, []byte(`,"error_code":`), quote(e.Code))
	}
	return append(line, `}}`...)
}
