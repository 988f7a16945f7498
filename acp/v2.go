package acp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// Version 2 is a draft. It is served to clients that ask for exactly it, from the same
// sessions and the same mapping: what differs is the form of requests and updates.

// methods2 are the requests that version 2 has in another form; nil is one that it does
// not have.
var methods2 = map[string]handler{
	MethodAuthenticate:           nil,
	MethodLogout:                 nil,
	MethodSessionLoad:            nil,
	MethodSessionSetMode:         nil,
	"auth/login":                 typed((*server).authenticate),
	"auth/logout":                typed((*server).logout),
	MethodSessionNew:             typed((*server).newSession2),
	MethodSessionResume:          typed((*server).resumeSession2),
	MethodSessionFork:            typed((*server).forkSession2),
	MethodSessionSetConfigOption: typed((*server).setConfigOption2),
	MethodSessionPrompt:          (*server).prompt2,
}

func (s *server) isV2() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version == 2
}

// initialize2 answers a client of version 2.
func (s *server) initialize2(p *InitializeRequest) (any, error) {
	var caps ClientCapabilities
	if raw := p.Extra["capabilities"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &caps); err != nil {
			return nil, invalid(inside("capabilities", err))
		}
	}
	// Notices and compactions belong to the baseline of this version, and booleans too.
	caps.Session = Some(ClientSessionCapabilities{
		Notices: Some(NoticeCapabilities{}), Compaction: Some(CompactionCapabilities{}),
		ConfigOptions: Some(SessionConfigOptionsCapabilities{Boolean: Some(BooleanConfigOptionCapabilities{})}),
	})
	s.begin(&caps, 2)
	type none struct{}
	session := map[string]any{
		"prompt": map[string]any{"image": none{}, "embeddedContext": none{}}, "mcp": map[string]any{"stdio": none{}, "http": none{}},
		"additionalDirectories": none{}, "systemPrompt": map[string]any{"mode": map[string]any{"override": none{}}},
	}
	provider := agent.CapabilitiesOf(s.opts.Provider, nil)
	if provider.Resume {
		session["fork"] = none{}
	}
	if provider.History {
		session["delete"], session["title"] = none{}, none{}
	}
	auth := []any{}
	for _, m := range s.authMethods(&caps) {
		if t, ok := m.Value.(*AuthMethodTerminal); ok {
			auth = append(auth, map[string]any{"type": "terminal", "methodId": t.ID, "name": t.Name, "description": t.Description, "args": t.Args})
		}
	}
	return map[string]any{
		"protocolVersion": 2, "info": s.info(), "authMethods": auth,
		"capabilities": map[string]any{"session": session, "_meta": map[string]any{"claudeCode": map[string]any{"promptQueueing": true}}},
	}, nil
}

// state2 is what the answers that open a session tell.
func (s *session) opened2() map[string]any {
	result := map[string]any{}
	_, options := s.state()
	result["configOptions"] = options2(options)
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	commands := []any{}
	if catalog, ok := live.(agent.Catalog); ok {
		if list, err := catalog.Commands(s.srv.ctx); err == nil {
			s.mu.Lock()
			u, _ := s.config.setCommands(list)
			s.mu.Unlock()
			if all, ok := u.Value.(*AvailableCommandsUpdate); ok {
				commands = commands2(all.AvailableCommands)
			}
		}
	}
	result["availableCommands"] = commands
	return result
}

func (s *server) newSession2(ctx context.Context, p *newSessionRequest2) (any, error) {
	one, err := s.open(ctx, p.request())
	if err != nil {
		return nil, err
	}
	result := one.opened2()
	result["sessionId"] = one.id
	return result, nil
}

// newSessionRequest2 is a request that opens a session, in version 2.
type newSessionRequest2 struct {
	SessionID             string                     `json:"sessionId"`
	CWD                   string                     `json:"cwd"`
	MCPServers            []MCPServer                `json:"mcpServers"`
	AdditionalDirectories []string                   `json:"additionalDirectories"`
	SystemPrompt          Optional[SystemPrompt]     `json:"systemPrompt"`
	ReplayFrom            *struct{ Type string }     `json:"replayFrom"`
	Meta                  map[string]json.RawMessage `json:"_meta"`
}

func (p *newSessionRequest2) request() *request {
	return &request{id: p.SessionID, cwd: p.CWD, servers: p.MCPServers, directories: p.AdditionalDirectories, prompt: p.SystemPrompt, meta: p.Meta}
}

func (s *server) resumeSession2(ctx context.Context, p *newSessionRequest2) (any, error) {
	if p.ReplayFrom != nil && p.ReplayFrom.Type != "start" {
		return nil, invalidf("replayFrom", p.ReplayFrom.Type, "a session is replayed from its start, not from %q", p.ReplayFrom.Type)
	}
	one, err := s.resume(ctx, p.request(), p.ReplayFrom != nil)
	if err != nil {
		return nil, err
	}
	one.state2("idle", "")
	return one.opened2(), nil
}

func (s *server) forkSession2(ctx context.Context, p *ForkSessionRequest) (any, error) {
	result, err := s.forkSession(ctx, p)
	if err != nil {
		return nil, err
	}
	then, _ := result.(*jsonrpc.Then)
	forked, _ := then.Result.(*ForkSessionResponse)
	one := s.session(string(forked.SessionID))
	if one == nil {
		return nil, notFound(string(forked.SessionID))
	}
	out := one.opened2()
	out["sessionId"] = one.id
	return out, nil
}

func (s *server) setConfigOption2(ctx context.Context, p *SetSessionConfigOptionRequest) (any, error) {
	result, err := s.setConfigOption(ctx, p)
	if err != nil {
		return nil, err
	}
	r, _ := result.(*SetSessionConfigOptionResponse)
	return map[string]any{"configOptions": options2(r.ConfigOptions)}, nil
}

// prompt2 answers at once; what becomes of the turn is reported by states.
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

// idle2 tells how a turn ended.
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

// state2 tells a client of version 2 what the session does.
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
	return s.conn.Notify(ctx, MethodSessionUpdate, map[string]any{"sessionId": id, "update": u})
}

// update2 sends an update in the form of version 2.
func (s *server) update2(ctx context.Context, id string, u SessionUpdate) error {
	for _, v := range Updates2(u) {
		if err := s.notify2(ctx, id, v); err != nil {
			return err
		}
	}
	return nil
}

// permission2 is a request for permission in the form of version 2.
func permission2(r *RequestPermissionRequest) any {
	call := toolUpdate2(&r.ToolCall)
	delete(call, "sessionUpdate")
	title := r.ToolCall.Title.Or("")
	if title == "" {
		title = fmt.Sprintf("Allow %s", r.ToolCall.Name.Or("the tool"))
	}
	return map[string]any{
		"sessionId": r.SessionID, "title": title, "options": r.Options,
		"subject": map[string]any{"type": "tool_call", "toolCall": call},
	}
}
