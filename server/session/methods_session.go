package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

func mustJSON(s string) json.RawMessage { return json.RawMessage(event.Quote(s)) }

// Create makes a session: its log begins with what it was made with.
func (s *Sessions) Create(ctx context.Context, id string, o Opened) error {
	p := o.Params
	provider, env, err := s.opts.Provider(ctx, o.Tenant, p.Provider)
	if err != nil {
		return err
	}
	s.mu.Lock()
	n := len(s.sessions)
	s.mu.Unlock()
	if n >= s.opts.MaxSessions {
		return LimitReached("there are %d sessions; delete some", s.opts.MaxSessions)
	}
	a := s.newActor(id, "")
	a.provider, a.env = provider, env
	a.core.Provider = provider.Name()
	o.Provider, o.Dir = provider.Name(), p.CWD
	f := &facts{Opened: &o, AgentID: p.ResumeSessionID, State: Starting}
	if title, ok := ValidTitle(p.Title); ok {
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
		return Fail(api.Draining, "the server is stopping")
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

// Connected waits until the agent of a session runs.
func (s *Sessions) Connected(ctx context.Context, id string) (api.ConnectResult, error) {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return api.ConnectResult{}, err
	}
	defer release()
	result := api.ConnectResult{SessionID: id, Status: "connected", Capabilities: s.Capabilities(a.provider, session)}
	err = a.call(ctx, func() error {
		result.Provider, result.Model, result.CWD = a.core.Provider, a.core.Model, a.core.Opened.Dir
		return nil
	})
	return result, err
}

// Capabilities are those of an agent in the terms of package api.
func (s *Sessions) Capabilities(p agent.Provider, session agent.Session) api.Capabilities {
	c := agent.CapabilitiesOf(p, session)
	modes := slices.DeleteFunc(append([]string{}, c.Modes...), func(m string) bool { return m == "bypassPermissions" && !s.opts.AllowBypass })
	return api.Capabilities{
		CanInterrupt: true, CanSwitchModel: c.Model, CanSwitchPermissionMode: len(modes) > 0, SupportedPermissionModes: modes,
		CanSkipPermissions: s.opts.AllowBypass && slices.Contains(modes, "bypassPermissions"), CanSendRichContent: true, CanThink: c.Thinking,
		CanResumeSession: c.Resume, CanRunInBackground: c.Background, SupportedEfforts: c.Efforts, CanFork: c.Fork, CanRewind: c.Rewind,
	}
}

// Disconnect ends the agent of a session.
func (s *Sessions) Disconnect(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
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

// Delete ends a session and deletes its log, with agentFiles also the files of its agent. It
// returns the directory of the session.
func (s *Sessions) Delete(ctx context.Context, id string, agentFiles bool) (dir string, err error) {
	a, release, err := s.use(ctx, id)
	if err != nil {
		return "", err
	}
	defer release()
	if err := a.end(ctx); err != nil {
		return "", err
	}
	var agentID string
	if err := a.call(ctx, func() error { agentID, dir = a.core.AgentID, a.core.Opened.Dir; return nil }); err != nil {
		return "", err
	}
	if agentFiles && agentID != "" {
		keeper, ok := a.provider.(agent.HistoryKeeper)
		if !ok {
			return "", Fail(api.Unsupported, "the agent's files cannot be deleted; delete without them")
		}
		if err := keeper.History().Delete(ctx, agentID); err != nil && FailureOf(err).Reason != api.SessionExpired {
			return "", err
		}
	}
	s.mu.Lock()
	if e := s.sessions[id]; e != nil {
		e.gone = true
	}
	s.mu.Unlock()
	a.cancel()
	<-a.done
	if err := a.log.Delete(ctx); err != nil {
		return "", err
	}
	s.mu.Lock()
	delete(s.sessions, id)
	s.mu.Unlock()
	return dir, nil
}

// GetHistory returns the conversation of a session.
func (s *Sessions) GetHistory(ctx context.Context, p api.SessionRef) (api.GetHistoryResult, error) {
	var result api.GetHistoryResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		data, err := a.conversation()
		result = api.GetHistoryResult{Cursor: api.Cursor{Epoch: a.hub.epoch, Seq: a.seq, Sub: a.sub}, Conversation: event.JSON(data)}
		return err
	})
	return result, err
}

// Rename gives a session a title; an empty one is taken from its first prompt.
func (s *Sessions) Rename(ctx context.Context, p api.SessionRenameParams) (api.Empty, error) {
	return api.Empty{}, s.with(ctx, p.SessionID, func(a *actor) error {
		title, by := p.Title, "person"
		if strings.TrimSpace(title) == "" {
			title, by = a.core.FirstPrompt, "prompt"
		} else if clean, ok := ValidTitle(title); ok {
			title = clean
		} else {
			return Invalid("a title is one line of at most %d visible characters", MaxTitle)
		}
		if title == "" {
			return Invalid("the session has no prompt to take a title from")
		}
		return a.commit(a.core.titleDraft(title, by))
	})
}

// Archive puts a session away. One that works cannot be put away.
func (s *Sessions) Archive(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
	return s.setArchived(ctx, p.SessionID, true)
}

// Unarchive takes a session back that was put away.
func (s *Sessions) Unarchive(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
	return s.setArchived(ctx, p.SessionID, false)
}

func (s *Sessions) setArchived(ctx context.Context, id string, archived bool) (api.StatusResult, error) {
	err := s.with(ctx, id, func(a *actor) error {
		switch {
		case a.core.Archived == archived:
			return nil
		case archived && (a.core.State.busy() || a.starting):
			return Conflict("the session works; interrupt it first")
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

// continuePrompt is what an interrupted turn is continued with.
const continuePrompt = "Continue from where you left off."

// Continue goes on with a turn that was interrupted.
func (s *Sessions) Continue(ctx context.Context, p api.SessionRef, by string) (api.Accepted, error) {
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		if a.core.State.busy() || a.core.State == Starting {
			return Conflict("a turn runs")
		}
		return nil
	})
	if err != nil {
		return api.Accepted{}, err
	}
	return s.Query(ctx, p.SessionID, "", mustJSON(continuePrompt), "", by)
}

// ago is how long something was, for people.
func ago(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
