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

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

var update = flag.Bool("update", false, "rewrite testdata/methods.txt")

// TestMethods_table checks that every method is there once and that its types can be sent.
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

// TestMethods_access compares who may call which method with testdata/methods.txt: for a token
// without a tenant, for one of a tenant and for a link to a session, the least role that is let in.
func TestMethods_access(t *testing.T) {
	s, reached := &Server{}, context.Canceled // what a method returns that was let in
	var got strings.Builder
	for _, m := range methods {
		open := *m
		open.call = func(*Server, context.Context, *caller, []byte) (any, error) { return nil, reached }
		least := func(tenant, link string) string {
			for r := roleNone; r <= roleAdmin; r++ {
				if _, err := s.allowed(t.Context(), &caller{principal: &principal{role: r, tenant: tenant, session: link}}, &open, nil); err == reached {
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

// TestMethods_body checks the limit of parameters of a method that has one.
func TestMethods_body(t *testing.T) {
	m := entry("x", "", roleViewer, unlinked, ofTenant, unaudited, 10, func(*Server, context.Context, *caller, api.Empty) (api.Empty, error) { return api.Empty{}, nil })
	for params, want := range map[string]api.Reason{`{"a":1234}`: "", `{"a":12345}`: api.LimitReached} {
		_, err := (&Server{}).allowed(t.Context(), &caller{principal: &principal{role: roleViewer}}, m, []byte(params))
		if want == "" && err != nil || want != "" && (err == nil || session.FailureOf(err).Reason != want) {
			t.Errorf("parameters %s: %v, want the reason %q", params, err, want)
		}
	}
}
