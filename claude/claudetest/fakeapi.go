package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// FakeAPI is a scripted Anthropic Messages API on the loopback interface, with
// streaming. It drives the real CLI when ANTHROPIC_BASE_URL is its URL.
//
// A POST to /v1/messages with tools belongs to the main conversation and takes the next reply of
// the [Script]; after the last reply every answer is the text SCRIPT EXHAUSTED. Requests without
// tools (titles, classifiers), probes for a single token and /v1/messages/count_tokens are side
// requests: they get a default answer and take no reply, unless the script sets otherwise. Any HEAD
// request gets 200, any other request 404.
//
// Message ids are assigned when a message begins, also to side requests; an error, a reset and
// a client that hangs up before the message begins use no id.
//
// All methods are safe for concurrent use.
type FakeAPI struct {
	script Script
	url    string
	server *http.Server
	served chan struct{} // closed when the accept loop has ended
	conns  sync.WaitGroup
	close  func() error

	mu       sync.Mutex
	slots    []replySlot
	requests []APIRequest
	main     int           // number of requests of the main conversation
	changed  chan struct{} // closed and replaced when a request arrives
	messages int           // message ids given
	tools    int           // tool ids given
}

// replySlot is a reply of the script and the number of times it was taken.
type replySlot struct {
	reply Reply
	first int // index of its first repetition, counted over single replies
	times int
	used  int
}

// APIRequest is a request that a [FakeAPI] received, with credentials redacted. It is
// read-only.
type APIRequest struct {
	Method string
	Path   string // with the query
	// Header is the header of the request, with the values of credentials redacted.
	Header http.Header
	// Body is the unchanged body; nil for a request without a body.
	Body json.RawMessage
	// Side is true for requests outside the main conversation.
	Side bool
	// Reply is the index of the reply that the request took, or -1. A reply with Repeat n counts as n replies.
	Reply int
}

// NewFakeAPI starts a fake API on a free port of 127.0.0.1. It returns an error for an invalid
// script. The caller closes it and must not change the script before that.
func NewFakeAPI(script Script) (*FakeAPI, error) {
	if err := script.check(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("claudetest: %w", err)
	}
	a := &FakeAPI{
		script:  script,
		url:     "http://" + listener.Addr().String(),
		served:  make(chan struct{}),
		slots:   replySlots(script.Replies),
		changed: make(chan struct{}),
	}
	a.server = &http.Server{
		Handler:   http.HandlerFunc(a.serve),
		ConnState: a.countConn,
		// Many scripts break connections on purpose.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	a.close = sync.OnceValue(a.shutdown)
	go func() {
		defer close(a.served)
		_ = a.server.Serve(listener) // ends with http.ErrServerClosed
	}()
	return a, nil
}

// StartFakeAPI calls [NewFakeAPI] for a test: it fails the test if the API cannot be started,
// and closes the API when the test ends.
func StartFakeAPI(tb testing.TB, script Script) *FakeAPI {
	tb.Helper()
	a, err := NewFakeAPI(script)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := a.Close(); err != nil {
			tb.Error(err)
		}
	})
	return a
}

func replySlots(replies []Reply) []replySlot {
	slots := make([]replySlot, len(replies))
	first := 0
	for i, r := range replies {
		slots[i] = replySlot{reply: r, first: first, times: max(r.Repeat, 1)}
		first += slots[i].times
	}
	return slots
}

// URL returns the base URL of the API on the loopback interface, the value for
// ANTHROPIC_BASE_URL.
func (a *FakeAPI) URL() string { return a.url }

// Requests returns all requests that the API has received so far, in the order of their
// arrival.
func (a *FakeAPI) Requests() []APIRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// Unused returns the number of replies that no request took, where a reply with Repeat n
// counts as n.
func (a *FakeAPI) Unused() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, s := range a.slots {
		n += s.times - s.used
	}
	return n
}

// WaitRequests waits until n requests of the main conversation have arrived
// since the start. It ends early with the error of ctx, or with [net.ErrClosed]
// after Close.
func (a *FakeAPI) WaitRequests(ctx context.Context, n int) error {
	for {
		a.mu.Lock()
		main, changed := a.main, a.changed
		a.mu.Unlock()
		if main >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("claudetest: %d of %d requests arrived: %w", main, n, ctx.Err())
		case <-a.served:
			return fmt.Errorf("claudetest: %d of %d requests arrived: %w", main, n, net.ErrClosed)
		}
	}
}

// Close closes all connections, ends all delays and holds, and returns when all goroutines of
// the API have ended. Further calls have no effect.
func (a *FakeAPI) Close() error { return a.close() }

func (a *FakeAPI) shutdown() error {
	err := a.server.Close()
	// The accept loop counts connections: the count is complete only after its end.
	<-a.served
	a.conns.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("claudetest: %w", err)
	}
	return nil
}

// countConn is the server's ConnState hook. A handler runs on the goroutine of
// its connection, so that counting connections covers handlers.
func (a *FakeAPI) countConn(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		a.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		a.conns.Done()
	}
}
