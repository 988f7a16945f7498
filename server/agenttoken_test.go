package server

import (
	"reflect"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestAgent_connect checks every parameter of session.connect: an agent that may not answer
// requests can set only those that give its session no additional rights.
func TestAgent_connect(t *testing.T) {
	free := []string{"Idempotency", "CWD", "WorkspaceID", "Provider", "Model", "Title", "InitialPrompt", "Metadata"}
	ty := reflect.TypeFor[api.ConnectParams]()
	for i := range ty.NumField() {
		name := ty.Field(i).Name
		var p api.ConnectParams
		fill(t, reflect.ValueOf(&p).Elem().Field(i))
		for who, want := range map[*principal]bool{
			{agentOf: "s-1"}: slices.Contains(free, name), {agentOf: "s-1", answers: true}: true, {}: true,
		} {
			if err := who.mayConnect(p); (err == nil) != want {
				t.Errorf("%s set by %+v: %v, want it allowed: %v", name, *who, err, want)
			}
		}
	}
}

// fill sets a value to a non-zero one.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		fill(t, v.Field(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1)
	default:
		t.Fatalf("there is no value of %v for the test", v.Type())
	}
}

// TestAgent_tenant checks that an agent's token is created only for a session of the token's
// tenant.
func TestAgent_tenant(t *testing.T) {
	h := newHarness(t)
	sessions := map[string]string{}
	for _, tenant := range []string{"", "acme", "other"} {
		_, value, err := h.server.tokens.create(token{Role: "operator", Tenant: tenant}, 0)
		if err != nil {
			t.Fatal(err)
		}
		var made api.ConnectResult
		if err := h.client(value).Call(h.ctx(), "session.connect", api.ConnectParams{}, &made); err != nil {
			t.Fatal(err)
		}
		sessions[tenant] = made.SessionID
	}
	for of, id := range sessions {
		for tenant := range sessions {
			want := api.InvalidParams
			if of == tenant {
				want = ""
			}
			err := h.client(h.token).Call(h.ctx(), "tokens.create", api.TokensCreateParams{Role: "operator", Tenant: tenant, AgentOf: id}, nil)
			if got := client.Reason(err); got != want {
				t.Errorf("a token of tenant %q for the agent of a session of tenant %q: reason %q (%v), want %q", tenant, of, got, err, want)
			}
		}
	}
}

// TestAgent_payer checks that an agent cannot start a session if any budget that applies to it is used up: the session's own, and
// those of the sessions above it, the token and the server.
func TestAgent_payer(t *testing.T) {
	f := newFaultServer(t)
	connected, err := f.do("session.connect", `{"cwd":"`+f.work+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	parent := member(t, connected, "session_id")
	acc, err := f.sessions.Account(t.Context(), parent)
	if err != nil {
		t.Fatal(err)
	}
	const child = session.Prefix + "child"
	paid, err := acc.Child(child)
	if err != nil {
		t.Fatal(err)
	}
	agent := &caller{principal: &principal{id: "t", role: roleOperator, agentOf: parent}}
	if err := f.accounts.Add(t.Context(), budget.Row{Time: f.accounts.now(), Account: paid, Amount: budget.Amount{Tokens: 10}}); err != nil {
		t.Fatal(err)
	}
	for name, limit := range map[string]budget.Limit{
		"its own": {Scope: budget.ScopeSession, Target: child}, "of its parent": {Scope: budget.ScopeSession, Target: parent},
		"of every session": {Scope: budget.ScopeSession}, "of the token": {Scope: budget.ScopeToken, Target: acc.Token}, "of the server": {Scope: budget.ScopeServer},
	} {
		for tokens, want := range map[int64]api.Reason{10: api.BudgetExceeded, 11: ""} {
			limit.ID, limit.Tokens = "b-test", &tokens
			if err := f.accounts.change(t.Context(), budget.Row{Time: f.accounts.now(), Limit: &limit}); err != nil {
				t.Fatal(err)
			}
			got, err := f.payer(t.Context(), child, agent)
			if reason := reasonOf(err); reason != want || err == nil && !reflect.DeepEqual(got, paid) {
				t.Errorf("the limit %s is %d of 10 used tokens: the account is %+v, %v; want the reason %q", name, tokens, got, err, want)
			}
		}
	}
}

// reasonOf returns the reason of an error, or "".
func reasonOf(err error) api.Reason {
	if err == nil {
		return ""
	}
	return session.FailureOf(err).Reason
}
