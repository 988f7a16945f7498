package server

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

// aside is a large text in a request to a tool. A mark replaces it while the request is decoded, because decoding would copy
// it many times. The zero value has no text.
type aside struct {
	mark []byte     // a JSON string
	text event.JSON // shares the memory of the request
}

// setAside replaces the prompt of a tool request by a mark, if it is large.
func setAside(request []byte) (short []byte, a aside) {
	if len(request) < largeText {
		return request, aside{}
	}
	var r struct {
		Params struct {
			Arguments map[string]shared `json:"arguments"`
		} `json:"params"`
	}
	if json.Unmarshal(request, &r) != nil {
		return request, aside{}
	}
	for _, name := range []string{"text", "prompt"} {
		value := r.Params.Arguments[name]
		var text literal
		if len(value) < largeText || text.UnmarshalJSON(value) != nil {
			continue
		}
		a = aside{mark: []byte(event.Quote("large " + random.Hex(16))), text: event.JSON(text)}
		at := cap(request) - cap(value) // value is a part of request
		return slices.Concat(request[:at], a.mark, request[at+len(value):]), a
	}
	return request, aside{}
}

// insert puts the text back in the parameters of a call.
func (a aside) insert(params []byte) []byte {
	before, after, found := bytes.Cut(params, a.mark)
	if len(a.mark) == 0 || !found {
		return params
	}
	whole := make([]byte, 0, len(before)+len(a.text)+len(after))
	return append(append(append(whole, before...), a.text...), after...)
}
