package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// twoTenants is a server with a token and a session of each of two tenants.
type twoTenants struct {
	*repoHarness
	tokens, sessions map[string]string // by tenant
	agents           map[string]*envProvider
}

var tenantNames = []string{"acme", "globex"}

func newTwoTenants(t *testing.T, own bool) *twoTenants {
	t.Helper()
	w := &twoTenants{tokens: map[string]string{}, sessions: map[string]string{}, agents: map[string]*envProvider{}}
	dir := t.TempDir()
	w.repoHarness = newRepoHarness(t, func(o *Options) {
		if !own {
			return
		}
		o.Tenant = func(name string) (Tenant, error) {
			files := filepath.Join(dir, name)
			if err := os.MkdirAll(files, 0o700); err != nil {
				return Tenant{}, err
			}
			w.agents[name] = &envProvider{Provider: &agenttest.Provider{Dir: files}}
			return Tenant{[]agent.Provider{w.agents[name]}, []string{"OF=" + name}}, nil
		}
	})
	for _, name := range tenantNames {
		var tk api.TokensCreateResult
		w.call("tokens.create", api.TokensCreateParams{Role: "operator", Tenant: name}, &tk)
		w.tokens[name] = tk.Token
		var c api.ConnectResult
		w.as(name, "session.connect", api.ConnectParams{}, &c)
		w.sessions[name] = c.SessionID
	}
	return w
}

func (w *twoTenants) as(tenant, method string, params, result any) {
	w.Helper()
	if err := w.client(w.tokens[tenant]).Call(w.ctx(), method, params, result); err != nil {
		w.Fatalf("%s as %s: %v", method, tenant, err)
	}
}

// run runs a turn of a tenant's session and returns its agent's session id.
func (w *twoTenants) run(tenant, text string) string {
	w.Helper()
	id := w.sessions[tenant]
	v := w.watchAs(w.tokens[tenant], id)
	defer v.stop()
	w.as(tenant, "session.query", api.QueryParams{SessionID: id, Text: text}, nil)
	v.results(1)
	for _, s := range w.list(tenant) {
		if s.SessionID == id {
			return s.AgentSessionID
		}
	}
	w.Fatalf("%s does not see its session", tenant)
	return ""
}

func (w *twoTenants) list(tenant string) []api.SessionSummary {
	w.Helper()
	var list api.ListResult
	w.as(tenant, "session.list", api.ListParams{}, &list)
	return list.Sessions
}

func (w *twoTenants) kept(tenant string) []string {
	w.Helper()
	var list api.HistoryListResult
	w.as(tenant, "history.list", api.HistoryListParams{}, &list)
	var ids []string
	for _, s := range list.Sessions {
		ids = append(ids, s.SessionID)
	}
	return ids
}

// TestTenant checks that a tenant sees only its own sessions and history, also after a restart, and
// that its agents have a separate environment.
func TestTenant(t *testing.T) {
	w := newTwoTenants(t, true)
	agentIDs := map[string]string{}
	for _, name := range tenantNames {
		agentIDs[name] = w.run(name, "say "+name)
		if got := w.agents[name].variable("OF"); got != name {
			t.Errorf("the agent of %s has the environment of %q", name, got)
		}
	}
	for i := range 2 {
		for _, name := range tenantNames {
			if got := w.list(name); len(got) != 1 || got[0].SessionID != w.sessions[name] {
				t.Errorf("round %d: %s sees %+v", i, name, got)
			}
			if got := w.kept(name); !slices.Equal(got, []string{agentIDs[name]}) {
				t.Errorf("round %d: the history of %s is %v, want %v", i, name, got, agentIDs[name])
			}
		}
		var all api.ListResult
		w.call("session.list", api.ListParams{}, &all)
		if len(all.Sessions) != 2 {
			t.Errorf("round %d: the owner sees %+v", i, all.Sessions)
		}
		w.restart()
	}
	err := w.client(w.tokens["acme"]).Call(w.ctx(), "history.load", api.HistoryLoadParams{Session: agentIDs["globex"]}, nil)
	if client.Reason(err) != api.SessionExpired {
		t.Errorf("the history of another tenant: %v", err)
	}
	err = w.client(w.tokens["acme"]).Call(w.ctx(), "session.connect", api.ConnectParams{ResumeSessionID: agentIDs["globex"]}, nil)
	if client.Reason(err) != api.SessionExpired {
		t.Errorf("resuming a session of another tenant: %v", err)
	}
	if got := w.list("acme"); len(got) != 1 {
		t.Errorf("a session was made for one that cannot be resumed: %+v", got)
	}
}

// TestTenant_refused calls every method that names a session with a session of another tenant. The
// response must equal that for an unknown session.
func TestTenant_refused(t *testing.T) {
	w := newTwoTenants(t, true)
	acme, theirs := w.client(w.tokens["acme"]), w.sessions["globex"]
	for _, m := range Methods() {
		h := methodByName[m.Name]
		if h.role == roleAdmin || !namesSession(m.Params) || slices.Contains(anySession, m.Name) {
			continue
		}
		text := fmt.Sprintf(`{"session_id":%q,"text":"x","content":[{"type":"text","text":"x"}],"message":"m","file":"a.txt","request_id":"r","behavior":"deny","action":"decline","title":"t","mode":"plan","id":"i","name":"n"}`, theirs)
		c := &caller{principal: &principal{id: "x", tenant: "acme", role: roleOperator}}
		if _, err := h.call(w.server, withCaller(w.ctx(), c), c, []byte(text)); err == nil {
			t.Errorf("%s works on the session of another tenant", m.Name)
		}
	}
	for _, method := range []string{"session.getHistory", "session.attach", "session.delete", "session.query", "permission.list", "workspace.diff", "share.create", "session.isolation", "usage.session"} {
		if err := acme.Call(w.ctx(), method, api.QueryParams{SessionID: theirs, Text: "x"}, nil); client.Reason(err) != api.SessionExpired {
			t.Errorf("%s: %v; want client.Reason(err) == api.SessionExpired", method, err)
		}
	}
	for _, path := range []string{"/v1/sessions/" + theirs + "/events?wait=0", "/metrics", "/v1/backup"} {
		req, err := http.NewRequestWithContext(w.ctx(), http.MethodGet, w.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+w.tokens["acme"])
		if status, _, data := w.do(req); status == http.StatusOK {
			t.Errorf("%s: %s; want status != http.StatusOK", path, data)
		}
	}
	if got := w.list("globex"); len(got) != 1 {
		t.Errorf("after all that globex sees %+v", got)
	}
	for _, method := range []string{"tokens.create", "tokens.list", "audit.list", "webhooks.list", "budget.set"} {
		if err := acme.Call(w.ctx(), method, api.Empty{}, nil); client.Reason(err) != api.AuthFailed {
			t.Errorf("%s: %v; want client.Reason(err) == api.AuthFailed", method, err)
		}
	}
	w.refused(api.InvalidParams, "tokens.create", api.TokensCreateParams{Role: "admin", Tenant: "acme"})
}

// TestTenant_resume resumes sessions with the hello of a socket: sessions of another tenant get the
// response of unknown ones.
func TestTenant_resume(t *testing.T) {
	w := newTwoTenants(t, true)
	socket := w.dial(w.tokens["acme"])
	const unknown = "s-0123456789abcdef01234567"
	ids := []string{w.sessions["globex"], unknown, w.sessions["acme"]}
	var p api.HelloParams
	for _, id := range ids {
		p.Resume = append(p.Resume, api.ResumeCursor{SessionID: id})
	}
	if _, e := socket.call("hello", p); e != nil {
		t.Fatalf("hello: %+v", e)
	}
	for i, id := range ids {
		m := socket.read()
		got := m.Method + " " + strings.ReplaceAll(string(m.Params), id, "ID")
		if want := `detached {"session_id":"ID","reason":"session_expired"}`; (got == want) != (i < 2) {
			t.Errorf("session %d is resumed with %s", i, got)
		}
	}
}

// anySession are the methods that accept the id of any session, because they have no effect or show
// less.
var anySession = strings.Fields(`session.detach budget.list`)

// namesSession reports whether parameters name a session, of the server or of an agent.
func namesSession(params reflect.Type) bool {
	for f := range params.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "session_id" || name == "session" || f.Anonymous && namesSession(f.Type) {
			return true
		}
	}
	return false
}

// TestTenant_workspace checks that a workspace belongs to the tenant that created it, and a link to
// the tenant of its session.
func TestTenant_workspace(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newTwoTenants(t, true)
	var ws api.WorkspaceResult
	w.as("acme", "workspace.create", api.WorkspaceCreateParams{Repo: w.repo}, &ws)
	globex := w.client(w.tokens["globex"])
	for method, params := range map[string]any{
		"workspace.remove": api.WorkspaceRemoveParams{ID: ws.Workspace.ID, Force: true}, "session.connect": api.ConnectParams{WorkspaceID: ws.Workspace.ID},
	} {
		if err := globex.Call(w.ctx(), method, params, nil); client.Reason(err) != api.InvalidParams {
			t.Errorf("%s with a workspace of another tenant: %v", method, err)
		}
	}
	for method, params := range map[string]any{
		"files.search": api.FilesSearchParams{CWD: ws.Workspace.Path}, "projects.list": api.ProjectsListParams{Path: ws.Workspace.Path},
		"workspace.create": api.WorkspaceCreateParams{Repo: ws.Workspace.Path}, "session.connect": api.ConnectParams{CWD: ws.Workspace.Path},
	} {
		var result json.RawMessage
		if err := globex.Call(w.ctx(), method, params, &result); client.Reason(err) != api.AuthFailed {
			t.Errorf("%s in the worktree of another tenant: %s, %v", method, result, err)
		}
	}
	for name, want := range map[string]int{"acme": 1, "globex": 0} {
		var list api.WorkspaceListResult
		w.as(name, "workspace.list", api.Empty{}, &list)
		if len(list.Workspaces) != want {
			t.Errorf("%s sees %+v", name, list.Workspaces)
		}
	}
	var link api.ShareCreateResult
	w.as("acme", "share.create", api.ShareCreateParams{SessionID: w.sessions["acme"]}, &link)
	if err := w.client(link.Token).Call(w.ctx(), "session.getHistory", api.SessionRef{SessionID: w.sessions["acme"]}, nil); err != nil {
		t.Errorf("a link to a session of a tenant: %v", err)
	}
	if err := globex.Call(w.ctx(), "share.revoke", api.ShareRevokeParams{ID: link.ID}, nil); client.Reason(err) != api.Conflict {
		t.Errorf("a link of another tenant was revoked: %v", err)
	}
}

// TestTenant_shared checks that a server without separate files for tenants denies them the shared
// history.
func TestTenant_shared(t *testing.T) {
	w := newTwoTenants(t, false)
	id := w.run("globex", "say hello")
	acme := w.client(w.tokens["acme"])
	for method, params := range map[string]any{
		"history.list": api.HistoryListParams{}, "history.load": api.HistoryLoadParams{Session: id}, "usage.summary": api.UsageSummaryParams{},
		"session.connect": api.ConnectParams{ResumeSessionID: id},
	} {
		if err := acme.Call(w.ctx(), method, params, nil); client.Reason(err) != api.Unsupported {
			t.Errorf("%s: %v; want client.Reason(err) == api.Unsupported", method, err)
		}
	}
}

// TestTenant_alike calls every method that names an object with an object of another tenant and
// with an unknown one: both responses are equal. The sessions of one tenant do not affect the view
// of another.
func TestTenant_alike(t *testing.T) {
	short.SkipQuick(t, "calls every method with sessions of others")
	w := newTwoTenants(t, true)
	agentID := w.run("globex", "say x")
	theirs := map[string]string{"session_id": w.sessions["globex"], "session": agentID}
	nobodys := map[string]string{"session_id": "s-0123456789abcdef01234567", "session": "0a0a0a0a-0000-4000-8000-00000000dead"}
	call := func(m *method, ids map[string]string) string {
		t.Helper()
		params := map[string]any{
			"text": "x", "content": []any{map[string]any{"type": "text", "text": "x"}}, "message": "m", "file": "a.txt", "request_id": "r", "behavior": "deny",
			"action": "decline", "title": "t", "mode": "plan", "id": "i", "name": "n", "format": "json", "port": 80, "path": "a.txt", "query": "q", "tag": "t", "model": "m",
		}
		for name, id := range ids {
			params[name] = id
		}
		var result json.RawMessage
		err := w.client(w.tokens["acme"]).Call(w.ctx(), m.name, params, &result)
		answer := string(result)
		if err != nil {
			answer = string(client.Reason(err)) + " " + err.Error()
		}
		for _, id := range ids {
			answer = strings.ReplaceAll(answer, id, "ID")
		}
		return answer
	}
	for _, m := range methods {
		if m.role == roleAdmin || !namesSession(m.params) || slices.Contains(anySession, m.name) {
			continue
		}
		if got, want := call(m, theirs), call(m, nobodys); got != want {
			t.Errorf("%s answers %q for what another tenant has, and %q for what nobody has", m.name, got, want)
		}
	}
	get := func(path, id string) string {
		t.Helper()
		return w.routed(w.tokens["acme"], path, id)
	}
	for _, rt := range routes() {
		if got, want := get(rt.pattern, theirs["session_id"]), get(rt.pattern, nobodys["session_id"]); rt.tenancy == ofTenant && got != want {
			t.Errorf("%s answers %q for what another tenant has, and %q for what nobody has", rt.pattern, got, want)
		}
	}
	var looks []string
	for _, m := range methods {
		if m.role < roleAdmin && m.tenancy == ofTenant && m.audit == unaudited {
			looks = append(looks, m.name)
		}
	}
	before := map[string]string{}
	folder := filepath.Join(w.opts.Directories[0], "theirs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for _, name := range looks {
			switch got := call(methodByName[name], nil); {
			case round == 0:
				before[name] = got
			case got != before[name]:
				t.Errorf("%s changes with the sessions of another tenant: %s, before %s", name, got, before[name])
			}
		}
		var c api.ConnectResult
		w.as("globex", "session.connect", api.ConnectParams{CWD: folder, InitialPrompt: "say q"}, &c)
		w.run("globex", "say more")
	}
}

// TestLink_alike checks that the holder of a link learns nothing about other sessions: each address
// responds equally for an existing and an unknown session.
func TestLink_alike(t *testing.T) {
	h := newHarness(t)
	var link api.ShareCreateResult
	h.call("share.create", api.ShareCreateParams{SessionID: h.connect()}, &link)
	other, nobodys := h.connect(), "s-0123456789abcdef01234567"
	for _, rt := range routes() {
		got, want := h.routed(link.Token, rt.pattern, other), h.routed(link.Token, rt.pattern, nobodys)
		if got != want || !strings.HasPrefix(got, "403 ") {
			t.Errorf("%s answers %q for another session, and %q for one that does not exist; want 403", rt.pattern, got, want)
		}
	}
	for _, m := range methods {
		if m.scope != linked || !namesSession(m.params) {
			continue
		}
		for _, id := range []string{other, nobodys} {
			if err := h.client(link.Token).Call(h.ctx(), m.name, api.SessionRef{SessionID: id}, nil); client.Reason(err) != api.AuthFailed {
				t.Errorf("%s of %s: %v, want auth_failed", m.name, id, err)
			}
		}
	}
}

// TestMetadata_bound checks the limit of the metadata of a new session and of a fork.
func TestMetadata_bound(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	h.query(id, "say one")
	h.watch(id).results(1)
	for size, want := range map[int]api.Reason{maxMetadata: "", maxMetadata + 1: api.InvalidParams} {
		params := api.ConnectParams{Metadata: map[string]string{"name": strings.Repeat("x", size-len("name"))}}
		var c api.ConnectResult
		if got := client.Reason(h.client(h.token).Call(h.ctx(), "session.connect", params, &c)); got != want {
			t.Errorf("session.connect with %d bytes of metadata: reason %q, want %q", size, got, want)
		}
		fork := api.ForkParams{SessionID: id, Metadata: params.Metadata}
		if got := client.Reason(h.client(h.token).Call(h.ctx(), "session.fork", fork, &c)); got != want {
			t.Errorf("session.fork with %d bytes of metadata: reason %q, want %q", size, got, want)
		}
	}
}
