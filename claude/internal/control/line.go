package control

import (
	"encoding/json"
	"errors"
	"strings"
)

// quote is the JSON of a string, without escapes for HTML.
func quote(s string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

func requestLine(id string, request []byte) []byte {
	return concat([]byte(`{"request_id":`), quote(id), []byte(`,"type":"control_request","request":`), request, []byte(`}`))
}

func cancelLine(id string) []byte {
	return concat([]byte(`{"type":"control_cancel_request","request_id":`), quote(id), []byte(`}`))
}

// responseLine is the answer to the request id. Absent parts are left out: the
// CLI takes a null for a mistake.
func responseLine(id string, response []byte, err error) []byte {
	head := []byte(`{"type":"control_response","response":{"subtype":`)
	if err == nil {
		line := concat(head, []byte(`"success","request_id":`), quote(id))
		if len(response) > 0 && string(response) != "null" {
			line = concat(line, []byte(`,"response":`), response)
		}
		return append(line, `}}`...)
	}
	line := concat(head, []byte(`"error","request_id":`), quote(id), []byte(`,"error":`), quote(err.Error()))
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		line = concat(line, []byte(`,"error_code":`), quote(e.Code))
	}
	return append(line, `}}`...)
}

func concat(parts ...[]byte) []byte {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	out := make([]byte, 0, n+8)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
