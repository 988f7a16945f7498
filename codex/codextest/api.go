package codextest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// API is a scripted Responses API on the loopback interface. Its methods may be called from any
// goroutine.
type API struct {
	tb  testing.TB
	srv *httptest.Server

	mu       sync.Mutex
	scripts  []*script
	requests []*APIRequest
	missing  int
	closing  chan struct{}
}

// APIRequest is a request that the [API] received, with its headers and its body.
type APIRequest struct {
	Path string
	// Body is the JSON of the request. Its member input is the conversation.
	Body json.RawMessage
	// Header are the headers, with the thread in Thread-Id.
	Header http.Header
}

// script holds the replies to requests that contain a text, or that come from subagents, in order.
type script struct {
	match    string
	subagent bool
	replies  []Reply
}

// fits reports whether a request matches the script.
func (s *script) fits(r *http.Request, body []byte) bool {
	if s.subagent {
		return r.Header.Get("X-Openai-Subagent") != ""
	}
	return s.match == "" || strings.Contains(lastPrompt(body), s.match)
}

// NewAPI starts an API. It stops at the end of the test, which fails if a request found no reply.
func NewAPI(tb testing.TB) *API {
	a := &API{tb: tb, closing: make(chan struct{})}
	a.srv = httptest.NewServer(http.HandlerFunc(a.serve))
	tb.Cleanup(func() {
		close(a.closing)
		a.srv.CloseClientConnections()
		a.srv.Close()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.missing > 0 {
			tb.Errorf("codextest: %d requests to the API found no reply in the script", a.missing)
		}
	})
	return a
}

// URL returns the base address of the API for the configuration of a model provider.
func (a *API) URL() string { return a.srv.URL + "/v1" }

// Reply adds replies for all requests, in order. [API.ReplyTo] describes which script answers.
func (a *API) Reply(replies ...Reply) { a.ReplyTo("", replies...) }

// ReplyTo adds replies for requests with a text in the last prompt. Of the matching scripts, the
// last added one that has a reply left answers.
func (a *API) ReplyTo(match string, replies ...Reply) {
	a.add(&script{match: match}, replies)
}

// ReplyToSubagents adds replies for requests of subagents, which arrive concurrently with those of their parent.
func (a *API) ReplyToSubagents(replies ...Reply) {
	a.add(&script{subagent: true}, replies)
}

// add adds replies to the script for the same requests, and creates it if needed.
func (a *API) add(to *script, replies []Reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.scripts {
		if s.match == to.match && s.subagent == to.subagent {
			s.replies = append(s.replies, replies...)
			return
		}
	}
	to.replies = replies
	a.scripts = append(a.scripts, to)
}

// Requests returns the requests received so far, in order of arrival.
func (a *API) Requests() []*APIRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*APIRequest(nil), a.requests...)
}

// next records a request and takes its reply.
func (a *API) next(r *http.Request, body []byte) (Reply, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, &APIRequest{Path: r.URL.Path, Body: body, Header: r.Header})
	for i := len(a.scripts) - 1; i >= 0; i-- {
		s := a.scripts[i]
		if len(s.replies) == 0 || !s.fits(r, body) {
			continue
		}
		reply := s.replies[0]
		if !reply.Repeat {
			s.replies = s.replies[1:]
		}
		return reply, true
	}
	a.missing++
	return Reply{}, false
}

// lastPrompt returns the JSON of the last message in the user's role.
func lastPrompt(body []byte) string {
	var request struct {
		Input []json.RawMessage `json:"input"`
	}
	if json.Unmarshal(body, &request) != nil {
		return ""
	}
	for i := len(request.Input) - 1; i >= 0; i-- {
		var m struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(request.Input[i], &m) == nil && m.Role == "user" {
			return string(request.Input[i])
		}
	}
	return ""
}

func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/responses") {
		http.NotFound(w, r) // the catalogue of models; the program has a built-in one
		return
	}
	reply, ok := a.next(r, body)
	if reply.Do != nil {
		reply.Do()
	}
	switch {
	case !ok:
		http.Error(w, `{"error":{"message":"codextest: the script has no reply"}}`, http.StatusBadRequest)
	case reply.Status != 0:
		for k, v := range reply.Header {
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
	default:
		a.stream(w, r, reply)
	}
}

// stream sends the events of a reply.
func (a *API) stream(w http.ResponseWriter, r *http.Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for _, e := range reply.Events {
		if e.Wait != nil {
			select {
			case <-e.Wait:
			case <-r.Context().Done():
				return
			case <-a.closing:
				return
			}
			continue
		}
		if e.Drop {
			panic(http.ErrAbortHandler) // breaks the connection
		}
		data, err := json.Marshal(e.Data)
		if err != nil {
			a.tb.Errorf("codextest: an event: %v", err)
			return
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Data["type"], data)
		if flush() != nil {
			return
		}
	}
}
