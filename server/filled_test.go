package server

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/internal/test/filled"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// TestFilled_stored encodes and decodes the values that the server stores or sends to other servers, with a distinct value in
// every field.
func TestFilled_stored(t *testing.T) {
	filled.JSON[token](t)
	filled.JSON[subscriber](t)
	filled.JSON[pushed](t)
	filled.JSON[position](t)
	filled.JSON[sharedOnce[notice]](t)
	filled.JSON[sharedOnce[pairing]](t)
	filled.JSON[pushMessage](t)
	filled.JSON[forwarded](t)
	filled.JSON[forwardedResult](t)
	filled.JSON[webhook.Event](t)
	filled.JSON[api.AuditRow](t)
	filled.JSON[api.Envelope](t)
}

// TestFilled_methods encodes and decodes the parameters and the result of every method with a distinct value in every field.
func TestFilled_methods(t *testing.T) {
	own := map[reflect.Type]bool{ // encoded like their content
		reflect.TypeFor[api.PermissionListResult](): true, reflect.TypeFor[api.GetHistoryResult](): true,
	}
	for _, m := range Methods() {
		for _, ty := range []reflect.Type{m.Params, m.Result} {
			if own[ty] {
				continue
			}
			want, got := reflect.New(ty), reflect.New(ty)
			filled.Set(t, want.Elem())
			data, err := json.Marshal(want.Interface())
			if err == nil {
				err = json.Unmarshal(data, got.Interface())
			}
			if err != nil {
				t.Errorf("%s: %v: %v", m.Name, ty, err)
				continue
			}
			filled.Equal(t, m.Name, got.Elem().Interface(), want.Elem().Interface())
		}
	}
}

// TestFilled_prompt checks that the separately decoded parameters of a prompt match those of the
// service.
func TestFilled_prompt(t *testing.T) {
	text := filled.Of[api.QueryParams](t)
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var p prompt
	if err := p.decode(data); err != nil {
		t.Fatal(err)
	}
	got := p.QueryParams
	got.Text = p.text.Text()
	filled.Equal(t, "a prompt", got, text)
	content := filled.Of[api.QueryWithContentParams](t)
	if data, err = json.Marshal(content); err != nil {
		t.Fatal(err)
	}
	var b blocks
	if err := b.decode(data); err != nil {
		t.Fatal(err)
	}
	filled.Equal(t, "a prompt as blocks", b.QueryWithContentParams, content)
}

// TestFilled_tokens checks that each field of a token is in the file, and that it affects its
// holder or the list.
func TestFilled_tokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokensName)
	one := filled.Of[token](t)
	one.Role, one.Expires = roleViewer.String(), time.Now().Add(time.Hour).UTC()
	tokens := newTokens(path)
	if err := tokens.save([]token{one}); err != nil {
		t.Fatal(err)
	}
	again, err := openTokens(path)
	if err != nil || len(again.all) != 1 {
		t.Fatalf("the file has %+v, %v, want a token", again, err)
	}
	filled.Equal(t, "the token in the file", again.all[0], one)
	filled.Converted(t, one, func(tk token) principal { return *tk.principal(roleViewer) }, "Role", "Paired", "Port", "Hash", "Node", "Created", "Expires")
	one.Parent, one.Port, one.Node = "", "", ""
	listed := func(tk token) api.TokenInfo {
		tokens := newTokens(path)
		tokens.set([]token{tk})
		return tokens.list()[0]
	}
	filled.Converted(t, one, listed, "Parent", "Account", "Answers", "Port", "Hash", "Node")
}

// TestFilled_webhooks checks that each field of a webhook that a client sets is stored and shown again, after a restart too.
func TestFilled_webhooks(t *testing.T) {
	h := newHarness(t)
	want := filled.Of[api.Webhook](t)
	want.ID, want.URL, want.Events, want.LastError, want.Pending = "", "https://example.com/hook", []string{webhook.Failed}, "", 0
	for _, enabled := range []bool{true, false} {
		want.Enabled = enabled
		var made api.WebhooksSetResult
		h.call("webhooks.set", api.WebhooksSetParams{Webhook: want, Secret: "a secret that is long"}, &made)
		want.ID = made.Webhook.ID
		filled.Equal(t, "the result", made.Webhook, want)
		for range 2 {
			var list api.WebhooksListResult
			h.call("webhooks.list", api.Empty{}, &list)
			if len(list.Webhooks) != 1 {
				t.Fatalf("the list is %+v, want one webhook", list)
			}
			filled.Equal(t, "the webhook in the list", list.Webhooks[0], want)
			if k, _ := h.server.webhooks.find(func(subscriber) bool { return true }); k.Secret != "a secret that is long" {
				t.Errorf("the secret is %q", k.Secret)
			}
			h.restart()
		}
	}
}

// settingsOf keeps rules and servers in memory.
type settingsOf struct {
	*agenttest.Provider
	rules   []agent.Rule
	servers []agent.MCPConfig
}

func (p *settingsOf) Rules(string) ([]agent.Rule, error) { return p.rules, nil }

func (p *settingsOf) SetRule(_ string, r agent.Rule, _ bool) error {
	p.rules = append(p.rules, r)
	return nil
}

func (p *settingsOf) MCPServers(string) ([]agent.MCPConfig, error) { return p.servers, nil }

func (p *settingsOf) SetMCPServer(_ string, m agent.MCPConfig) error {
	p.servers = append(p.servers, m)
	return nil
}

func (p *settingsOf) RemoveMCPServer(string, string) error { return nil }

// TestFilled_settings checks that each field of a rule, of an MCP server and of a budget that a client sets reaches the agent or the book, and
// the list.
func TestFilled_settings(t *testing.T) {
	p := &settingsOf{}
	h := newHarness(t, func(o *Options) {
		p.Provider = &agenttest.Provider{Dir: filepath.Join(filepath.Dir(o.Dir), "agent")}
		o.Providers = []agent.Provider{p}
	})
	h.call("rules.add", api.RuleParams{Rule: "Bash(ls)", Behavior: "deny", Scope: agent.ScopeLocal}, nil)
	if want := (agent.Rule{Text: "Bash(ls)", Behavior: "deny", Scope: agent.ScopeLocal}); len(p.rules) != 1 || p.rules[0] != want {
		t.Errorf("the rules are %+v, want %+v", p.rules, want)
	}
	rule, config := filled.Of[agent.Rule](t), filled.Of[agent.MCPConfig](t)
	filled.Converted(t, rule, func(r agent.Rule) api.Rule {
		p.rules = []agent.Rule{r}
		var list api.RulesListResult
		h.call("rules.list", api.SettingsOf{}, &list)
		return list.Rules[0]
	})
	filled.Converted(t, config, func(m agent.MCPConfig) api.MCPConfig {
		p.servers = []agent.MCPConfig{m}
		var list api.MCPConfiguredResult
		h.call("mcp.configured", api.SettingsOf{}, &list)
		return list.Servers[0]
	})
	local, remote := config, config
	local.Name, local.Scope, local.File, local.Type, local.URL, local.Headers = "a", agent.ScopeProject, "", "stdio", "", nil
	remote.Name, remote.Scope, remote.File, remote.Type, remote.URL = "b", agent.ScopeProject, "", "http", "https://example.com"
	remote.Command, remote.Args, remote.Env = "", nil, nil
	for _, want := range []agent.MCPConfig{local, remote} {
		p.servers = nil
		h.call("mcp.configure", api.MCPConfigureParams{Server: api.MCPConfig(want)}, nil)
		if len(p.servers) != 1 {
			t.Fatalf("the servers are %+v, want one", p.servers)
		}
		filled.Equal(t, "the MCP server", p.servers[0], want)
	}
	budget := filled.Of[api.Budget](t)
	budget.ID, budget.Scope, budget.Period, budget.Action, budget.Of = "", "session", "month", "notify", ""
	budget.SpentTokens, budget.Level = 0, "ok"
	*budget.SpentUSD = 0
	var made api.BudgetSetResult
	h.call("budget.set", api.BudgetSetParams{Budget: budget}, &made)
	budget.ID, budget.ResetsAt = made.Budget.ID, made.Budget.ResetsAt
	if budget.ID == "" || budget.ResetsAt == "" {
		t.Errorf("the budget has the id %q and the reset %q", budget.ID, budget.ResetsAt)
	}
	filled.Equal(t, "the result", made.Budget, budget)
	for range 2 {
		var list api.BudgetListResult
		h.call("budget.list", api.BudgetListParams{}, &list)
		if len(list.Budgets) != 1 {
			t.Fatalf("the list is %+v, want one budget", list)
		}
		filled.Equal(t, "the budget in the list", list.Budgets[0], budget)
		h.restart()
	}
}

// TestFilled_history checks that each field of a session on disk is shown.
func TestFilled_history(t *testing.T) {
	filled.Converted(t, filled.Of[agent.HistoryInfo](t), historyInfo)
	info := historyInfo(filled.Of[agent.HistoryInfo](t))
	for what, text := range map[string]string{"created": info.CreatedAt, "changed": info.LastModified} {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if info.CreatedAt >= info.LastModified {
		t.Errorf("it was created at %s and changed at %s", info.CreatedAt, info.LastModified)
	}
}

// TestAuditRow_bounded checks that a long parameter of a call, which may be one that was refused, is cut in its audit row.
func TestAuditRow_bounded(t *testing.T) {
	log := &outboxLog{}
	a, err := openAudit(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{audit: a}
	c := &caller{principal: &principal{id: "t", role: roleViewer}}
	ty := reflect.TypeFor[auditParams]()
	for i := range ty.NumField() {
		f := ty.Field(i)
		if f.Type.Kind() != reflect.String {
			continue
		}
		v := reflect.New(ty).Elem()
		long := []byte("é")
		for len(long) < 1<<20 {
			long = append(long, long...)
		}
		v.Field(i).SetString("x" + string(long))
		params, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.auditRow(c, "permission.respond", params, session.Invalid("no")); err != nil {
			t.Fatal(err)
		}
		row := log.events[len(log.events)-1]
		if len(row) > 1024 || !json.Valid(row) {
			t.Errorf("with a long %s the row has %d bytes: %.200s", f.Name, len(row), row)
		}
		page, err := a.list(context.Background(), api.AuditListParams{Limit: 1})
		if err != nil || len(page.Rows) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		if got := page.Rows[0]; got.SessionID+got.RequestID+string(got.Detail) == "" {
			t.Errorf("the row has nothing of a long %s", f.Name)
		}
	}
}
