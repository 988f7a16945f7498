package server

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

var update = flag.Bool("update", false, "rewrite testdata/methods.txt")

// TestMethods_table checks that every method is listed once and that its types can be sent.
func TestMethods_table(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Methods() {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		for _, typ := range []reflect.Type{m.Params, m.Result} {
			v := reflect.New(typ)
			line, err := json.Marshal(v.Interface())
			if err != nil {
				t.Errorf("%s: %v: %v", m.Name, typ, err)
			}
			if err := json.Unmarshal(line, v.Interface()); err != nil {
				t.Errorf("%s: %v: %v", m.Name, typ, err)
			}
		}
	}
}

// accesses are all methods and addresses, each with its access.
func accesses() []*method {
	all := slices.Clone(methods)
	for _, rt := range routes() {
		m := *rt.method
		m.name = rt.pattern
		all = append(all, &m)
	}
	return all
}

// agentsAccess returns which agents may call a method: "-" if no agent may, those that may answer
// requests, or all.
func agentsAccess(name string) string {
	switch {
	case (&principal{agentOf: "s-1"}).agentMay(name) == nil:
		return "all"
	case (&principal{agentOf: "s-1", answers: true}).agentMay(name) == nil:
		return "answers"
	}
	return "-"
}

// TestMethods_access compares the access to each method and address with testdata/methods.txt: the required role for
// a token without a tenant, a token of a tenant and a link to a session, and the agents that may call it.
func TestMethods_access(t *testing.T) {
	var got strings.Builder
	named := map[string]string{} // the method of an address
	for _, rt := range routes() {
		named[rt.pattern] = rt.name
	}
	for _, m := range accesses() {
		least := func(tenant, link string) string {
			for r := roleNone; r <= roleAdmin; r++ {
				if m.permits(&principal{role: r, tenant: tenant, session: link}) == nil {
					return r.String()
				}
			}
			return "-"
		}
		row := "unaudited"
		if m.audit == audited {
			row = "audited"
		}
		fmt.Fprintf(&got, "%-30s token=%-9s tenant=%-9s link=%-7s agent=%-8s %-10s body=%d\n", m.name, least("", ""), least("acme", ""), least("", "s-1"),
			agentsAccess(cmp.Or(named[m.name], m.name)), row, m.body)
	}
	if *update {
		if err := os.WriteFile("testdata/methods.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/methods.txt")
	if err != nil || string(want) != got.String() {
		t.Errorf("testdata/methods.txt has other methods or rights (%v); go test ./server -run TestMethods_access -update writes\n%s", err, got.String())
	}
}

// TestMethods_transports calls every method with every kind of token over HTTP and over a socket: both
// admit and reject callers according to the table, and audited methods leave a row.
func TestMethods_transports(t *testing.T) {
	short.SkipQuick(t, "calls every method with every role")
	reached := session.Fail(api.Unsupported, "reached")
	for _, m := range methods {
		call := m.call
		m.call = func(*Server, context.Context, *caller, []byte) (any, error) { return nil, reached }
		t.Cleanup(func() { m.call = call })
	}
	h := newHarness(t)
	holders := map[string]token{
		"viewer": {Role: "viewer"}, "operator": {Role: "operator"}, "admin": {Role: "admin"},
		"viewer of a tenant": {Role: "viewer", Tenant: "acme"}, "operator of a tenant": {Role: "operator", Tenant: "acme"}, "admin of a tenant": {Role: "admin", Tenant: "acme"},
		"link": {Role: "viewer", Session: "s-1"}, "link of a tenant": {Role: "viewer", Session: "s-1", Tenant: "acme"},
		"agent": {Role: "operator", AgentOf: "s-1"}, "agent that answers": {Role: "operator", AgentOf: "s-1", Answers: true}, "agent that looks": {Role: "viewer", AgentOf: "s-1"},
	}
	rows := func(by string) int {
		t.Helper()
		list, err := h.server.audit.list(h.ctx(), api.AuditListParams{By: by, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Rows)
	}
	for name, tk := range holders {
		tk.Name = name
		_, value, err := h.server.tokens.create(tk, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.server.tokens.check(value, "")
		if err != nil {
			t.Fatal(err)
		}
		socket, made := h.dial(value), 0
		for _, m := range methods {
			want := api.Unsupported
			switch {
			case m.permits(p) != nil:
				want = api.AuthFailed
			case p.agentOf != "" && m.acts():
				want = api.SessionExpired // the call names no session
			}
			if got := client.Reason(h.client(value).Call(h.ctx(), m.name, api.Empty{}, nil)); got != want {
				t.Errorf("%s over HTTP by %s: %q, want %q", m.name, name, got, want)
			}
			if _, err := socket.call(m.name, api.Empty{}); err == nil || err.Data.Reason != want {
				t.Errorf("%s over a socket by %s: %+v, want %q", m.name, name, err, want)
			}
			if m.audit == audited {
				made += 2
			}
		}
		for _, rt := range routes() {
			if refused := strings.HasPrefix(h.routed(value, rt.pattern, "s-1"), "403 "); refused != (rt.permits(p) != nil) {
				t.Errorf("%s by %s: refused %v, want %v", rt.pattern, name, refused, !refused)
			}
			if rt.audit == audited {
				made++
			}
		}
		if got := rows(name); got != made {
			t.Errorf("the calls of %s leave %d audit rows, want %d", name, got, made)
		}
	}
}

// routed sends a request about a session to an address and returns the status and the body, with ID for the session.
func (h *harness) routed(token, pattern, id string) string {
	h.Helper()
	method, path, ok := strings.Cut(strings.ReplaceAll(pattern, "{id}", id), " ")
	if !ok {
		method, path = http.MethodPost, pattern
	}
	body := fmt.Sprintf(`{"threadId":%[1]q,"id":%[1]q,"messages":[{"id":"m","role":"user","content":"x","parts":[{"type":"text","text":"x"}]}]}`, id)
	if path == "/mcp" {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_read","arguments":{"session_id":%q}}}`, id)
	}
	req, err := http.NewRequestWithContext(h.ctx(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	status, _, data := h.do(req)
	return strings.ReplaceAll(fmt.Sprint(status, " ", string(data)), id, "ID")
}

// TestMethods_body checks the limits of parameters.
func TestMethods_body(t *testing.T) {
	m := entry("x", "", roleViewer, unlinked, ofTenant, unaudited, 10, func(*Server, context.Context, *caller, api.Empty) (api.Empty, error) { return api.Empty{}, nil })
	for params, want := range map[string]api.Reason{`{"a":1234}`: "", `{"a":12345}`: api.LimitReached} {
		_, err := (&Server{opts: Options{MaxBody: 1 << 20}}).allowed(t.Context(), &caller{principal: &principal{role: roleViewer}}, m, []byte(params))
		if want == "" && err != nil || want != "" && (err == nil || session.FailureOf(err).Reason != want) {
			t.Errorf("parameters %s: %v, want the reason %q", params, err, want)
		}
	}
}
