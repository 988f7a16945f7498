package server

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/client"
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

// TestMethods_access compares the access to each method with testdata/methods.txt: for a token
// without a tenant, for one of a tenant and for a link to a session, the required role.
func TestMethods_access(t *testing.T) {
	var got strings.Builder
	for _, m := range methods {
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
		fmt.Fprintf(&got, "%-30s token=%-9s tenant=%-9s link=%-7s %-10s body=%d\n", m.name, least("", ""), least("acme", ""), least("", "s-1"), row, m.body)
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
			if m.permits(p) != nil {
				want = api.AuthFailed
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
		if got := rows(name); got != made {
			t.Errorf("the calls of %s leave %d audit rows, want %d", name, got, made)
		}
	}
}

// TestMethods_body checks the limit of parameters of a method that has one.
func TestMethods_body(t *testing.T) {
	m := entry("x", "", roleViewer, unlinked, ofTenant, unaudited, 10, func(*Server, context.Context, *caller, api.Empty) (api.Empty, error) { return api.Empty{}, nil })
	for params, want := range map[string]api.Reason{`{"a":1234}`: "", `{"a":12345}`: api.LimitReached} {
		_, err := (&Server{opts: Options{MaxBody: 1 << 20}}).allowed(t.Context(), &caller{principal: &principal{role: roleViewer}}, m, []byte(params))
		if want == "" && err != nil || want != "" && (err == nil || session.FailureOf(err).Reason != want) {
			t.Errorf("parameters %s: %v, want the reason %q", params, err, want)
		}
	}
}
