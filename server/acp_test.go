package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/acp/acphttp"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// acpClient is an ACP client over WebSocket.
type acpClient struct {
	*harness
	conn *websocket.Conn
	work sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every message
	next    int
	answers map[int]json.RawMessage
	failed  map[int]string
	updates []acpUpdate
	asked   map[string]string // open requests of the agent: the id by the tool call
	closed  error
}

// acpUpdate is the part of a session update that the tests check.
type acpUpdate struct {
	SessionUpdate, MessageID, ToolCallID, Status string
	Content                                      json.RawMessage
}

func (u acpUpdate) text() string {
	var c struct{ Text string }
	_ = json.Unmarshal(u.Content, &c)
	return c.Text
}

// acp connects and initializes a client.
func (h *harness) acp(token string) *acpClient {
	h.Helper()
	c := &acpClient{harness: h, changed: make(chan struct{}), answers: map[int]json.RawMessage{}, failed: map[int]string{}, asked: map[string]string{}}
	conn, resp, err := websocket.Dial(h.ctx(), h.url+"/acp", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		h.Fatal(err)
	}
	if resp.Header.Get(acphttp.HeaderConnection) == "" {
		h.Error("the socket has no id")
	}
	conn.SetReadLimit(64 << 20)
	c.conn = conn
	c.work.Go(c.read)
	h.Cleanup(func() {
		_ = conn.CloseNow()
		c.work.Wait()
	})
	c.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	return c
}

func (c *acpClient) read() {
	for {
		_, data, err := c.conn.Read(context.Background())
		c.mu.Lock()
		if c.closed = err; err == nil {
			c.message(data)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *acpClient) message(data []byte) {
	var m struct {
		ID     *int
		Method string
		Params struct {
			SessionID string
			Update    acpUpdate
			ToolCall  struct{ ToolCallID string }
			RequestID *int
		}
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		c.Errorf("%v: %s", err, data)
	}
	switch {
	case m.Method == "session/update":
		c.updates = append(c.updates, m.Params.Update)
	case m.Method == "session/request_permission":
		c.asked[m.Params.ToolCall.ToolCallID] = fmt.Sprint(*m.ID)
	case m.Method == "$/cancel_request":
		for tool, id := range c.asked {
			if id == fmt.Sprint(*m.Params.RequestID) {
				delete(c.asked, tool)
			}
		}
	case m.ID != nil && m.Error != nil:
		c.failed[*m.ID] = m.Error.Message
		c.answers[*m.ID] = nil
	case m.ID != nil:
		c.answers[*m.ID] = m.Result
	}
}

// until waits until a condition holds.
func (c *acpClient) until(what string, ok func() bool) {
	c.Helper()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		c.mu.Lock()
		good, changed, closed := ok(), c.changed, c.closed
		c.mu.Unlock()
		switch {
		case good:
			return
		case closed != nil:
			c.Fatalf("%s: the socket ended: %v", what, closed)
		}
		select {
		case <-changed:
		case <-timer.C:
			c.Fatalf("%s: it did not happen", what)
		}
	}
}

func (c *acpClient) write(v any) {
	c.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.Fatal(err)
	}
	if err := c.conn.Write(c.ctx(), websocket.MessageText, data); err != nil {
		c.Fatal(err)
	}
}

// start sends a request; the function returns its answer, or the error.
func (c *acpClient) start(method string, params any) func() (json.RawMessage, string) {
	c.Helper()
	id := c.next
	c.next++
	c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return func() (answer json.RawMessage, failed string) {
		c.Helper()
		c.until(method, func() bool {
			var there bool
			answer, there = c.answers[id]
			failed = c.failed[id]
			return there
		})
		return answer, failed
	}
}

func (c *acpClient) call(method string, params any) json.RawMessage {
	c.Helper()
	answer, failed := c.start(method, params)()
	if failed != "" {
		c.Fatalf("%s: %s; want failed == \"\"", method, failed)
	}
	return answer
}

// open makes a session.
func (c *acpClient) open() string {
	c.Helper()
	var r struct{ SessionID string }
	if err := json.Unmarshal(c.call("session/new", map[string]any{"cwd": filepath.Join(c.dir, "work"), "mcpServers": []any{}}), &r); err != nil {
		c.Fatal(err)
	}
	return r.SessionID
}

// prompt sends a prompt; the function returns the reason for the end of the turn.
func (c *acpClient) prompt(session, text string) func() string {
	c.Helper()
	answer := c.start("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]string{"type": "text", "text": text}}})
	return func() string {
		c.Helper()
		data, failed := answer()
		var r struct{ StopReason string }
		if failed != "" || json.Unmarshal(data, &r) != nil {
			return "error: " + failed
		}
		return r.StopReason
	}
}

// load loads a session.
func (c *acpClient) load(session string) {
	c.Helper()
	c.call("session/load", map[string]any{"sessionId": session, "cwd": filepath.Join(c.dir, "work"), "mcpServers": []any{}})
}

// updateText returns the text of the updates of a kind.
func (c *acpClient) updateText(kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, u := range c.updates {
		if u.SessionUpdate == kind {
			b.WriteString(u.text())
		}
	}
	return b.String()
}

// answer answers the open request about a tool call.
func (c *acpClient) answer(tool, option string) {
	c.Helper()
	c.mu.Lock()
	id := c.asked[tool]
	c.mu.Unlock()
	c.write(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "result": map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option}}})
}

func (c *acpClient) cancel(session string) {
	c.Helper()
	c.write(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]string{"sessionId": session}})
}

// TestACP_joins loads a session in a second client in the middle of a turn: the client gets the
// running answer once and the prompt of the first client, and both get the rest.
func TestACP_joins(t *testing.T) {
	h := newHarness(t)
	h.provider.Pause = time.Millisecond
	first := h.acp(h.token)
	id := first.open()
	end := first.prompt(id, "count 600")
	first.until("the answer begins", func() bool { return len(first.updates) > 20 })
	second := h.acp(h.token)
	second.load(id)
	if got := end(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	want := first.updateText("agent_message_chunk")
	second.until("the rest of the answer", func() bool { return acpText(second.updates, "agent_message_chunk") >= len(want) })
	if got := second.updateText("agent_message_chunk"); got != want || len(want) < 600 {
		t.Errorf("the second client got %d bytes, the first %d: %.300s", len(got), len(want), got)
	}
	if got := second.updateText("user_message_chunk"); got != "count 600" {
		t.Errorf("the second client saw the prompt %q", got)
	}
	if got := second.prompt(id, "say from the second")(); got != "end_turn" {
		t.Errorf("the turn of the second ended with %s", got)
	}
	first.until("the answer to the other client", func() bool {
		return strings.HasSuffix(acpJoin(first.updates, "agent_message_chunk"), "from the second")
	})
	if got := first.updateText("user_message_chunk"); got != "say from the second" {
		t.Errorf("the first client saw the prompts %q", got)
	}
	if got := second.updateText("user_message_chunk"); got != "count 600" {
		t.Errorf("the second client was shown its own prompt: %q", got)
	}
}

func acpJoin(updates []acpUpdate, kind string) (all string) {
	for _, u := range updates {
		if u.SessionUpdate == kind {
			all += u.text()
		}
	}
	return all
}

func acpText(updates []acpUpdate, kind string) int { return len(acpJoin(updates, kind)) }

// TestACP_cancels lets a client stop another client's turn, and its own.
func TestACP_cancels(t *testing.T) {
	h := newHarness(t)
	first, second := h.acp(h.token), h.acp(h.token)
	id := first.open()
	second.load(id)
	for _, who := range []*acpClient{second, first} {
		before := len(first.updateText("agent_message_chunk"))
		end := first.prompt(id, "wait")
		first.until("the turn runs", func() bool { return acpText(first.updates, "agent_message_chunk") > before })
		second.until("the other sees it", func() bool { return acpText(second.updates, "agent_message_chunk") > before })
		who.cancel(id)
		if got := end(); got != "cancelled" {
			t.Errorf("the turn ended with %s", got)
		}
	}
}

// TestACP_answers asks two clients and a later one: the first answer counts, and the requests to the others are
// withdrawn.
func TestACP_answers(t *testing.T) {
	h := newHarness(t)
	first, second := h.acp(h.token), h.acp(h.token)
	id := first.open()
	second.load(id)
	asks := func(c *acpClient) (tool string) {
		c.until("it is asked", func() bool {
			for tool = range c.asked {
				return true
			}
			return false
		})
		return tool
	}
	end := first.prompt(id, "tool Bash")
	tool := asks(first)
	asks(second)
	third := h.acp(h.token)
	third.load(id)
	asks(third)
	second.answer(tool, "reject")
	for _, c := range []*acpClient{first, third} {
		c.until("the request is withdrawn", func() bool { return len(c.asked) == 0 })
	}
	if got := end(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	if got := first.updateText("agent_message_chunk"); !strings.Contains(got, "not allowed") {
		t.Errorf("the answer is %q", got)
	}
}

// TestACP_rights checks who may do what: a viewer watches, and every other connection is unknown.
func TestACP_rights(t *testing.T) {
	h := newHarness(t)
	id := h.acp(h.token).open()
	var made api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Name: "watcher", Role: "viewer"}, &made)
	viewer := h.acp(made.Token)
	viewer.load(id)
	for _, method := range []string{"session/prompt", "session/delete", "session/set_mode"} {
		_, failed := viewer.start(method, map[string]any{"sessionId": id, "modeId": "plan", "prompt": []any{map[string]string{"type": "text", "text": "say no"}}})()
		if !strings.Contains(failed, "needs the role operator") {
			t.Errorf("%s of a viewer: %q", method, failed)
		}
	}
	post := func(token, connection, body string) (int, http.Header, []byte) {
		req, err := http.NewRequest(http.MethodPost, h.url+"/acp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
		if connection != "" {
			req.Header.Set(acphttp.HeaderConnection, connection)
		}
		return h.do(req)
	}
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	status, header, _ := post(h.token, "", hello)
	if status != http.StatusOK {
		t.Fatalf("initialize: %d", status)
	}
	connection := header.Get(acphttp.HeaderConnection)
	const list = `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`
	if status, _, _ := post(made.Token, connection, list); status != http.StatusNotFound {
		t.Errorf("a connection of another token: %d", status)
	}
	if status, _, _ := post(h.token, connection, list); status != http.StatusAccepted {
		t.Errorf("its own connection: %d", status)
	}
	if status, _, _ := post("wrong", connection, list); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
	if status, _, _ := post(made.Token, "", strings.Repeat(" ", smallBody)+hello); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large message of a viewer: %d", status)
	}
}

// TestACP_revoked ends the connections of a token with it.
func TestACP_revoked(t *testing.T) {
	h := newHarness(t)
	var made api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Name: "guest", Role: "operator"}, &made)
	c := h.acp(made.Token)
	c.open()
	began := time.Now()
	h.call("tokens.revoke", api.TokensRevokeParams{ID: made.ID}, nil)
	c.work.Wait()
	if took := time.Since(began); took > time.Second {
		t.Errorf("the socket ended after %v", took)
	}
	var end websocket.CloseError
	if !errors.As(c.closed, &end) || end.Code != websocket.StatusPolicyViolation {
		t.Errorf("the socket ended with %v", c.closed)
	}
	eventually(t, "no connection is left", func() bool { return h.server.remoteACP.Connections() == 0 })
}

// TestACP_neverReads limits the memory for clients that start a turn and never read: their
// connections are closed, and the session is still available to others.
func TestACP_neverReads(t *testing.T) {
	short.SkipQuick(t, "sends many megabytes")
	h := newHarness(t, func(o *Options) { o.WriteTimeout = 500 * time.Millisecond })
	owner := h.acp(h.token)
	id := owner.open()
	send := func(body string, header http.Header) (int, http.Header) {
		req, err := http.NewRequest(http.MethodPost, h.url+"/acp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = header.Clone()
		status, got, _ := h.do(req)
		return status, got
	}
	header := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + h.token}}
	_, got := send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, header)
	header.Set(acphttp.HeaderConnection, got.Get(acphttp.HeaderConnection))
	header.Set(acphttp.HeaderSession, id)
	load := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, id, filepath.Join(h.dir, "work"))
	if status, _ := send(load, header); status != http.StatusAccepted {
		t.Fatalf("session/load: %d", status)
	}
	for range 5 { // more than is queued for a client
		if end := owner.prompt(id, "big 1000000")(); end != "end_turn" {
			t.Fatalf("the turn ended with %s", end)
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		status, _ := send(load, header)
		if status == http.StatusNotFound {
			break
		}
		if time.Since(began) > wait {
			t.Fatalf("the connection of a client that does not read is there: %d", status)
		}
	}
	if end := owner.prompt(id, "say more")(); end != "end_turn" {
		t.Errorf("the turn of the other client ended with %s", end)
	}
}

// TestACP_badInput sends invalid messages. Each gets a clear error, and the connection stays open.
func TestACP_badInput(t *testing.T) {
	h := newHarness(t)
	c := h.acp(h.token)
	for _, text := range []string{"{bad", "[]", "42", `{"jsonrpc":"2.0","id":null}`} {
		if err := c.conn.Write(h.ctx(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if _, failed := c.start("no/such", map[string]any{})(); !strings.Contains(failed, "no/such") {
		t.Errorf("an unknown method: %q", failed)
	}
	if _, failed := c.start("session/prompt", map[string]any{"sessionId": "none", "prompt": []any{}})(); failed == "" {
		t.Error("an unknown session has an answer")
	}
	if _, failed := c.start("session/new", map[string]any{"cwd": "/", "mcpServers": []any{}})(); !strings.Contains(failed, "director") {
		t.Errorf("a directory that is not allowed: %q", failed)
	}
	_ = c.conn.Write(h.ctx(), websocket.MessageText, bytes.Repeat([]byte("x"), 17<<20)) // the connection may be closed during the write
	c.work.Wait()
	var end websocket.CloseError
	if !errors.As(c.closed, &end) || end.Code != websocket.StatusMessageTooBig {
		t.Errorf("a message over the limit ended the socket with %v", c.closed)
	}
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Host = "evil.example" },
		func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
	} {
		for _, upgrade := range []bool{false, true} {
			req, err := http.NewRequest(http.MethodGet, h.url+"/acp", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+h.token)
			req.Header.Set("Accept", "text/event-stream")
			if upgrade {
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "websocket")
			}
			change(req)
			if status, _, _ := h.do(req); status != http.StatusForbidden {
				t.Errorf("a foreign host or origin: %d", status)
			}
		}
	}
}
