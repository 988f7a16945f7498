package server

import (
	"context"
	"errors"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/budget"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// sweeping is an agent with leftover processes.
type sweeping struct {
	*agenttest.Provider
	left  int
	fails error
}

func (s *sweeping) Sweep(context.Context) (int, error) { return s.left, s.fails }

// TestTenant_open checks that each tenant is opened once and gets its own agents and environment. A
// tenant that cannot be opened does not get those of another tenant.
func TestTenant_open(t *testing.T) {
	named := func(name string) agent.Provider { return &agenttest.Provider{ProviderName: name} }
	failed := errors.New("failed")
	opened := map[string]int{}
	ts := newTenants(Options{Providers: []agent.Provider{named("own")}, Env: []string{"OWN=1"}, Tenant: func(name string) (Tenant, error) {
		opened[name]++
		switch name {
		case "closed":
			return Tenant{Providers: []agent.Provider{named("closed")}}, failed
		case "empty":
			return Tenant{}, nil
		case "unswept":
			return Tenant{Providers: []agent.Provider{&sweeping{&agenttest.Provider{}, 0, failed}}}, nil
		}
		return Tenant{Providers: []agent.Provider{named("first of " + name), named("second of " + name)}, Env: []string{"IN=" + name}}, nil
	}})
	for range 2 {
		for _, name := range []string{"a", "b"} {
			got, err := ts.get(t.Context(), name)
			if err != nil || got.Providers[0].Name() != "first of "+name || got.Env[0] != "IN="+name {
				t.Fatalf("tenant %s: %+v, %v", name, got, err)
			}
			for provider, want := range map[string]string{"": "first of " + name, "first of " + name: "first of " + name, "second of " + name: "second of " + name, "own": ""} {
				p, err := got.provider(provider)
				if want == "" {
					if session.FailureOf(err).Reason != api.InvalidParams {
						t.Errorf("tenant %s has provider %v, %v", name, p, err)
					}
				} else if err != nil || p.Name() != want {
					t.Errorf("provider %q of tenant %s is %v, %v, want %s", provider, name, p, err, want)
				}
			}
			if all, err := ts.apart(t.Context(), &principal{tenant: name}); err != nil || len(all) != 2 || all[0].Name() != "first of "+name {
				t.Errorf("tenant %s reads the history of %v, %v", name, all, err)
			}
		}
		if own, err := ts.get(t.Context(), ""); err != nil || own.Env[0] != "OWN=1" || own.Providers[0].Name() != "own" {
			t.Errorf("without a tenant: %+v, %v", own, err)
		}
	}
	if opened["a"] != 1 || opened["b"] != 1 || opened[""] != 0 {
		t.Errorf("the tenants were opened %v times, want each once", opened)
	}
	for _, name := range []string{"closed", "empty", "unswept"} {
		for range 2 {
			if got, err := ts.get(t.Context(), name); err == nil {
				t.Errorf("tenant %s: %+v", name, got)
			}
			if all, err := ts.apart(t.Context(), &principal{tenant: name}); err == nil {
				t.Errorf("tenant %s reads the history of %v", name, all)
			}
		}
		if opened[name] != 4 {
			t.Errorf("tenant %s was opened %d times, want with each call", name, opened[name])
		}
	}
	if _, err := ts.get(t.Context(), "closed"); !errors.Is(err, failed) {
		t.Errorf("the error of a tenant is %v, want %v", err, failed)
	}
}

// TestTenant_unconfigured checks a server with one configuration for all: tenants run with it, and read no history.
func TestTenant_unconfigured(t *testing.T) {
	ts := newTenants(Options{Providers: []agent.Provider{&agenttest.Provider{}}})
	if got, err := ts.get(t.Context(), "a"); err != nil || got != ts.own {
		t.Errorf("a tenant: %+v, %v", got, err)
	}
	if all, err := ts.apart(t.Context(), &principal{tenant: "a"}); session.FailureOf(err).Reason != api.Unsupported || all != nil {
		t.Errorf("a tenant reads the history of %v, %v", all, err)
	}
	if all, err := ts.apart(t.Context(), &principal{}); err != nil || len(all) != 1 {
		t.Errorf("the owner reads the history of %v, %v", all, err)
	}
	if _, err := (&Tenant{}).provider(""); err == nil {
		t.Error("there is a provider of none")
	}
}

// TestSweep checks the returned number of killed processes, and that the first failure stops the
// sweep.
func TestSweep(t *testing.T) {
	failed := errors.New("failed")
	plain, two, three, broken := &agenttest.Provider{}, &sweeping{&agenttest.Provider{}, 2, nil}, &sweeping{&agenttest.Provider{}, 3, nil}, &sweeping{&agenttest.Provider{}, 7, failed}
	if n, err := sweep(t.Context(), []agent.Provider{plain, two, three}); n != 5 || err != nil {
		t.Errorf("%d processes, %v, want 5", n, err)
	}
	if n, err := sweep(t.Context(), []agent.Provider{two, broken, three}); n != 2 || !errors.Is(err, failed) {
		t.Errorf("%d processes, %v, want 2 and %v", n, err, failed)
	}
}

// TestSees checks every pair of a caller and a tenant: only the owner's tokens see other tenants.
func TestSees(t *testing.T) {
	for _, tt := range []struct {
		p    principal
		sees map[string]bool
	}{
		{principal{}, map[string]bool{"": true, "a": true, "b": true}},
		{principal{agentOf: "s"}, map[string]bool{"": true, "a": false, "b": false}},
		{principal{tenant: "a"}, map[string]bool{"": false, "a": true, "b": false}},
		{principal{tenant: "a", agentOf: "s"}, map[string]bool{"": false, "a": true, "b": false}},
	} {
		c := &caller{principal: &tt.p}
		for tenant, want := range tt.sees {
			if got := tt.p.sees(tenant); got != want {
				t.Errorf("%+v sees tenant %q: %t, want %t", tt.p, tenant, got, want)
			}
			if got := visible(withCaller(t.Context(), c), tenant); got != want {
				t.Errorf("tenant %q is visible for %+v: %t, want %t", tenant, tt.p, got, want)
			}
		}
		as := c.of("b")
		if as.tenant != "b" || as.agentOf != tt.p.agentOf || c.tenant != tt.p.tenant {
			t.Errorf("as one of a tenant %+v is %+v", c.principal, as.principal)
		}
	}
	for _, tenant := range []string{"", "a"} {
		if !visible(t.Context(), tenant) {
			t.Errorf("the server itself does not see tenant %q", tenant)
		}
	}
}

// TestAuditMatches checks each filter of the audit log alone and together.
func TestAuditMatches(t *testing.T) {
	row := api.AuditRow{SessionID: "s", By: "b", TS: "2026-03"}
	for want, all := range map[bool][]api.AuditListParams{
		true:  {{}, {SessionID: "s"}, {By: "b"}, {Since: "2026-03"}, {Since: "2026-02"}, {Until: "2026-04"}, {SessionID: "s", By: "b", Since: "2026-03", Until: "2026-04"}},
		false: {{SessionID: "b"}, {By: "s"}, {Since: "2026-04"}, {Until: "2026-03"}, {Until: "2026-02"}, {SessionID: "s", By: "x"}, {SessionID: "x", By: "b"}, {Since: "2026-03", Until: "2026-03"}},
	} {
		for _, p := range all {
			if got := auditMatches(row, p); got != want {
				t.Errorf("%+v matches: %t, want %t", p, got, want)
			}
		}
	}
}

// TestQuiet checks in which states a session may be deleted because of a limit: without viewers and
// pending work.
func TestQuiet(t *testing.T) {
	quietStates := map[session.State]bool{session.Idle: true, session.Ended: true, session.Interrupted: true}
	for _, state := range []session.State{session.Idle, session.Ended, session.Interrupted, session.Running, session.RequiresAction, session.Failed, session.LostHost, "newer", ""} {
		if got := quiet(session.Info{SessionSummary: api.SessionSummary{State: string(state)}}); got != quietStates[state] {
			t.Errorf("a session in state %q is quiet: %t, want %t", state, got, quietStates[state])
		}
	}
	for name, i := range map[string]api.SessionSummary{"a viewer": {Viewers: 1}, "a prompt in the queue": {Queued: 1}, "an open request": {Prompts: 1}, "another process": {Live: "x"}} {
		i.State = string(session.Idle)
		if quiet(session.Info{SessionSummary: i}) {
			t.Errorf("a session with %s is quiet", name)
		}
	}
}

// TestTenant_budgets checks that a tenant sees the budgets that apply to it, and neither those of another tenant nor their usage.
func TestTenant_budgets(t *testing.T) {
	h := newHarness(t)
	own := map[string]bool{
		h.setBudget(api.Budget{Scope: budget.ScopeTenant, Target: "north", LimitTokens: new(int64(1))}).ID:      true,
		h.setBudget(api.Budget{Scope: budget.ScopeTenant, LimitTokens: new(int64(1))}).ID:                       true,
		h.setBudget(api.Budget{Scope: budget.ScopeTenant, Target: "south", LimitTokens: new(int64(1))}).ID:      false,
		h.setBudget(api.Budget{Scope: budget.ScopeToken, Target: "owner", LimitTokens: new(int64(1))}).ID:       false,
		h.setBudget(api.Budget{Scope: budget.ScopeServer, LimitTokens: new(int64(100)), LimitUSD: new(1.0)}).ID: true,
	}
	south := budget.Row{Time: time.Now(), Account: budget.Account{Tenant: "south"}, Amount: budget.Amount{Tokens: 7, USD: 0.5}}
	if err := h.server.accounts.Add(t.Context(), south); err != nil {
		t.Fatal(err)
	}
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "viewer", Tenant: "north"}, &tk)
	var list api.BudgetListResult
	if err := h.client(tk.Token).Call(h.ctx(), "budget.list", api.BudgetListParams{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, b := range list.Budgets {
		if !own[b.ID] || b.SpentTokens != 0 || b.SpentUSD != nil && *b.SpentUSD != 0 {
			t.Errorf("the tenant sees %+v, want no budget or usage of others", b)
		}
	}
	if len(list.Budgets) != 3 {
		t.Errorf("the tenant sees %d budgets, want 3", len(list.Budgets))
	}
}

// TestTenant_links checks that a link to a session of a tenant belongs to the tenant, whoever has made it: the tenant can end it, and no other link.
func TestTenant_links(t *testing.T) {
	h := newHarness(t)
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "operator", Tenant: "north"}, &tk)
	north := h.client(tk.Token)
	var r api.ConnectResult
	if err := north.Call(h.ctx(), "session.connect", api.ConnectParams{}, &r); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]api.Reason{r.SessionID: "", h.connect(): api.Conflict} {
		var link api.ShareCreateResult
		h.call("share.create", api.ShareCreateParams{SessionID: session}, &link)
		if err := north.Call(h.ctx(), "share.revoke", api.ShareRevokeParams{ID: link.ID}, nil); client.Reason(err) != want {
			t.Errorf("the tenant ends a link to session %s (its own is %s): %v, want %q", session, r.SessionID, err, want)
		}
	}
}

// TestHealth_sees checks that the numbers of sessions and agents are those that the caller sees: all, those of a tenant, or the one of a link.
func TestHealth_sees(t *testing.T) {
	h := newHarness(t)
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "operator", Tenant: "north"}, &tk)
	if err := h.client(tk.Token).Call(h.ctx(), "session.connect", api.ConnectParams{}, nil); err != nil {
		t.Fatal(err)
	}
	quiet, busy := h.connect(), h.connect()
	h.query(busy, "wait")
	w := h.watch(busy)
	w.awaitAnswer("I wait.")
	link := func(id string) string {
		var r api.ShareCreateResult
		h.call("share.create", api.ShareCreateParams{SessionID: id}, &r)
		return r.Token
	}
	for name, tt := range map[string]struct {
		token            string
		sessions, agents int64
	}{
		"the owner": {h.token, 3, 1}, "a tenant": {tk.Token, 1, 0}, "a link to a quiet session": {link(quiet), 1, 0}, "a link to a busy one": {link(busy), 1, 1},
	} {
		var got api.HealthResult
		if err := h.client(tt.token).Call(h.ctx(), "health", api.Empty{}, &got); err != nil || got.Sessions != tt.sessions || got.Agents != tt.agents {
			t.Errorf("%s: %d sessions and %d agents, %v, want %d and %d", name, got.Sessions, got.Agents, err, tt.sessions, tt.agents)
		}
	}
	h.call("session.interrupt", api.SessionRef{SessionID: busy}, nil)
	w.results(1)
}
