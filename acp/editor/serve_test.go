package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// testClient is a client in this process.
type testClient struct {
	t    *testing.T
	conn *jsonrpc.Conn
	id   string

	sent chan struct{} // receives a value for each written prompt

	mu      sync.Mutex
	updates []string
	permit  func(params string) any // nil means that requests are not answered
}

const long = time.Minute

// dial connects an editor to a provider and opens one session.
func dial(t *testing.T, p agent.Provider, opts editor.Options) *testClient {
	t.Helper()
	e := connectTo(t, p, opts)
	e.open(t.TempDir())
	return e
}

// open begins a session.
func (e *testClient) open(dir string) {
	e.t.Helper()
	var s struct{ SessionID string }
	if err := json.Unmarshal(e.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}), &s); err != nil {
		e.t.Fatal(err)
	}
	e.id = s.SessionID
}

// all returns everything that the agent has sent.
func (e *testClient) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.updates, "\n")
}

// connectTo connects an editor to a provider.
func connectTo(t *testing.T, p agent.Provider, opts editor.Options) *testClient {
	t.Helper()
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	opts.Provider, opts.Name, opts.Version = p, "test", "1"
	done := make(chan error, 1)
	go func() {
		done <- editor.Serve(context.Background(), fromClient, toClient, opts)
		toClient.Close()
	}()
	e := &testClient{t: t, sent: make(chan struct{}, 100)}
	e.conn = jsonrpc.New(fromAgent, toAgent, jsonrpc.Options{
		Handle: func(ctx context.Context, m *jsonrpc.Message) (any, error) {
			if e.permit == nil {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return e.permit(m.Params), nil
		},
		Notify: func(_ context.Context, m *jsonrpc.Message) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.updates = append(e.updates, m.Params)
		},
		Written: func(line []byte) {
			if strings.Contains(string(line), `"session/prompt"`) {
				e.sent <- struct{}{}
			}
		},
		CancelMethod: "$/cancel_request",
	})
	t.Cleanup(func() {
		e.conn.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), long)
		defer cancel()
		if err := e.conn.Wait(ctx); err != nil {
			t.Error(err)
		}
	})
	e.call("initialize", map[string]any{"protocolVersion": 1})
	return e
}

func (e *testClient) call(method string, params any) json.RawMessage {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), long)
	defer cancel()
	raw, err := e.conn.Call(ctx, method, params)
	if err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return raw
}

// prompt sends a prompt. The returned function waits for its end.
func (e *testClient) prompt(text string) func() string {
	result := make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), long)
		defer cancel()
		raw, err := e.conn.Call(ctx, "session/prompt", map[string]any{"sessionId": e.id, "prompt": []any{map[string]any{"type": "text", "text": text}}})
		var a struct{ StopReason string }
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			result <- "error " + e.Message
			return
		}
		if err == nil {
			err = json.Unmarshal(raw, &a)
		}
		if err != nil {
			a.StopReason = "failed: " + err.Error()
		}
		result <- a.StopReason
	}()
	<-e.sent
	return func() string { return <-result }
}

func (e *testClient) cancel() {
	e.t.Helper()
	if err := e.conn.Notify(e.t.Context(), "session/cancel", map[string]any{"sessionId": e.id}); err != nil {
		e.t.Fatal(err)
	}
}

// awaitText waits until an update contains a text.
func (e *testClient) awaitText(text string) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), long)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		all := e.all()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			e.t.Fatalf("no update has %q: %s", text, all)
		}
	}
}

// TestCancelEndsEverything checks that a cancellation ends the turn and all queued prompts.
func TestCancelEndsEverything(t *testing.T) {
	e := dial(t, &agenttest.Provider{}, editor.Options{})
	first := e.prompt("wait")
	e.awaitText("wait.")
	second := e.prompt("say never")
	e.cancel()
	if a, b := first(), second(); a != "cancelled" || b != "cancelled" {
		t.Errorf("the prompts ended with %s and %s", a, b)
	}
	if got := e.prompt("say again")(); got != "end_turn" {
		t.Errorf("the prompt after that ended with %s", got)
	}
}

// TestCancelRightAfterThePrompt cancels a prompt that its handler may not have begun yet. The cancellation is never
// lost, and the session continues.
func TestCancelRightAfterThePrompt(t *testing.T) {
	in, client := io.Pipe()
	out, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- editor.Serve(context.Background(), in, w, editor.Options{Provider: &agenttest.Provider{}, Name: "t", Version: "1"})
		w.Close()
	}()
	lines := json.NewDecoder(out)
	next := func(id int) (answer struct {
		ID     *int
		Result struct{ SessionID, StopReason string }
	}) {
		t.Helper()
		for {
			answer.ID = nil
			if err := lines.Decode(&answer); err != nil {
				t.Fatal(err)
			}
			if answer.ID != nil && *answer.ID == id {
				return answer
			}
		}
	}
	write := func(line string) {
		t.Helper()
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	next(1)
	write(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"` + t.TempDir() + `","mcpServers":[]}}`)
	id := next(2).Result.SessionID
	for i := range 30 {
		text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 10 + i, "method": "session/prompt", "params": map[string]any{
			"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "wait"}}}})
		if err != nil {
			t.Fatal(err)
		}
		go func() { // the pipe has no buffer; both lines must be available to the agent at once
			_, _ = io.WriteString(client, string(text)+"\n"+`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"`+id+`"}}`+"\n")
		}()
		if got := next(10 + i).Result.StopReason; got != "cancelled" {
			t.Fatalf("prompt %d ended with %q", i, got)
		}
	}
	client.Close()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestDeadAgentIsResumed kills the agent and sends another prompt, which a new agent answers.
func TestDeadAgentIsResumed(t *testing.T) {
	p := &agenttest.Provider{Dir: t.TempDir()}
	e := dial(t, p, editor.Options{})
	if got := e.prompt("say one")(); got != "end_turn" {
		t.Fatalf("the first prompt ended with %s", got)
	}
	waiting := e.prompt("wait")
	e.awaitText("wait.")
	p.Session(e.id).Kill()
	if got := waiting(); !strings.HasPrefix(got, "error ") || !strings.Contains(got, "next prompt continues") {
		t.Errorf("the prompt of the agent that died ended with %s", got)
	}
	if got := e.prompt("say two")(); got != "end_turn" {
		t.Errorf("the prompt after that ended with %s", got)
	}
	if n := p.Opened(); n != 2 {
		t.Errorf("%d agents were started, want 2", n)
	}
}

// TestPermissionNeverBecomesAnAllow checks that no response other than an allow option allows a
// call.
func TestPermissionNeverBecomesAnAllow(t *testing.T) {
	for name, answer := range map[string]any{
		"not offered": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "nope"}},
		"cancelled":   map[string]any{"outcome": map[string]any{"outcome": "cancelled"}},
		"unknown":     map[string]any{"outcome": map[string]any{"outcome": "later"}},
		"nonsense":    map[string]any{"x": 1},
		"null":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			e := dial(t, &agenttest.Provider{}, editor.Options{})
			e.permit = func(string) any { return answer }
			if got := e.prompt("tool Bash")(); got != "end_turn" {
				t.Errorf("the prompt ended with %s", got)
			}
			e.awaitText(`"status":"failed"`)
		})
	}
}

// TestPrewarmed checks that a session for the configured directory is opened in advance, and that a
// request for another directory does not get it.
func TestPrewarmed(t *testing.T) {
	dir := t.TempDir()
	p := &agenttest.Provider{}
	e := dial(t, p, editor.Options{PrewarmDir: dir})
	e.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}})
	if n := p.Opened(); n != 2 {
		t.Errorf("%d agents for one ahead, which was taken, and one in another directory", n)
	}
	e.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}})
	if n := p.Opened(); n != 3 {
		t.Errorf("%d agents: one was given away twice", n)
	}
}

// TestRest checks that Rest is called after a turn, and again after the next one.
func TestRest(t *testing.T) {
	rested := make(chan struct{}, 100)
	e := dial(t, &agenttest.Provider{}, editor.Options{Rest: func() { rested <- struct{}{} }, RestAfter: time.Millisecond})
	for range 2 {
		if got := e.prompt("say one")(); got != "end_turn" {
			t.Fatalf("the prompt ended with %s", got)
		}
		for len(rested) > 0 { // from before
			<-rested
		}
		e.call("session/list", map[string]any{})
		select {
		case <-rested:
		case <-time.After(long):
			t.Fatal("the agent does not rest")
		}
	}
}
