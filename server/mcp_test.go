package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// mcpClient is a session of the official client.
type mcpClient struct {
	h *harness
	*mcp.ClientSession
}

func (h *harness) mcp(token string) (*mcpClient, error) {
	h.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(h.ctx(), &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() { _ = s.Close() })
	return &mcpClient{h, s}, nil
}

// try calls a tool and returns its text, and whether it is an error.
func (c *mcpClient) try(name string, args any) (string, bool) {
	c.h.Helper()
	r, err := c.CallTool(c.h.ctx(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.h.Fatalf("%s: %v", name, err)
	}
	var b strings.Builder
	for _, block := range r.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String(), r.IsError
}

// do calls a tool that must succeed and decodes its result.
func (c *mcpClient) do(name string, args, result any) {
	c.h.Helper()
	text, failed := c.try(name, args)
	if failed {
		c.h.Fatalf("%s: %s; want not failed", name, text)
	}
	if err := json.Unmarshal([]byte(text), result); err != nil {
		c.h.Fatalf("%s: %v: %s", name, err, text)
	}
}

type waited struct {
	Busy    bool
	Session struct {
		State    string
		Requests int
	}
}

// TestMCP drives every tool with the official client.
func TestMCP(t *testing.T) {
	h := newHarness(t)
	c, err := h.mcp(h.token)
	if err != nil {
		t.Fatal(err)
	}
	var started struct {
		SessionID string `json:"session_id"`
	}
	c.do("session_start", object2{"prompt": "say hello from the agent"}, &started)
	ref := object2{"session_id": started.SessionID}
	var w waited
	if c.do("session_wait", ref, &w); w.Busy || w.Session.State != "idle" {
		t.Errorf("after the turn: %+v", w)
	}
	var text struct{ Text string }
	if c.do("session_read", ref, &text); !strings.Contains(text.Text, "hello from the agent") {
		t.Errorf("the conversation is %q", text.Text)
	}
	c.do("session_send", object2{"session_id": started.SessionID, "text": "tool Bash"}, &struct{}{})
	if c.do("session_wait", ref, &w); w.Session.State != "requires_action" || w.Session.Requests != 1 {
		t.Errorf("while it asks: %+v", w)
	}
	var open struct {
		Prompts []struct{ Prompt struct{ RequestID string } }
	}
	c.do("request_list", ref, &open)
	var answered struct{ Accepted bool }
	if c.do("request_answer", object2{"session_id": started.SessionID, "request_id": open.Prompts[0].Prompt.RequestID, "allow": true}, &answered); !answered.Accepted {
		t.Error("the answer does not count")
	}
	c.do("session_wait", ref, &w)
	if c.do("session_read", ref, &text); !strings.Contains(text.Text, "I have used Bash") {
		t.Errorf("the conversation after the answer is %q", text.Text)
	}
	c.do("session_send", object2{"session_id": started.SessionID, "text": "wait"}, &struct{}{})
	if c.do("session_wait", object2{"session_id": started.SessionID, "seconds": 1}, &w); !w.Busy {
		t.Errorf("while it works: %+v", w)
	}
	c.do("session_interrupt", ref, &struct{}{})
	if c.do("session_wait", ref, &w); w.Busy {
		t.Errorf("after the interrupt: %+v", w)
	}
	var list struct{ Sessions []struct{ State string } }
	if c.do("session_list", object2{}, &list); len(list.Sessions) != 1 {
		t.Errorf("the sessions are %+v", list)
	}
	for _, bad := range []struct {
		tool string
		args object2
	}{
		{"session_start", object2{"prompt": ""}}, {"session_start", object2{"prompt": "x", "directory": "/"}}, {"session_read", object2{"session_id": "none"}},
		{"session_wait", object2{"session_id": "none"}}, {"request_answer", object2{"session_id": started.SessionID, "request_id": "none", "allow": true}},
	} {
		if text, failed := c.try(bad.tool, bad.args); !failed || text == "" {
			t.Errorf("%s %v: %q, want an error", bad.tool, bad.args, text)
		}
	}
	var rows api.AuditListResult
	h.call("audit.list", api.AuditListParams{}, &rows)
	audit := map[string]int{}
	for _, r := range rows.Rows {
		audit[r.Method]++
	}
	if audit["session.connect"] != 2 || audit["permission.respond"] != 1 || audit["session.interrupt"] != 1 {
		t.Errorf("the audit log has %v", audit)
	}
}

// TestMCP_rights compares the tools that each role may use with testdata/mcp.txt.
func TestMCP_rights(t *testing.T) {
	short.SkipQuick(t, "calls every tool with every role")
	h := newHarness(t)
	asking := h.connect()
	h.query(asking, "tool Bash")
	h.watch(asking).state("requires_action")
	request := h.history(asking).Prompts[0].RequestID()
	args := map[string]object2{
		"session_list": {}, "session_start": {"prompt": "say x"}, "session_send": {"session_id": asking, "text": "say x"},
		"session_wait": {"session_id": asking}, "session_read": {"session_id": asking}, "session_interrupt": {"session_id": "none"},
		"session_diff": {"session_id": asking}, "request_list": {"session_id": asking}, "request_answer": {"session_id": asking, "request_id": request, "allow": false},
	}
	var got strings.Builder
	for _, holder := range mcpHolders(asking) {
		_, value, err := h.server.tokens.create(holder.token, 0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := h.mcp(value)
		if err != nil {
			fmt.Fprintf(&got, "%-22s refused\n", holder.name)
			continue
		}
		tools, err := c.ListTools(h.ctx(), nil)
		if err != nil || len(tools.Tools) != len(args) {
			t.Fatalf("%d tools, %v; want %d", len(tools.Tools), err, len(args))
		}
		for _, tool := range tools.Tools {
			text, failed := c.try(tool.Name, args[tool.Name])
			outcome := "ok"
			if failed && !strings.HasPrefix(text, "workspace: ") { // the directory is not in git, which is not a matter of rights
				outcome = strings.NewReplacer(asking, "SESSION", request, "REQUEST").Replace(text)
			}
			fmt.Fprintf(&got, "%-22s %-18s %s\n", holder.name, tool.Name, outcome)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/mcp.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/mcp.txt")
	if err != nil || string(want) != got.String() {
		t.Errorf("testdata/mcp.txt has other rights (%v); with -update it is written:\n%s", err, got.String())
	}
}

type mcpHolder struct {
	name  string
	token token
}

// mcpHolders are the kinds of tokens. The last one may answer requests.
func mcpHolders(asking string) []mcpHolder {
	return []mcpHolder{
		{"link", token{Role: "viewer", Session: asking}},
		{"viewer", token{Role: "viewer"}},
		{"operator of a tenant", token{Role: "operator", Tenant: "acme"}},
		{"agent", token{Role: "operator", AgentOf: asking}},
		{"operator", token{Role: "operator"}},
	}
}

// agentToken makes a token for the agent of a session.
func (h *harness) agentToken(p api.TokensCreateParams) string {
	h.Helper()
	var made api.TokensCreateResult
	p.Role = "operator"
	h.call("tokens.create", p, &made)
	return made.Token
}

// startAs starts a session over MCP and waits for its turn.
func (h *harness) startAs(token, prompt string) (string, string) {
	h.Helper()
	c, err := h.mcp(token)
	if err != nil {
		h.Fatal(err)
	}
	text, failed := c.try("session_start", object2{"prompt": prompt})
	if failed {
		return "", text
	}
	var started struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(text), &started); err != nil {
		h.Fatal(err)
	}
	h.watch(started.SessionID).results(1)
	return started.SessionID, ""
}

// A session that an agent starts is charged to the agent's session. Sessions can be nested at most two deep.
func TestMCP_agent(t *testing.T) {
	h := newHarness(t)
	root := h.connect()
	token := h.agentToken(api.TokensCreateParams{AgentOf: root})
	child, failed := h.startAs(token, "say x")
	if failed != "" {
		t.Fatalf("failed is %v; want failed == \"\"", failed)
	}
	grandchild, failed := h.startAs(h.agentToken(api.TokensCreateParams{AgentOf: child}), "say x")
	if failed != "" {
		t.Fatalf("failed is %v; want failed == \"\"", failed)
	}
	if acc, err := h.server.sessions.Account(h.ctx(), grandchild); err != nil || len(acc.Parents) != 2 || acc.Parents[0] != root || acc.Parents[1] != child {
		t.Errorf("the account of the grandchild is %+v, %v", acc, err)
	}
	if _, failed = h.startAs(h.agentToken(api.TokensCreateParams{AgentOf: grandchild}), "say x"); !strings.Contains(failed, "at most 2 deep") {
		t.Errorf("a third level: %q", failed)
	}
	// The two answers of 15 tokens count for the first session, and its budget stops all of them.
	h.setBudget(api.Budget{Scope: "session", Target: root, LimitTokens: new(int64(30))})
	if _, failed = h.startAs(token, "say x"); !strings.Contains(failed, "30 of 30 tokens") {
		t.Errorf("beyond the budget: %q", failed)
	}
	h.refused(api.BudgetExceeded, "session.query", api.QueryParams{SessionID: grandchild, Text: "say x"})
	h.restart()
	h.refused(api.BudgetExceeded, "session.query", api.QueryParams{SessionID: grandchild, Text: "say x"})
	h.call("session.delete", api.SessionDeleteParams{SessionID: root}, nil)
	if _, err := h.mcp(token); err == nil {
		t.Error("the token of an agent is valid after its session was deleted")
	}
}

// The token of an agent may answer requests only if it was created for that. Otherwise it can start
// no session that asks for fewer permissions.
func TestMCP_answers(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	h.query(id, "tool Bash")
	h.watch(id).state("requires_action")
	args := object2{"session_id": id, "request_id": h.history(id).Prompts[0].RequestID(), "allow": true}
	plain, answering := h.agentToken(api.TokensCreateParams{AgentOf: id}), h.agentToken(api.TokensCreateParams{AgentOf: id, Answers: true})
	child, asked := h.childAsks(plain)
	c, err := h.mcp(plain)
	if err != nil {
		t.Fatal(err)
	}
	if text, failed := c.try("request_answer", args); !failed || !strings.Contains(text, "does not allow to answer") {
		t.Errorf("a token that may not answer: %q", text)
	}
	for method, params := range map[string]any{
		"session.setPermissionMode": api.SetPermissionModeParams{SessionID: id, Mode: "acceptEdits"},
		"tokens.create":             api.TokensCreateParams{Role: "operator"},
		"session.connect":           api.ConnectParams{PermissionMode: "acceptEdits"},
		"session.delete":            api.SessionDeleteParams{SessionID: id},
	} {
		if err := h.client(plain).Call(h.ctx(), method, params, nil); client.Reason(err) != api.AuthFailed {
			t.Errorf("%s: %v, want auth_failed", method, err)
		}
	}
	if err := h.client(plain).Call(h.ctx(), "session.connect", api.ConnectParams{AllowedTools: []string{"Bash"}}, nil); client.Reason(err) != api.AuthFailed {
		t.Errorf("a session with allowed tools: %v, want auth_failed", err)
	}
	if c, err = h.mcp(answering); err != nil {
		t.Fatal(err)
	}
	if text, failed := c.try("request_answer", args); !failed || !strings.Contains(text, "did not start") {
		t.Errorf("an agent answers its own request: %q", text)
	}
	if text, failed := c.try("request_answer", object2{"session_id": child, "request_id": asked, "allow": true}); failed {
		t.Errorf("a token that may answer: %s", text)
	}
	for _, p := range []api.TokensCreateParams{{Role: "admin", AgentOf: id}, {Role: "operator", AgentOf: "none"}, {Role: "operator", Answers: true}} {
		if err := h.client(h.token).Call(h.ctx(), "tokens.create", p, nil); err == nil {
			t.Errorf("a token was made with %+v", p)
		}
	}
	req, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+"/v1/login", strings.NewReader(`{"token":`+quoted(plain)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if status, _, _ := h.do(req); status != http.StatusUnauthorized {
		t.Errorf("a cookie for the token of an agent: status %d, want 401", status)
	}
}

// childAsks starts a session as an agent and returns it with the request that it waits for.
func (h *harness) childAsks(token string) (session, request string) {
	h.Helper()
	var child api.ConnectResult
	if err := h.client(token).Call(h.ctx(), "session.connect", api.ConnectParams{InitialPrompt: "tool Bash"}, &child); err != nil {
		h.Fatal(err)
	}
	h.watch(child.SessionID).state("requires_action")
	return child.SessionID, h.history(child.SessionID).Prompts[0].RequestID()
}

// TestMCP_agentActs checks that an agent acts only on its session and on those that it started, because another one may have
// other permissions or another budget. It answers only requests of sessions that it started.
func TestMCP_agentActs(t *testing.T) {
	h := newHarness(t)
	own, other := h.connect(), h.connect()
	token := h.agentToken(api.TokensCreateParams{AgentOf: own, Answers: true})
	child, _ := h.childAsks(token)
	grandchild, _ := h.childAsks(h.agentToken(api.TokensCreateParams{AgentOf: child}))
	p, err := h.server.tokens.check(token, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		if m.permits(p) != nil || !m.acts() {
			continue
		}
		for session, want := range map[string]bool{own: !strings.HasSuffix(m.name, ".respond"), child: true, grandchild: true, other: false} {
			params := object2{"session_id": session, "text": "say x", "request_id": "none", "behavior": "deny", "action": "decline"}
			err := h.client(token).Call(h.ctx(), m.name, params, nil)
			if got := client.Reason(err) != api.AuthFailed; got != want {
				t.Errorf("%s by the agent of %s with %s (other %s): %v, want allowed %v", m.name, own, session, other, err, want)
			}
		}
	}
	if n := h.history(other).Totals.Turns; n != 0 {
		t.Errorf("the other session has %d turns, want none", n)
	}
	plain := h.agentToken(api.TokensCreateParams{AgentOf: own})
	if err := h.client(plain).Call(h.ctx(), "session.connect", api.ConnectParams{SessionID: other}, nil); client.Reason(err) != api.AuthFailed {
		t.Errorf("an agent resumes another session: %v, want auth_failed", err)
	}
}

// TestMCP_agentTenant checks that the agent of a session without a tenant reaches no session of a tenant.
func TestMCP_agentTenant(t *testing.T) {
	w := newTwoTenants(t, false)
	h := w.harness
	c, err := h.mcp(h.agentToken(api.TokensCreateParams{AgentOf: h.connect()}))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range w.sessions {
		if list, failed := c.try("session_list", object2{}); failed || strings.Contains(list, other) {
			t.Errorf("the list of the agent is %s, want it without %s", list, other)
		}
		for name, args := range map[string]object2{"session_read": {}, "session_send": {"text": "say y"}, "session_interrupt": {}} {
			args["session_id"] = other
			if text, failed := c.try(name, args); !failed || !strings.Contains(text, "not found") {
				t.Errorf("%s of a session of a tenant returns %q, want an error", name, text)
			}
		}
	}
}
