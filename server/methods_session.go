package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/contextref"
	"github.com/seed7221b0f9/parley/server/api"
)

type jsonText = event.JSON

func hello(s *Server, ctx context.Context, c *caller, p api.HelloParams) (api.HelloResult, error) {
	if c.socket != nil {
		c.socket.hello(ctx, p)
	}
	return api.HelloResult{
		Name: "parley", Version: s.opts.Version, Simulated: s.opts.Simulated, Role: c.role.String(),
		Capabilities: []string{"ws", "sse", "poll", event.CapabilityOutputDelta},
	}, nil
}

func connect(s *Server, ctx context.Context, c *caller, p api.ConnectParams) (api.ConnectResult, error) {
	if p.SessionID != "" { // one that is there
		return s.connected(ctx, p.SessionID)
	}
	id := newSessionID(c.id, p.Key)
	s.mu.Lock()
	e := s.sessions[id]
	s.mu.Unlock()
	if e == nil {
		live, err := s.openElsewhere(ctx, c, p)
		if err != nil {
			return api.ConnectResult{}, err
		}
		if err := s.create(ctx, id, c, p); err != nil {
			return api.ConnectResult{}, err
		}
		if live != nil {
			return s.following(ctx, id, live)
		}
	}
	result, err := s.connected(ctx, id)
	if err == nil && p.InitialPrompt != "" {
		_, err = s.query(ctx, id, "initial:"+id, mustJSON(p.InitialPrompt), "", c.by())
	}
	return result, err
}

func mustJSON(s string) json.RawMessage { return json.RawMessage(event.Quote(s)) }

// newSessionID is a random id. With an idempotency key it is always the same, so that a
// retry finds the session.
func newSessionID(owner, key string) string {
	if key == "" {
		return sessionPrefix + randomHex(12)
	}
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	return sessionPrefix + hex.EncodeToString(sum[:12])
}

// create makes a session: its log begins with what it was made with.
func (s *Server) create(ctx context.Context, id string, c *caller, p api.ConnectParams) error {
	if err := s.working(); err != nil {
		return err
	}
	tenant, err := s.tenants.get(ctx, c.tenant)
	if err != nil {
		return err
	}
	provider, err := tenant.provider(p.Provider)
	if err != nil {
		return err
	}
	if err := s.checkConnect(ctx, c, &p); err != nil {
		return err
	}
	s.mu.Lock()
	n := len(s.sessions)
	s.mu.Unlock()
	if n >= s.opts.MaxSessions {
		return limit("there are %d sessions; delete some", s.opts.MaxSessions)
	}
	a := s.newActor(id, "")
	a.provider, a.env = provider, tenant.Env
	a.core.Provider = provider.Name()
	o := &opened{Provider: provider.Name(), Dir: p.CWD, Params: p, By: c.id, Token: c.account, Tenant: c.tenant}
	f := &facts{Opened: o, AgentID: p.ResumeSessionID, State: Starting}
	if title, ok := validTitle(p.Title); ok {
		f.Title, f.TitleBy = title, "person"
	}
	info := &event.SessionInfo{Header: a.core.header(""), CWD: &p.CWD, PermissionMode: &p.PermissionMode}
	if f.Title != "" {
		info.Title = &f.Title
	}
	a.draft(draft{event: info, facts: f}, a.core.stateDraft(Starting))
	if err := a.write(); err != nil {
		a.cancel()
		return err
	}
	at, err := a.log.Last(ctx)
	if err != nil {
		a.cancel()
		return err
	}
	a.hub.epoch = at.Epoch
	if p.ResumeSessionID != "" {
		if err := a.importHistory(ctx, p.ResumeSessionID); err != nil {
			a.logger.Warn("the history was not read", "err", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		a.cancel()
		return failure(api.Draining, "the server is stopping")
	}
	entry := &entry{summary: a.summary()}
	s.sessions[id] = entry
	s.run(entry, a)
	return nil
}

// maxImport is how many messages of an older session are brought into a new log.
const maxImport = 2000

// importHistory brings what was said in the agent's session into the log.
func (a *actor) importHistory(ctx context.Context, id string) error {
	keeper, ok := a.provider.(agent.HistoryKeeper)
	if !ok {
		return nil
	}
	events, err := keeper.History().Load(ctx, id, agent.HistoryPage{Limit: maxImport})
	if err != nil {
		return err
	}
	for ev, err := range events.Events {
		if err != nil {
			return err
		}
		if isDelta(ev) {
			continue
		}
		a.draft(draft{event: ev})
		if len(a.batch) >= maxBatch {
			if err := a.write(); err != nil {
				return err
			}
		}
	}
	return a.write()
}

// checkConnect checks what a session is to be made with and fills in the defaults.
func (s *Server) checkConnect(ctx context.Context, c *caller, p *api.ConnectParams) error {
	if p.ResumeSessionID != "" {
		if _, err := s.tenants.apart(ctx, c.principal); err != nil {
			return err
		}
	}
	setDefault(&p.Model, s.opts.DefaultModel)
	setDefault(&p.PermissionMode, s.opts.DefaultMode)
	if p.DangerouslySkipPermissions {
		p.PermissionMode = "bypassPermissions"
	}
	if !s.opts.AllowBypass && (p.PermissionMode == "bypassPermissions" || p.AllowDangerouslySkipPermissions || p.DangerouslySkipPermissions) {
		return failure(api.AuthFailed, "the server was not started with bypassPermissions allowed")
	}
	var err error
	if p.WorkspaceID != "" {
		w, wsErr := s.workspace(c, p.WorkspaceID)
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
		return "", invalid("directory %q is not absolute", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !slices.ContainsFunc(s.opts.Directories, func(root string) bool { return within(root, real) }) {
		// Whether it exists outside of the list is not for the caller to learn.
		return "", failure(api.AuthFailed, "directory %q is not one that sessions may run in", dir)
	}
	return real, nil
}

// within reports whether a path is a directory or below it. Both are clean and absolute.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// connected waits until the agent of a session runs.
func (s *Server) connected(ctx context.Context, id string) (api.ConnectResult, error) {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return api.ConnectResult{}, err
	}
	defer release()
	result := api.ConnectResult{SessionID: id, Status: "connected", Capabilities: s.capabilities(a.provider, session)}
	err = a.call(ctx, func() error {
		result.Provider, result.Model, result.CWD = a.core.Provider, a.core.Model, a.core.Opened.Dir
		return nil
	})
	return result, err
}

// capabilities are those of an agent in the terms of package rpc.
func (s *Server) capabilities(p agent.Provider, session agent.Session) api.Capabilities {
	c := agent.CapabilitiesOf(p, session)
	modes := slices.DeleteFunc(append([]string{}, c.Modes...), func(m string) bool { return m == "bypassPermissions" && !s.opts.AllowBypass })
	return api.Capabilities{
		CanInterrupt: true, CanSwitchModel: c.Model, CanSwitchPermissionMode: len(modes) > 0, SupportedPermissionModes: modes,
		CanSkipPermissions: s.opts.AllowBypass && slices.Contains(modes, "bypassPermissions"), CanSendRichContent: true, CanThink: c.Thinking,
		CanResumeSession: c.Resume, CanRunInBackground: c.Background, SupportedEfforts: c.Efforts, CanFork: c.Fork, CanRewind: c.Rewind,
	}
}

func disconnect(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.StatusResult, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.StatusResult{}, err
	}
	defer release()
	return api.StatusResult{Status: "disconnected"}, a.end(ctx)
}

// end ends the agent and waits for it.
func (a *actor) end(ctx context.Context) error {
	var ended <-chan struct{}
	err := a.call(ctx, func() error {
		ended = a.stop(onEnd)
		if a.agent == nil && a.core.State != Ended {
			drafts := a.core.hold()
			more, err := a.core.occur(onEnd)
			if err != nil {
				return err
			}
			return a.commit(append(drafts, more...)...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-ended:
		return a.call(ctx, func() error { return a.blocked }) // what follows from the end is written
	case <-ctx.Done():
		return ctx.Err()
	}
}

func query(s *Server, ctx context.Context, c *caller, p api.QueryParams) (api.Accepted, error) {
	text, err := withContexts(p.Text, p.Contexts)
	if err != nil {
		return api.Accepted{}, err
	}
	return s.query(ctx, p.SessionID, p.Key, mustJSON(text), p.Priority, c.by())
}

// withContexts puts contexts before a text.
func withContexts(text string, contexts []event.JSON) (string, error) {
	if len(contexts) == 0 {
		return text, nil
	}
	refs, err := references(contexts)
	if err != nil {
		return "", err
	}
	built, err := contextref.Build(text, refs, contextref.Chinese)
	if err != nil {
		return "", invalid("the contexts: %v", err)
	}
	return built, nil
}

func references(contexts []event.JSON) (contextref.References, error) {
	data, err := json.Marshal(contexts)
	if err != nil {
		return nil, invalid("the contexts: %v", err)
	}
	var refs contextref.References
	if err := json.Unmarshal(data, &refs); err != nil {
		return nil, invalid("the contexts: %v", err)
	}
	return refs, nil
}

func queryWithContent(s *Server, ctx context.Context, c *caller, p api.QueryWithContentParams) (api.Accepted, error) {
	blocks := p.Content
	if len(p.Contexts) > 0 {
		block, err := withContexts("", p.Contexts)
		if err != nil {
			return api.Accepted{}, err
		}
		blocks = append([]event.JSON{event.Encoded(map[string]string{"type": "text", "text": block})}, blocks...)
	}
	blocks, err := s.uploads(p.SessionID, blocks)
	if err != nil {
		return api.Accepted{}, err
	}
	content, err := json.Marshal(blocks)
	if err != nil {
		return api.Accepted{}, invalid("the content: %v", err)
	}
	return s.query(ctx, p.SessionID, p.Key, content, p.Priority, c.by())
}

func attach(s *Server, ctx context.Context, c *caller, p api.AttachParams) (api.AttachResult, error) {
	if c.socket != nil {
		return c.socket.attach(ctx, p.SessionID, p.After)
	}
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.AttachResult{}, err
	}
	defer release()
	return s.attachAt(ctx, a, p.After)
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
		lives[provider.Name()] = s.lives(ctx, provider)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.sessions {
		x := e.summary
		if e.gone || !c.sees(e.tenant) || c.session != "" && c.session != id || x.Archived != p.Archived {
			continue
		}
		if p.Project != "" && x.CWD != p.Project || p.State != "" && x.State != p.State || p.Provider != "" && x.Provider != p.Provider {
			continue
		}
		if _, ok := lives[x.Provider][e.agentID]; ok && e.actor == nil { // an actor knows it better
			x.Live = liveTerminal
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

func interrupt(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.InterruptResult, error) {
	return s.interrupt(ctx, p.SessionID)
}

func getHistory(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.GetHistoryResult, error) {
	var result api.GetHistoryResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		data, err := a.conversation()
		result = api.GetHistoryResult{Cursor: api.Cursor{Epoch: a.hub.epoch, Seq: a.seq, Sub: a.sub}, Conversation: event.JSON(data)}
		return err
	})
	return result, err
}

func rename(s *Server, ctx context.Context, _ *caller, p api.SessionRenameParams) (api.Empty, error) {
	return api.Empty{}, s.with(ctx, p.SessionID, func(a *actor) error {
		title, by := p.Title, "person"
		if strings.TrimSpace(title) == "" {
			title, by = a.core.FirstPrompt, "prompt"
		} else if clean, ok := validTitle(title); ok {
			title = clean
		} else {
			return invalid("a title is one line of at most %d visible characters", maxTitle)
		}
		if title == "" {
			return invalid("the session has no prompt to take a title from")
		}
		return a.commit(a.core.titleDraft(title, by))
	})
}

func archive(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.StatusResult, error) {
	return s.setArchived(ctx, p.SessionID, true)
}

func unarchive(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.StatusResult, error) {
	return s.setArchived(ctx, p.SessionID, false)
}

// setArchived puts a session away or takes it back. One that works cannot be put away.
func (s *Server) setArchived(ctx context.Context, id string, archived bool) (api.StatusResult, error) {
	err := s.with(ctx, id, func(a *actor) error {
		switch {
		case a.core.Archived == archived:
			return nil
		case archived && (a.core.State.busy() || a.starting):
			return conflict("the session works; interrupt it first")
		}
		if archived {
			a.stop(onEvict)
		}
		return a.commit(draft{event: &event.SessionInfo{Header: a.core.header(""), Archived: &archived}, facts: &facts{Archived: &archived}})
	})
	status := "unarchived"
	if archived {
		status = "archived"
	}
	return api.StatusResult{Status: status}, err
}

// deleteSession removes a session with everything that the server has of it.
func deleteSession(s *Server, ctx context.Context, _ *caller, p api.SessionDeleteParams) (api.Empty, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.Empty{}, err
	}
	defer release()
	if err := a.end(ctx); err != nil {
		return api.Empty{}, err
	}
	var agentID, dir string
	if err := a.call(ctx, func() error { agentID, dir = a.core.AgentID, a.core.Opened.Dir; return nil }); err != nil {
		return api.Empty{}, err
	}
	if p.AgentFiles && agentID != "" {
		keeper, ok := a.provider.(agent.HistoryKeeper)
		if !ok {
			return api.Empty{}, failure(api.Unsupported, "the agent's files cannot be deleted; delete without them")
		}
		if err := keeper.History().Delete(ctx, agentID); err != nil && failureOf(err).Reason != api.SessionExpired {
			return api.Empty{}, err
		}
	}
	s.mu.Lock()
	if e := s.sessions[p.SessionID]; e != nil {
		e.gone = true
	}
	s.mu.Unlock()
	a.cancel()
	<-a.done
	if err := a.log.Delete(ctx); err != nil {
		return api.Empty{}, err
	}
	s.mu.Lock()
	delete(s.sessions, p.SessionID)
	s.mu.Unlock()
	if err := s.tokens.forget(p.SessionID); err != nil {
		return api.Empty{}, err
	}
	s.forgetPreviews(p.SessionID)
	s.hooks.outbox.forget(p.SessionID)
	s.forgetChanges(ctx, dir, p.SessionID)
	return api.Empty{}, s.removeUploads(p.SessionID)
}

// continuePrompt is what an interrupted turn is continued with.
const continuePrompt = "Continue from where you left off."

func continueTurn(s *Server, ctx context.Context, c *caller, p api.SessionRef) (api.Accepted, error) {
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		if a.core.State.busy() || a.core.State == Starting {
			return conflict("a turn runs")
		}
		return nil
	})
	if err != nil {
		return api.Accepted{}, err
	}
	return s.query(ctx, p.SessionID, "", mustJSON(continuePrompt), "", c.by())
}

// ago is how long something was, for people.
func ago(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
