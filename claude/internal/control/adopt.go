package control

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Hold queues requests of the CLI until Release. It is used while lines of an earlier process are
// read: requests that were answered or withdrawn in them are never handled.
func (m *Mux) Hold() { m.update(func(s *state) { s.held = true }) }

// Release handles the queued requests in the order of their ids, and later requests at once.
func (m *Mux) Release() {
	m.update(func(s *state) {
		var waiting []*incoming
		for _, in := range s.handling {
			if in.cancel == nil {
				waiting = append(waiting, in)
			}
		}
		slices.SortFunc(waiting, func(a, b *incoming) int { return strings.Compare(a.req.ID, b.req.ID) })
		for _, in := range waiting {
			m.begin(in)
		}
		s.held = false
	})
}

// Wrote handles a line that another process has written to the CLI, while requests are held: an answer closes its
// request. For the request initialize begins is true, and then is called with the answer.
func (m *Mux) Wrote(line string, then func(Ended)) (begins bool, err error) {
	switch jsonwire.NewDecoder(line).Peek("type") {
	case "control_response":
		r, err := decodeResponse(line)
		if err != nil {
			return false, err
		}
		m.update(func(s *state) {
			if in := s.handling[r.RequestID]; in != nil && in.cancel == nil {
				delete(s.handling, r.RequestID)
			}
		})
	case "control_request":
		var msg struct {
			RequestID string  `json:"request_id"`
			Request   rawText `json:"request"`
		}
		if err := jsonwire.Unmarshal(line, &msg); err != nil {
			return false, err
		}
		if begins = jsonwire.NewDecoder(string(msg.Request)).Peek("subtype") == "initialize"; begins {
			m.update(func(s *state) { s.pending[msg.RequestID] = &call{done: make(chan struct{}), then: then} })
		}
	}
	return begins, nil
}

// AnswerID returns the id of the request that a line to the CLI answers, or "" if the line is not
// an answer.
func AnswerID(line string) string {
	if jsonwire.NewDecoder(line).Peek("type") != "control_response" {
		return ""
	}
	r, err := decodeResponse(line)
	if err != nil {
		return ""
	}
	return r.RequestID
}
