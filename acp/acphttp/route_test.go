package acphttp

import (
	"fmt"
	"net/http"
	"testing"
)

// The bytes of a client's requests that wait for their answers are limited; one request may exceed the limit, and an answer
// makes room.
func TestRoutes_bytes(t *testing.T) {
	line := make([]byte, maxPendingBytes/2)
	var known routes
	request := func(i, size int) *message {
		return &message{line: line[:size], id: fmt.Sprintf(`"%d"`, i), hasID: true, named: true, method: "x"}
	}
	for i, size := range []int{len(line), len(line)} {
		if r := known.admit(request(i, size), ""); r != nil {
			t.Fatalf("request %d of %d bytes is refused: %+v", i, size, r)
		}
	}
	if r := known.admit(request(2, 1), ""); r == nil || r.status != http.StatusTooManyRequests {
		t.Errorf("a request beyond the limit is refused with %+v, want status 429", r)
	}
	known.route(&message{id: `"0"`, hasID: true})
	if r := known.admit(request(3, 1), ""); r != nil {
		t.Errorf("after an answer a request is refused with %+v, want it accepted", r)
	}
	known = routes{}
	if r := known.admit(&message{line: make([]byte, maxPendingBytes+1), id: "1", hasID: true, named: true}, ""); r != nil {
		t.Errorf("one large request is refused with %+v, want it accepted", r)
	}
}
