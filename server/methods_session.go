package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/contextref"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/workspace"
)

type jsonText = event.JSON

func hello(s *Server, ctx context.Context, c *caller, p api.HelloParams) (api.HelloResult, error) {
	if c.socket != nil {
		c.socket.hello(ctx, p)
	}
	capabilities := []string{"ws", "sse", "poll", event.CapabilityOutputDelta}
	if s.opts.Docs != nil {
		capabilities = append(capabilities, "docs")
	}
	return api.HelloResult{
		Name: "parley", Version: s.opts.Version, Simulated: s.opts.Simulated, Role: c.role.String(),
		Capabilities: capabilities,
	}, nil
}

func connect(s *Server, ctx context.Context, c *caller, p api.ConnectParams) (api.ConnectResult, error) {
	if err := c.mayConnect(p); err != nil {
		return api.ConnectResult{}, err
	}
	if p.SessionID != "" { // an existing one
		return s.sessions.Connected(ctx, p.SessionID)
	}
	id := newSessionID(c.id, p.Key)
	if !s.sessions.Exists(id) {
		live, err := s.openElsewhere(ctx, c, p)
		if err == nil && live == nil {
			err = s.resumable(ctx, c, p)
		}
		if err != nil {
			return api.ConnectResult{}, err
		}
		if err := s.create(ctx, id, c, p); err != nil {
			return api.ConnectResult{}, err
		}
		if live != nil {
			return session.Of[session.Terminals](s.sessions).Following(ctx, id, live)
		}
	}
	result, err := s.sessions.Connected(ctx, id)
	if err == nil && p.InitialPrompt != "" {
		_, err = s.sessions.Query(ctx, id, "initial:"+id, event.Quote(p.InitialPrompt), "", c.by())
	}
	return result, err
}

// openElsewhere returns the process that has the session to resume open, or nil. It does not matter
// for a copy of a session.
func (s *Server) openElsewhere(ctx context.Context, c *caller, p api.ConnectParams) (*agent.Live, error) {
	if p.ResumeSessionID == "" || p.ForkSession || p.Machine != "" {
		return nil, nil
	}
	provider, _, err := s.provider(ctx, c.tenant, p.Provider)
	if err != nil {
		return nil, err
	}
	finder, ok := provider.(agent.LiveFinder)
	if !ok {
		return nil, nil
	}
	return finder.Live(ctx, p.ResumeSessionID)
}

// resumable returns an error if the agent does not have the session to resume: a new conversation
// would look like the old one. An agent without a history decides on its own.
func (s *Server) resumable(ctx context.Context, c *caller, p api.ConnectParams) error {
	if p.ResumeSessionID == "" || p.Machine != "" { // the machine checks it
		return nil
	}
	provider, _, err := s.provider(ctx, c.tenant, p.Provider)
	if err != nil {
		return err
	}
	keeper, ok := provider.(agent.HistoryKeeper)
	if !ok {
		return nil
	}
	if _, err = keeper.History().Load(ctx, p.ResumeSessionID, agent.HistoryPage{Limit: 1}); errors.Is(err, agent.ErrNotFound) {
		return err
	}
	return nil
}

// newSessionID returns a random id. With an idempotency key it is always the same, so that a retry
// finds the session.
func newSessionID(owner, key string) string {
	if key == "" {
		return session.Prefix + random.Hex(12)
	}
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	return session.Prefix + hex.EncodeToString(sum[:12])
}

// create creates a session for a caller.
func (s *Server) create(ctx context.Context, id string, c *caller, p api.ConnectParams) error {
	if err := s.sessions.Working(); err != nil {
		return err
	}
	if _, _, err := s.provider(ctx, c.tenant, p.Provider); err != nil {
		return err
	}
	unchosen := p.PermissionMode == "" && s.opts.DefaultMode == ""
	if err := s.checkConnect(ctx, c, &p); err != nil {
		return err
	}
	account, err := s.payer(ctx, id, c)
	if err != nil {
		return err
	}
	return s.sessions.Create(ctx, id, session.Opened{Params: p, By: c.id, Token: account.Token, Tenant: c.tenant, Parents: account.Parents,
		Unchosen: unchosen && !p.DangerouslySkipPermissions})
}

// maxMetadata is the limit in bytes of the metadata of a session, names and values: every list contains it.
const maxMetadata = 4 << 10

// checkConnect checks the parameters of a new session and sets the defaults.
func (s *Server) checkConnect(ctx context.Context, c *caller, p *api.ConnectParams) error {
	if p.ResumeSessionID != "" {
		if _, err := s.tenants.apart(ctx, c.principal); err != nil {
			return err
		}
	}
	size := 0
	for name, value := range p.Metadata {
		size += len(name) + len(value)
	}
	if size > maxMetadata {
		return session.Invalid("the metadata has %d bytes, and at most %d", size, maxMetadata)
	}
	setDefault(&p.Model, s.opts.DefaultModel)
	setDefault(&p.PermissionMode, s.opts.defaultMode())
	if p.DangerouslySkipPermissions {
		p.PermissionMode = "bypassPermissions"
	}
	provider, env, err := s.provider(ctx, c.tenant, p.Provider)
	if err != nil {
		return err
	}
	if p.Machine != "" {
		return s.checkMachine(ctx, c, provider.Name(), p)
	}
	if err := s.checkSandbox(provider, p.Sandbox); err != nil {
		return err
	}
	bypass := s.opts.AllowBypass || s.describeBox(provider, p.Sandbox, p.MCPServers != "" || p.Agents != "", env).Sealed()
	if !bypass && (p.PermissionMode == "bypassPermissions" || p.AllowDangerouslySkipPermissions || p.DangerouslySkipPermissions) {
		return session.Fail(api.AuthFailed, "the server was not started with bypassPermissions allowed")
	}
	if p.WorkspaceID != "" {
		w, wsErr := s.workspace(ctx, c, "", p.WorkspaceID)
		p.CWD, err = w.Path, wsErr
	} else {
		p.CWD, err = s.directory(p.CWD)
	}
	if err != nil {
		return err
	}
	for i, d := range p.AdditionalDirectories {
		if p.AdditionalDirectories[i], err = s.directory(d); err != nil {
			return err
		}
	}
	return nil
}

// directory returns a directory that sessions may run in, with symbolic links resolved.
func (s *Server) directory(dir string) (string, error) {
	if dir == "" {
		return s.opts.Directories[0], nil
	}
	if !filepath.IsAbs(dir) {
		return "", session.Invalid("directory %q is not absolute", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !slices.ContainsFunc(s.opts.Directories, func(root string) bool { return within(root, real) }) {
		// The caller must not learn whether it exists outside of the list.
		return "", session.Fail(api.AuthFailed, "directory %q is not one that sessions may run in", dir)
	}
	return real, nil
}

// within reports whether a path is a directory or below it. Both are clean and absolute.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// withContexts puts contexts before a text, with labels in a language.
func withContexts(text string, contexts []event.JSON, language string) (string, error) {
	lang := contextref.Chinese
	switch language {
	case "", "zh":
	case "en":
		lang = contextref.English
	default:
		return "", session.Invalid("language is %q, not zh or en", language)
	}
	if len(contexts) == 0 {
		return text, nil
	}
	refs, err := references(contexts)
	if err != nil {
		return "", err
	}
	built, err := contextref.Build(text, refs, lang)
	if err != nil {
		return "", session.Invalid("the contexts: %v", err)
	}
	return built, nil
}

func references(contexts []event.JSON) (contextref.References, error) {
	data, err := json.Marshal(contexts)
	if err != nil {
		return nil, session.Invalid("the contexts: %v", err)
	}
	var refs contextref.References
	if err := json.Unmarshal(data, &refs); err != nil {
		return nil, session.Invalid("the contexts: %v", err)
	}
	return refs, nil
}

func queryWithContent(s *Server, ctx context.Context, c *caller, p blocks) (api.Accepted, error) {
	if p.text != "" {
		return query(s, ctx, c, prompt{api.QueryParams{Idempotency: p.Idempotency, SessionID: p.SessionID, Priority: p.Priority}, p.text})
	}
	blocks := p.Content
	if len(p.Contexts) > 0 {
		block, err := withContexts("", p.Contexts, p.Language)
		if err != nil {
			return api.Accepted{}, err
		}
		blocks = append([]event.JSON{event.Encoded(map[string]string{"type": "text", "text": block})}, blocks...)
	}
	blocks, err := s.uploads(ctx, p.SessionID, blocks)
	if err != nil {
		return api.Accepted{}, err
	}
	content, err := json.Marshal(blocks)
	if err != nil {
		return api.Accepted{}, session.Invalid("the content: %v", err)
	}
	return s.sessions.Query(ctx, p.SessionID, p.Key, event.JSON(content), p.Priority, c.by())
}

func attach(s *Server, ctx context.Context, c *caller, p api.AttachParams) (api.AttachResult, error) {
	if c.socket != nil {
		return c.socket.attach(ctx, p.SessionID, p.After)
	}
	return s.sessions.Attach(ctx, p)
}

func detach(_ *Server, _ context.Context, c *caller, p api.SessionRef) (api.Empty, error) {
	if c.socket != nil {
		c.socket.detach(p.SessionID)
	}
	return api.Empty{}, nil
}

func list(s *Server, ctx context.Context, c *caller, p api.ListParams) (api.ListResult, error) {
	result := api.ListResult{Sessions: []api.SessionSummary{}}
	lives := map[string]map[string]agent.Live{}
	tenant, err := s.tenants.get(ctx, c.tenant)
	if err != nil {
		return result, err
	}
	for _, provider := range tenant.Providers {
		lives[provider.Name()] = session.Of[session.Terminals](s.sessions).Lives(ctx, provider)
	}
	looked := lookups{server: s, known: map[string]location{}}
	for _, e := range s.sessions.All(ctx) {
		x := e.SessionSummary
		if c.session != "" && c.session != x.SessionID || x.Archived != p.Archived {
			continue
		}
		if p.Project != "" && x.CWD != p.Project || p.State != "" && x.State != p.State || p.Provider != "" && x.Provider != p.Provider {
			continue
		}
		if _, ok := lives[x.Provider][e.AgentID]; ok && !e.Loaded { // an actor has more recent data
			x.Live = session.LiveTerminal
		}
		if c.session == "" && x.Machine == "" { // a link shows a session, not the directories of the server
			at := looked.of(x.Workspace, x.CWD)
			x.Repo, x.Branch = at.repo, at.branch
		}
		result.Sessions = append(result.Sessions, x)
	}
	slices.SortFunc(result.Sessions, func(a, b api.SessionSummary) int {
		if n := strings.Compare(b.UpdatedAt, a.UpdatedAt); n != 0 {
			return n
		}
		return strings.Compare(a.SessionID, b.SessionID)
	})
	return result, nil
}

// deleteSession deletes a session with all data of the server.
func deleteSession(s *Server, ctx context.Context, _ *caller, p api.SessionDeleteParams) (api.Empty, error) {
	dir, machine, err := s.sessions.Delete(ctx, p.SessionID, p.AgentFiles)
	if err != nil {
		return api.Empty{}, err
	}
	err = s.tokens.forget(p.SessionID)
	s.forgetPreviews(p.SessionID)
	s.webhooks.outbox.forget(p.SessionID)
	if dir != "" {
		s.forgetChanges(ctx, machine, dir, p.SessionID)
	}
	return api.Empty{}, errors.Join(err, s.removeUploads(ctx, p.SessionID))
}

// fork creates a session from the beginning of another one.
func fork(s *Server, ctx context.Context, c *caller, p api.ForkParams) (api.ConnectResult, error) {
	params, tenant, err := session.Of[session.Agents](s.sessions).Fork(ctx, p)
	if err != nil {
		return api.ConnectResult{}, err
	}
	id := newSessionID(c.id, "")
	if err := s.create(ctx, id, c.of(tenant), params); err != nil {
		return api.ConnectResult{}, err
	}
	return s.sessions.Connected(ctx, id)
}

// forgetChanges releases the snapshots of a deleted session, so that git can collect them. Those of
// a workspace are removed with it.
func (s *Server) forgetChanges(ctx context.Context, machine, dir, session string) {
	at, err := s.sessions.Place(machine)
	if err == nil {
		err = at.Forget(ctx, dir, session)
	}
	if err != nil && !errors.Is(err, workspace.ErrNoGit) {
		s.logger.Warn("snapshots of a deleted session were not deleted", "session", session, "err", err)
	}
}
