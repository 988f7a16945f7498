package claudetest

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

const (
	// requestID is the value of the request-id header of every answer.
	requestID = "req_fake"
	// maxBody is well above the API's limit of 32 MB.
	maxBody = 64 << 20
)

// serve answers one request. Its context, which bounds all waits, ends when the client
// hangs up or the API is closed.
func (a *FakeAPI) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	w.Header().Set("Request-Id", requestID)
	if err != nil {
		writeJSON(w, http.StatusRequestEntityTooLarge, errorBody("request_too_large", err.Error()))
		return
	}
	post := req.Method == http.MethodPost
	switch {
	case req.Method == http.MethodHead:
		a.record(req, body, true, -1)
		w.WriteHeader(http.StatusOK)
	case post && req.URL.Path == "/v1/messages/count_tokens":
		a.record(req, body, true, -1)
		writeJSON(w, http.StatusOK, json.RawMessage(`{"input_tokens":10}`))
	case post && req.URL.Path == "/v1/messages":
		a.serveMessage(w, req, body)
	default:
		a.record(req, body, true, -1)
		writeJSON(w, http.StatusNotFound, errorBody("not_found_error", "Not found"))
	}
}

func (a *FakeAPI) serveMessage(w http.ResponseWriter, req *http.Request, body []byte) {
	var q apiAsk
	if err := json.Unmarshal(body, &q); err != nil {
		a.record(req, body, true, -1)
		writeJSON(w, http.StatusBadRequest, errorBody("invalid_request_error", err.Error()))
		return
	}
	r := a.admit(req, body, q)
	ctx := req.Context()
	if !deadline.Pause(ctx, r.DelayMS) || r.Hold == HoldBefore && !r.hold(ctx) {
		return
	}
	if r.Reset {
		panic(http.ErrAbortHandler) // the server then closes the connection
	}
	setHeaders(w, r.Headers)
	if r.Error != nil {
		r.Error.write(w)
		return
	}
	m := a.begin(r, q)
	if q.Stream {
		r.stream(ctx, w, m.events())
		return
	}
	// The hold in the middle of a stream comes before an answer that is not streamed.
	if r.Hold == HoldMid && !r.hold(ctx) {
		return
	}
	writeJSON(w, http.StatusOK, m.whole())
}

// admit records a message request and selects its reply atomically, so that replies follow
// the order of the requests.
func (a *FakeAPI) admit(req *http.Request, body []byte, q apiAsk) Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	side := a.script.side(q)
	reply, index := a.take(q, side)
	a.note(req, body, side, index)
	return reply
}

func (a *FakeAPI) record(req *http.Request, body []byte, side bool, reply int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(req, body, side, reply)
}

// note records a request. The caller holds a.mu.
func (a *FakeAPI) note(req *http.Request, body []byte, side bool, reply int) {
	if len(body) == 0 {
		body = nil
	}
	a.requests = append(a.requests, APIRequest{
		Method: req.Method, Path: req.URL.RequestURI(), Header: redact(req.Header),
		Body: body, Side: side, Reply: reply,
	})
	if !side {
		a.main++
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

// redact returns a copy of the header without the values of credentials: failing tests
// print requests, and a client may send a real key to this API by mistake.
func redact(header http.Header) http.Header {
	header = header.Clone()
	for _, name := range []string{"X-Api-Key", "Authorization", "Proxy-Authorization", "Cookie"} {
		for i := range header[name] {
			header[name][i] = "REDACTED"
		}
	}
	return header
}

func (e *APIError) write(w http.ResponseWriter) {
	setHeaders(w, e.Headers)
	body := e.Body
	if body == nil {
		body = errorBody("api_error", "Internal server error")
	}
	var text string
	if json.Unmarshal(body, &text) != nil {
		writeJSON(w, e.Status, body)
		return
	}
	writeBody(w, e.Status, "text/plain; charset=utf-8", []byte(text))
}

func writeJSON(w http.ResponseWriter, status int, body json.RawMessage) {
	writeBody(w, status, "application/json", body)
}

// writeBody writes an answer. It ignores errors, because the client may hang up.
func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	setDefault(w, "Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func setHeaders(w http.ResponseWriter, headers map[string]string) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
}

// setDefault sets a header that the script has not set.
func setDefault(w http.ResponseWriter, name, value string) {
	if w.Header().Get(name) == "" {
		w.Header().Set(name, value)
	}
}
