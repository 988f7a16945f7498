package acphttp

import "net/http"

// connection is the key of the connection's own stream. Session ids of clients are not empty.
const connection = ""

// routes determines the stream of a message, and whether a client's message is accepted. It is
// pure.
type routes struct {
	pending map[string]waiting // unanswered requests of the client, by id
	asked   map[string]string  // streams of the agent's requests, by id
	bytes   int                // of pending
}

// waiting counts the unanswered requests with one id.
type waiting struct {
	stream string
	count  int
	bytes  int
}

// The limits of the client's unanswered requests, and of the agent's requests with a known stream.
const (
	maxPending      = 256
	maxPendingBytes = 64 << 20
	maxAsked        = 1024
)

// admit accepts or rejects a message of the client with the given session header. It records
// accepted requests until they are answered.
func (t *routes) admit(m *message, header string) *refusal {
	if m.isAnswer() {
		return t.answered(m, header)
	}
	if header == "" && (m.scoped || sessionMethods[m.method]) {
		return refuse(http.StatusBadRequest, "Missing Acp-Session-Id")
	}
	if header != "" && m.scoped && header != m.session {
		return refuse(http.StatusBadRequest, "Mismatched Acp-Session-Id")
	}
	return t.expect(m, header)
}

// expect records a request of the client.
func (t *routes) expect(m *message, stream string) *refusal {
	switch {
	case len(stream) > maxID:
		return refuse(http.StatusBadRequest, "Session ID exceeds maxIdLength (%d)", maxID)
	case len(m.id) > maxID+2: // including its quotes
		return refuse(http.StatusBadRequest, "Request ID exceeds maxIdLength (%d)", maxID)
	case !m.isRequest():
		return nil
	case len(t.pending) >= maxPending || t.bytes > 0 && t.bytes+len(m.line) > maxPendingBytes:
		return refuse(http.StatusTooManyRequests, "Too many requests wait for their answers")
	}
	if m.method == "session/load" { // its answer arrives on another stream than the replay
		stream = connection
	}
	if t.pending == nil {
		t.pending = map[string]waiting{}
	}
	w := t.pending[m.id]
	t.pending[m.id] = waiting{stream, w.count + 1, w.bytes + len(m.line)}
	t.bytes += len(m.line)
	return nil
}

// answered checks that an answer of the client has the header of the stream on which the request was
// sent.
func (t *routes) answered(m *message, header string) *refusal {
	stream, known := t.asked[m.id]
	switch {
	case known && stream != connection && header == "":
		return refuse(http.StatusBadRequest, "Missing Acp-Session-Id")
	case known && stream != connection && header != stream:
		return refuse(http.StatusBadRequest, "Mismatched Acp-Session-Id")
	}
	delete(t.asked, m.id)
	return nil
}

// route returns the stream of a message of the agent.
func (t *routes) route(m *message) string {
	if m.isAnswer() {
		w, ok := t.pending[m.id]
		if !ok {
			return connection
		}
		if w.count--; w.count == 0 {
			delete(t.pending, m.id)
			t.bytes -= w.bytes
		} else {
			t.pending[m.id] = w
		}
		return w.stream
	}
	if m.isRequest() {
		if t.asked == nil || len(t.asked) >= maxAsked {
			t.asked = map[string]string{}
		}
		t.asked[m.id] = m.session
	}
	return m.session
}
