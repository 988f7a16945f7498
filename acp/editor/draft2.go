package editor

import (
	"context"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/internal/draft2"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// Version 2 is a draft. Clients that request exactly this version use the same sessions and the
// same mapping; package draft2 converts requests and updates to its form.

// methods2 are the requests with another form in version 2; nil means that version 2 lacks the
// request.
var methods2 = map[string]handler{
	acp.MethodAuthenticate:           nil,
	acp.MethodLogout:                 nil,
	acp.MethodSessionLoad:            nil,
	acp.MethodSessionSetMode:         nil,
	"auth/login":                     typed((*server).authenticate),
	"auth/logout":                    typed((*server).logout),
	acp.MethodSessionNew:             typed((*server).newSession2),
	acp.MethodSessionResume:          typed((*server).resumeSession2),
	acp.MethodSessionFork:            typed((*server).forkSession2),
	acp.MethodSessionSetConfigOption: typed((*server).setConfigOption2),
	acp.MethodSessionPrompt:          (*server).prompt2,
}

func (s *server) isV2() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version == 2
}

// initialize2 answers a client of version 2.
func (s *server) initialize2(p *acp.InitializeRequest) (any, error) {
	caps, err := draft2.Capabilities(p)
	if err != nil {
		return nil, invalid(err)
	}
	s.begin(&caps, 2)
	return draft2.Initialized(s.info(), agent.CapabilitiesOf(s.opts.Provider, nil), s.authMethods(&caps)), nil
}

// opened2 returns the members of the answers that open a session.
func (s *session) opened2() map[string]any {
	result := map[string]any{}
	_, options := s.state()
	result["configOptions"] = draft2.Options(options)
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	commands := []any{}
	if catalog, ok := live.(agent.Catalog); ok {
		if list, err := catalog.Commands(s.srv.ctx); err == nil {
			s.mu.Lock()
			u, _ := s.config.setCommands(list)
			s.mu.Unlock()
			if all, ok := u.Value.(*acp.AvailableCommandsUpdate); ok {
				commands = draft2.Commands(all.AvailableCommands)
			}
		}
	}
	result["availableCommands"] = commands
	return result
}

func (s *server) newSession2(ctx context.Context, p *draft2.NewSessionRequest) (any, error) {
	one, err := s.open(ctx, request2(p))
	if err != nil {
		return nil, err
	}
	result := one.opened2()
	result["sessionId"] = one.id
	return result, nil
}

func request2(p *draft2.NewSessionRequest) *sessionRequest {
	return &sessionRequest{id: p.SessionID, cwd: p.CWD, servers: p.MCPServers, directories: p.AdditionalDirectories, prompt: p.SystemPrompt, meta: p.Meta}
}

func (s *server) resumeSession2(ctx context.Context, p *draft2.NewSessionRequest) (any, error) {
	if p.ReplayFrom != nil && p.ReplayFrom.Type != "start" {
		return nil, invalidf("replayFrom", p.ReplayFrom.Type, "a session is replayed from its start, not from %q", p.ReplayFrom.Type)
	}
	one, err := s.resume(ctx, request2(p), p.ReplayFrom != nil)
	if err != nil {
		return nil, err
	}
	one.state2("idle", "")
	return one.opened2(), nil
}

func (s *server) forkSession2(ctx context.Context, p *acp.ForkSessionRequest) (any, error) {
	result, err := s.forkSession(ctx, p)
	if err != nil {
		return nil, err
	}
	then, _ := result.(*jsonrpc.Then)
	forked, _ := then.Result.(*acp.ForkSessionResponse)
	one := s.session(string(forked.SessionID))
	if one == nil {
		return nil, notFound(string(forked.SessionID))
	}
	out := one.opened2()
	out["sessionId"] = one.id
	return out, nil
}

func (s *server) setConfigOption2(ctx context.Context, p *acp.SetSessionConfigOptionRequest) (any, error) {
	result, err := s.setConfigOption(ctx, p)
	if err != nil {
		return nil, err
	}
	r, _ := result.(*acp.SetSessionConfigOptionResponse)
	return map[string]any{"configOptions": draft2.Options(r.ConfigOptions)}, nil
}

// prompt2 responds without waiting for the turn; state updates report its progress.
func (s *server) prompt2(_ context.Context, m *jsonrpc.Message) (any, error) {
	entry, params, err := s.admitted(m)
	if err != nil {
		return nil, err
	}
	input, err := promptInput(params.Prompt)
	if err != nil {
		entry.leave()
		return nil, err
	}
	one := entry.session
	one.raw2(map[string]any{"sessionUpdate": "user_message", "messageId": entry.uuid, "content": params.Prompt})
	return &jsonrpc.Then{Result: map[string]string{"messageId": entry.uuid}, Do: func() {
		s.work.Go(func() {
			defer entry.leave()
			one.title(params.Prompt)
			one.idle2(entry.run(s.ctx, input))
		})
	}}, nil
}

// idle2 sends the update at the end of a turn.
func (s *session) idle2(o outcome) {
	u := map[string]any{"sessionUpdate": "state_update", "state": "idle", "stopReason": string(o.reason)}
	if o.usage != nil {
		u["usage"] = o.usage
	}
	if o.err != nil {
		u["stopReason"] = "error"
		u["error"] = map[string]any{"code": jsonrpc.CodeInternal, "message": o.err.Error()}
		if e, ok := wireError(o.err).(*jsonrpc.Error); ok {
			u["error"] = e
		}
	}
	s.raw2(u)
}

// state2 sends the state of the session to a client of version 2.
func (s *session) state2(state, reason string) {
	if !s.srv.isV2() {
		return
	}
	u := map[string]any{"sessionUpdate": "state_update", "state": state}
	if reason != "" {
		u["stopReason"] = reason
	}
	s.raw2(u)
}

// raw2 sends an update of version 2.
func (s *session) raw2(u any) {
	if err := s.srv.notify2(s.srv.ctx, s.id, u); err != nil && s.srv.ctx.Err() == nil {
		s.srv.opts.Logger.Debug("acp: an update was not sent", "session", s.id, "err", err)
	}
}

func (s *server) notify2(ctx context.Context, id string, u any) error {
	return s.conn.Notify(ctx, acp.MethodSessionUpdate, map[string]any{"sessionId": id, "update": u})
}

// update2 sends an update in the form of version 2.
func (s *server) update2(ctx context.Context, id string, u acp.SessionUpdate) error {
	for _, v := range draft2.Updates(u) {
		if err := s.notify2(ctx, id, v); err != nil {
			return err
		}
	}
	return nil
}
