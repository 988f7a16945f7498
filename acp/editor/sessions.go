package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// sessionRequest has the common members of the requests that open a session.
type sessionRequest struct {
	id          string // of the session to load, resume or fork
	cwd         string
	servers     []acp.MCPServer
	directories []string
	prompt      acp.Optional[acp.SystemPrompt]
	meta        map[string]json.RawMessage
}

// options returns the agent's options for a request.
func (s *server) options(r *sessionRequest) (agent.Options, error) {
	o := s.opts.Session
	if err := s.checkDir(r.cwd); err != nil {
		return o, err
	}
	o.Dir, o.Partial, o.AdditionalDirectories = r.cwd, true, append(o.AdditionalDirectories, r.directories...)
	if prompt, ok := r.prompt.Get(); ok {
		text := ""
		for _, c := range prompt.Content {
			if t, ok := c.Value.(*acp.TextContent); ok {
				text += t.Text
			}
		}
		if prompt.Mode == acp.SystemPromptModeOverride {
			o.SystemPrompt = text
		} else {
			o.AppendSystemPrompt = text
		}
	}
	if files := s.clientFiles(); files != nil {
		o.Files = files
	}
	if err := claudeOptions(&o, r.meta, s.opts.Logger); err != nil {
		return o, err
	}
	servers, err := mcpServers(r.servers)
	if err != nil {
		return o, err
	}
	if len(servers) > 0 {
		var before map[string]json.RawMessage
		if len(o.MCPServers) > 0 {
			if err := json.Unmarshal(o.MCPServers, &before); err != nil {
				return o, fmt.Errorf("%w: the MCP servers: %w", agent.ErrInvalid, err)
			}
		}
		if before == nil {
			before = map[string]json.RawMessage{}
		}
		maps.Copy(before, servers)
		if o.MCPServers, err = jsonwire.Marshal(before); err != nil {
			return o, err
		}
	}
	return o, nil
}

// mcpServers converts the client's servers to the form of the agent's configuration.
func mcpServers(list []acp.MCPServer) (map[string]json.RawMessage, error) {
	servers := map[string]json.RawMessage{}
	for _, one := range list {
		var name string
		var config map[string]any
		value := one.Value
		if one.Type == "stdio" { // version 2 has this form
			stdio := new(acp.MCPServerStdio)
			text, err := jsonwire.Marshal(one.Extra)
			if err == nil {
				err = json.Unmarshal(text, stdio)
			}
			if err != nil {
				return nil, invalid(err)
			}
			value = stdio
		}
		switch v := value.(type) {
		case *acp.MCPServerStdio:
			env := map[string]string{}
			for _, e := range v.Env {
				env[e.Name] = e.Value
			}
			name, config = v.Name, map[string]any{"type": "stdio", "command": v.Command, "args": append([]string{}, v.Args...), "env": env}
		case *acp.MCPServerHTTP:
			name, config = v.Name, map[string]any{"type": "http", "url": v.URL, "headers": headers(v.Headers)}
		case *acp.MCPServerSSE:
			name, config = v.Name, map[string]any{"type": "sse", "url": v.URL, "headers": headers(v.Headers)}
		default:
			return nil, invalidf("type", one.Type, "MCP servers of the type %q are not supported", one.Type)
		}
		text, err := jsonwire.Marshal(config)
		if err != nil {
			return nil, err
		}
		servers[name] = text
	}
	return servers, nil
}

func headers(list []acp.HTTPHeader) map[string]string {
	all := map[string]string{}
	for _, h := range list {
		all[h.Name] = h.Value
	}
	return all
}

func (s *server) newSession(ctx context.Context, p *acp.NewSessionRequest) (any, error) {
	r := &sessionRequest{cwd: p.CWD, servers: p.MCPServers, directories: p.AdditionalDirectories, prompt: p.SystemPrompt, meta: p.Meta}
	one, err := s.open(ctx, r)
	if err != nil {
		return nil, err
	}
	modes, options := one.state()
	return &jsonrpc.Then{
		Result: &acp.NewSessionResponse{SessionID: acp.SessionID(one.id), Modes: modes, ConfigOptions: acp.Some(options)},
		Do:     one.announce,
	}, nil
}

// open starts a new session, or takes the prewarmed one if it fits.
func (s *server) open(ctx context.Context, r *sessionRequest) (*session, error) {
	o, err := s.options(r)
	if err != nil {
		return nil, err
	}
	ready, err := s.takeWarm(ctx, r)
	if err != nil {
		return nil, err
	}
	if ready != nil {
		return s.add(ready.live.ID(), ready.live, ready.opts)
	}
	live, err := s.opts.Provider.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.add(live.ID(), live, o)
}

// add registers a session under an id.
func (s *server) add(id string, live agent.Session, o agent.Options) (*session, error) {
	return s.addMapped(id, live, o, nil)
}

// addMapped is like add with the mapper that has replayed the session; nil means a new mapper.
func (s *server) addMapped(id string, live agent.Session, o agent.Options, m *Mapper) (*session, error) {
	one := newSession(s, id, o)
	if m != nil {
		one.mapper, one.titled = m, true
	}
	_, one.shared.on = live.(agent.Joined)
	if files, ok := o.Files.(*clientFiles); ok {
		files.bind(id)
	}
	s.mu.Lock()
	closing := s.closing
	if !closing {
		s.sessions[id] = one
	}
	s.mu.Unlock()
	if closing {
		return nil, errors.Join(jsonrpc.ErrClosed, live.Close())
	}
	one.attach(live)
	return one, nil
}

// session returns a session, or nil if it does not exist.
func (s *server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func (s *server) loadSession(ctx context.Context, p *acp.LoadSessionRequest) (any, error) {
	r := &sessionRequest{id: string(p.SessionID), cwd: p.CWD, servers: p.MCPServers, directories: p.AdditionalDirectories, prompt: p.SystemPrompt, meta: p.Meta}
	one, err := s.resume(ctx, r, true)
	if err != nil {
		return nil, err
	}
	modes, options := one.state()
	return &jsonrpc.Then{Result: &acp.LoadSessionResponse{Modes: modes, ConfigOptions: acp.Some(options)}, Do: one.announce}, nil
}

func (s *server) resumeSession(ctx context.Context, p *acp.ResumeSessionRequest) (any, error) {
	r := &sessionRequest{id: string(p.SessionID), cwd: p.CWD, servers: p.MCPServers, directories: p.AdditionalDirectories, prompt: p.SystemPrompt, meta: p.Meta}
	one, err := s.resume(ctx, r, false)
	if err != nil {
		return nil, err
	}
	modes, options := one.state()
	return &jsonrpc.Then{Result: &acp.ResumeSessionResponse{Modes: modes, ConfigOptions: acp.Some(options)}, Do: one.announce}, nil
}

// resume continues a session. With replay it sends the history while the agent starts.
func (s *server) resume(ctx context.Context, r *sessionRequest, replay bool) (*session, error) {
	resumer, ok := s.opts.Provider.(agent.Resumer)
	if !ok {
		return nil, fmt.Errorf("%w: sessions cannot be continued", agent.ErrUnsupported)
	}
	o, err := s.options(r)
	if err != nil {
		return nil, err
	}
	if s.joins() {
		return s.join(ctx, resumer, r, o, replay)
	}
	one := s.session(r.id)
	type started struct {
		live agent.Session
		err  error
	}
	result := make(chan started, 1)
	if one == nil {
		if err := s.exists(ctx, r.id); err != nil {
			return nil, err
		}
		s.work.Go(func() {
			live, err := resumer.Resume(ctx, r.id, o)
			result <- started{live, err}
		})
	}
	var failed error
	if replay {
		failed = s.replay(ctx, r.id, o.Dir)
	}
	if one != nil {
		return one, failed
	}
	begun := <-result
	if failed != nil || begun.err != nil {
		if begun.live != nil {
			failed = errors.Join(failed, begun.live.Close())
		}
		return nil, missing(r.id, errors.Join(failed, begun.err))
	}
	if one, err = s.add(r.id, begun.live, o); err == nil {
		one.mu.Lock()
		one.titled = true
		one.mu.Unlock()
	}
	return one, err
}

// exists returns an error if the provider's history does not contain a session.
func (s *server) exists(ctx context.Context, id string) error {
	keeper, ok := s.opts.Provider.(agent.HistoryKeeper)
	if !ok {
		return nil
	}
	_, err := keeper.History().Load(ctx, id, agent.HistoryPage{Limit: 1})
	return missing(id, err)
}

func missing(id string, err error) error {
	if errors.Is(err, agent.ErrNotFound) {
		return notFound(id)
	}
	return err
}

// replay sends the history of a session as updates.
func (s *server) replay(ctx context.Context, id, dir string) error {
	keeper, ok := s.opts.Provider.(agent.HistoryKeeper)
	if !ok {
		return fmt.Errorf("%w: the history of sessions cannot be read", agent.ErrUnsupported)
	}
	page, err := keeper.History().Load(ctx, id, agent.HistoryPage{})
	if err != nil {
		return missing(id, err)
	}
	m := &Mapper{Session: id, Dir: dir, Features: s.features(), Replay: true}
	for ev, err := range page.Events {
		if err != nil {
			return err
		}
		for _, u := range m.Event(ev) {
			if err := s.update(ctx, cmp.Or(u.Subagent, id), u.SessionUpdate); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *server) forkSession(ctx context.Context, p *acp.ForkSessionRequest) (any, error) {
	r := &sessionRequest{id: string(p.SessionID), cwd: p.CWD, servers: p.MCPServers, directories: p.AdditionalDirectories, prompt: p.SystemPrompt, meta: p.Meta}
	o, err := s.options(r)
	if err != nil {
		return nil, err
	}
	resumer, ok := s.opts.Provider.(agent.Resumer)
	if !ok {
		return nil, fmt.Errorf("%w: sessions cannot be continued", agent.ErrUnsupported)
	}
	fork := o
	fork.Fork = true
	live, err := resumer.Resume(ctx, r.id, fork)
	if err != nil {
		return nil, missing(r.id, err)
	}
	one, err := s.add(live.ID(), live, o)
	if err != nil {
		return nil, err
	}
	modes, options := one.state()
	return &jsonrpc.Then{Result: &acp.ForkSessionResponse{SessionID: acp.SessionID(one.id), Modes: modes, ConfigOptions: acp.Some(options)}, Do: one.announce}, nil
}

// history returns the provider's history, or an error if it does not keep one.
func (s *server) history() (agent.History, error) {
	if keeper, ok := s.opts.Provider.(agent.HistoryKeeper); ok {
		return keeper.History(), nil
	}
	return nil, fmt.Errorf("%w: the history of sessions cannot be read", agent.ErrUnsupported)
}

func (s *server) listSessions(ctx context.Context, p *acp.ListSessionsRequest) (any, error) {
	h, err := s.history()
	if err != nil {
		return nil, err
	}
	list, cursor, err := h.List(ctx, agent.HistoryQuery{Project: p.CWD.Or(""), Cursor: p.Cursor.Or("")})
	if err != nil {
		return nil, err
	}
	out := &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	for _, info := range list {
		if info.Dir == "" {
			continue // a session without a directory cannot be loaded
		}
		row := acp.SessionInfo{SessionID: acp.SessionID(info.ID), CWD: info.Dir}
		for _, title := range []string{info.CustomTitle, info.Summary, info.FirstPrompt} {
			if title != "" && !row.Title.IsSet() {
				row.Title = acp.Some(title)
			}
		}
		if !info.Modified.IsZero() {
			row.UpdatedAt = acp.Some(info.Modified.UTC().Format(time.RFC3339Nano))
		}
		out.Sessions = append(out.Sessions, row)
	}
	out.NextCursor = acp.NonZero(cursor)
	return out, nil
}

func (s *server) deleteSession(ctx context.Context, p *acp.DeleteSessionRequest) (any, error) {
	h, err := s.history()
	if err != nil {
		return nil, err
	}
	if !s.joins() { // an agent of this process must end first
		s.end(string(p.SessionID))
	}
	if err := h.Delete(ctx, string(p.SessionID)); err != nil && !errors.Is(err, agent.ErrNotFound) {
		return nil, err
	}
	s.end(string(p.SessionID))
	return &acp.DeleteSessionResponse{}, nil
}

func (s *server) closeSession(_ context.Context, p *acp.CloseSessionRequest) (any, error) {
	s.end(string(p.SessionID)) // it is not an error if the session is closed already
	return &acp.CloseSessionResponse{}, nil
}

// end closes and removes a session. It returns false if the session does not exist.
func (s *server) end(id string) bool {
	s.mu.Lock()
	one := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if one == nil {
		return false
	}
	one.close()
	return true
}

func (s *server) setTitle(ctx context.Context, p *acp.SetSessionTitleRequest) (any, error) {
	h, err := s.history()
	if err != nil {
		return nil, err
	}
	if err := missing(string(p.SessionID), h.Rename(ctx, string(p.SessionID), p.Title)); err != nil {
		return nil, err
	}
	return &acp.SetSessionTitleResponse{Title: p.Title}, nil
}

// update sends a session update.
func (s *server) update(ctx context.Context, id string, u acp.SessionUpdate) error {
	s.mu.Lock()
	version := s.version
	s.mu.Unlock()
	if version == 2 {
		return s.update2(ctx, id, u)
	}
	return s.conn.Notify(ctx, acp.MethodSessionUpdate, &acp.SessionNotification{SessionID: acp.SessionID(id), Update: u})
}
