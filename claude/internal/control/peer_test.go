package control

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// peer is the CLI's side of a Mux: it records the written lines and can block the writer.
type peer struct {
	t   *testing.T
	mux *Mux

	mu    sync.Mutex
	lines []string
	gate  chan struct{} // writing waits for it unless nil
}

func newPeer(t *testing.T, handle Handler) *peer {
	p := &peer{t: t}
	p.mux = New(Options{Send: p.send, Handle: handle})
	return p
}

func (p *peer) send(ctx context.Context, line []byte) error {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, string(line))
	return nil
}

// hold blocks writing until the returned function is called.
func (p *peer) hold() (release func()) {
	gate := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = gate
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.gate = nil
		close(gate)
	}
}

// written waits until all goroutines are blocked and returns the lines so far. It must be
// called in a bubble.
func (p *peer) written() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// outcome is the result of a call.
type outcome struct {
	answer Answer
	err    error
}

// call starts a call. It returns the id of the written request, or "", and the channel of
// its outcome.
func (p *peer) call(ctx context.Context, subtype string) (id string, ended chan outcome) {
	p.t.Helper()
	ended = make(chan outcome, 1)
	before := len(p.written())
	go func() {
		a, err := p.mux.Call(ctx, fmt.Appendf(nil, `{"subtype":%q}`, subtype))
		ended <- outcome{a, err}
	}()
	lines := p.written()
	if len(lines) == before {
		return "", ended
	}
	return requestID(p.t, lines[before]), ended
}

func (p *peer) succeed(id, body string) {
	if body != "" {
		body = `,"response":` + body
	}
	p.mux.Deliver("control_response", fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q%s}}`, id, body))
}

func (p *peer) refuse(id, rest string) {
	p.mux.Deliver("control_response", fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q%s}}`, id, rest))
}

func (p *peer) ask(id, subtype string) {
	p.mux.Deliver("control_request", fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":%q,"x":1}}`, id, subtype))
}

func (p *peer) takeBack(id string) {
	p.mux.Deliver("control_cancel_request", fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`, id))
}

// requestID returns the id of a request that was written.
func requestID(t *testing.T, line string) string {
	t.Helper()
	var r struct {
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.RequestID == "" {
		t.Fatalf("a line without a request_id: %s (%v)", line, err)
	}
	return r.RequestID
}

// pending fails the test if the call has ended.
func pending(t *testing.T, ended chan outcome) {
	t.Helper()
	synctest.Wait()
	select {
	case o := <-ended:
		t.Fatalf("the call has ended with %+v", o)
	default:
	}
}

// now fails the test if the call has not ended.
func now(t *testing.T, ended chan outcome) outcome {
	t.Helper()
	synctest.Wait()
	select {
	case o := <-ended:
		return o
	default:
		t.Fatal("the call has not ended")
		return outcome{}
	}
}

// wantLines compares lines; %ID in a wanted line means id.
func wantLines(t *testing.T, got []string, id string, want ...string) {
	t.Helper()
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "%ID", id)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Fatalf("lines:\n%s\nwant:\n%s", g, w)
	}
}
