package server

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/contextref"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

func contextBuild(_ *Server, _ context.Context, _ *caller, p api.ContextBuildParams) (api.ContextBuildResult, error) {
	text, err := withContexts(p.Text, p.Contexts, p.Language)
	return api.ContextBuildResult{Text: text}, err
}

func contextParse(_ *Server, _ context.Context, _ *caller, p api.ContextParseParams) (api.ContextParseResult, error) {
	text, refs := contextref.Parse(p.Text)
	result := api.ContextParseResult{Text: text, Contexts: []event.JSON{}}
	for _, ref := range refs {
		one, err := contextref.References{ref}.MarshalJSON()
		if err != nil {
			return result, err
		}
		result.Contexts = append(result.Contexts, event.JSON(one[1:len(one)-1])) // the element of the array
	}
	return result, nil
}

func settingsGet(s *Server, _ context.Context, _ *caller, _ api.Empty) (api.SettingsResult, error) {
	return api.SettingsResult{
		DefaultModel: s.opts.DefaultModel, DefaultPermissionMode: s.opts.defaultMode(), IncludePartialMessages: true,
		AllowBypassPermissions: s.opts.AllowBypass, Directories: s.opts.Directories,
	}, nil
}

// health reports on the sessions that the caller may see.
func health(s *Server, ctx context.Context, c *caller, _ api.Empty) (api.HealthResult, error) {
	all := slices.DeleteFunc(s.sessions.All(ctx), func(e session.Info) bool { return c.session != "" && c.session != e.SessionID })
	result := api.HealthResult{Status: "ok", Sessions: int64(len(all)), Version: s.opts.Version}
	if s.sessions.Working() != nil || s.sessions.Giving() {
		result.Status = "draining"
	}
	for _, e := range all {
		switch session.State(e.State) {
		case session.Running, session.RequiresAction:
			result.Agents++
		}
	}
	return result, nil
}

func serverDrain(s *Server, _ context.Context, _ *caller, p api.DrainParams) (api.StatusResult, error) {
	if s.opts.Shutdown == nil {
		return api.StatusResult{}, session.Fail(api.Unsupported, "this server is not stopped by a call")
	}
	if p.TimeoutMS < 0 {
		return api.StatusResult{}, session.Invalid("timeout_ms is negative")
	}
	s.sessions.Refuse()
	s.opts.Shutdown()
	return api.StatusResult{Status: "draining"}, nil
}

// Token creates the token of the server's owner, with the role admin. It is valid until the server
// ends; each call replaces the previous one.
func (s *Server) Token() string { return s.tokens.begin() }

// PrintedToken creates a token like [Server.Token] that is valid at the port of an address, also after a
// crash, until [Server.EndPrinted] is called: its hash is in [Options].Dir. If it cannot be stored, for instance on a full disk, it is
// valid until the server ends, and the reason is logged.
func (s *Server) PrintedToken(addr net.Addr) (string, error) {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "", fmt.Errorf("server: %w", err)
	}
	value, err := s.tokens.print(port)
	if err != nil {
		s.logger.Warn("the printed token cannot be stored: it ends with the server", "err", err)
	}
	if value == "" {
		value = s.Token()
	}
	return value, nil
}

// EndPrinted revokes the printed tokens of the data directory and the cookies created from them. After an error, for instance
// of the disk, they are valid again in the next server.
func (s *Server) EndPrinted() error {
	if err := s.tokens.endPrinted(); err != nil {
		return fmt.Errorf("server: the printed token: %w", err)
	}
	return nil
}

// CreateToken creates a token with a role and a lifetime, 0 for no expiry. It is for the owner of
// the machine; clients use the method tokens.create.
func (s *Server) CreateToken(name, roleName string, age time.Duration) (string, error) {
	r, err := parseRole(roleName)
	if err != nil {
		return "", err
	}
	_, value, err := s.tokens.create(token{Name: name, Role: r.String()}, age)
	return value, err
}

// seconds converts a number of seconds from a client to a duration, and checks for overflow.
func seconds(n int64) (time.Duration, error) {
	if n < 0 || n > int64(maxTokenAge/time.Second) {
		return 0, session.Invalid("expires_in_s is not between 0 and 10 years")
	}
	return time.Duration(n) * time.Second, nil
}

func tokensCreate(s *Server, ctx context.Context, _ *caller, p api.TokensCreateParams) (api.TokensCreateResult, error) {
	r, err := parseRole(p.Role)
	if err != nil {
		return api.TokensCreateResult{}, session.Invalid("%v", err)
	}
	name := ""
	if p.Name != "" {
		var ok bool
		if name, ok = session.ValidTitle(p.Name); !ok {
			return api.TokensCreateResult{}, session.Invalid("the name is not one line of visible characters")
		}
	}
	age, err := seconds(p.ExpiresIn)
	if err != nil {
		return api.TokensCreateResult{}, err
	}
	tenant := ""
	if p.Tenant != "" {
		var ok bool
		if tenant, ok = session.ValidTitle(p.Tenant); !ok {
			return api.TokensCreateResult{}, session.Invalid("the tenant is not one line of visible characters")
		}
	}
	if tenant != "" && r == roleAdmin {
		return api.TokensCreateResult{}, session.Invalid("a token of a tenant is for a viewer or an operator")
	}
	if err := s.agentOf(ctx, p, r, tenant); err != nil {
		return api.TokensCreateResult{}, err
	}
	tk, value, err := s.tokens.create(token{Name: name, Role: r.String(), Tenant: tenant, AgentOf: p.AgentOf, Answers: p.Answers}, age)
	return api.TokensCreateResult{ID: tk.ID, Token: value, ExpiresAt: tk.expiry()}, err
}

func (t token) expiry() string {
	if t.Expires.IsZero() {
		return ""
	}
	return session.Timestamp(t.Expires)
}

func tokensRevoke(s *Server, _ context.Context, _ *caller, p api.TokensRevokeParams) (api.Empty, error) {
	return api.Empty{}, s.tokens.revoke(p.ID)
}

func tokensList(s *Server, _ context.Context, c *caller, _ api.Empty) (api.TokensListResult, error) {
	all := s.tokens.list()
	for i := range all {
		all[i].Current = all[i].ID == c.account // a cookie has the account of its token
	}
	return api.TokensListResult{Tokens: all}, nil
}

// defaultShareAge is the default lifetime of a link.
const defaultShareAge = 24 * time.Hour

func shareCreate(s *Server, ctx context.Context, _ *caller, p api.ShareCreateParams) (api.ShareCreateResult, error) {
	e, err := s.sessions.Lookup(ctx, p.SessionID)
	if err != nil {
		return api.ShareCreateResult{}, err
	}
	age, err := seconds(p.ExpiresIn)
	if err != nil {
		return api.ShareCreateResult{}, err
	}
	setDefault(&age, defaultShareAge)
	name := ""
	if p.Name != "" {
		var ok bool
		if name, ok = session.ValidTitle(p.Name); !ok {
			return api.ShareCreateResult{}, session.Invalid("the name is not one line of visible characters")
		}
	}
	tk, value, err := s.tokens.create(token{Name: name, Role: roleViewer.String(), Session: p.SessionID, Tenant: e.Tenant}, age)
	link := "/?session=" + url.QueryEscape(p.SessionID) + "#token=" + value
	return api.ShareCreateResult{ID: tk.ID, URL: link, Token: value, ExpiresAt: tk.expiry()}, err
}

// shareRevoke revokes a link; other tokens need an admin.
func shareRevoke(s *Server, _ context.Context, c *caller, p api.ShareRevokeParams) (api.Empty, error) {
	for _, info := range s.tokens.list() {
		if info.ID == p.ID && info.SessionID != "" && c.sees(info.Tenant) {
			return api.Empty{}, s.tokens.revoke(p.ID)
		}
	}
	return api.Empty{}, session.Conflict("link %q not found", p.ID)
}

func auditList(s *Server, ctx context.Context, _ *caller, p api.AuditListParams) (api.AuditListResult, error) {
	return s.audit.list(ctx, p)
}

func providersList(s *Server, ctx context.Context, c *caller, _ api.Empty) (api.ProvidersListResult, error) {
	result := api.ProvidersListResult{}
	tenant, err := s.tenants.get(ctx, c.tenant)
	if err != nil {
		return result, err
	}
	for i, p := range tenant.Providers {
		result.Providers = append(result.Providers, s.describeProvider(p, i == 0, tenant.Env))
	}
	return result, nil
}

// describeProvider describes an agent; the first one is the default.
func (s *Server) describeProvider(p agent.Provider, first bool, env []string) api.ProviderInfo {
	sim, ok := p.(agent.Simulator)
	info := api.ProviderInfo{
		Name: p.Name(), DisplayName: p.Name(), Available: true, Default: first, Simulated: first && s.opts.Simulated || ok && sim.Simulated(),
		Box: s.describeBox(p, s.boxKind(), false, env), Boxed: s.opts.Boxes.Always,
		Capabilities: session.CapabilitiesOf(p, nil, s.opts.AllowBypass || s.describeBox(p, "", false, env).Sealed()),
	}
	if err := s.checkSandbox(p, ""); err != nil {
		info.Available, info.Error = false, session.FailureOf(err).Message
	}
	return info
}
