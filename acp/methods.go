package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// handler answers a request.
type handler func(s *server, ctx context.Context, m *jsonrpc.Message) (any, error)

// typed makes a handler of a function with decoded params.
func typed[P any](f func(s *server, ctx context.Context, p *P) (any, error)) handler {
	return func(s *server, ctx context.Context, m *jsonrpc.Message) (any, error) {
		p, err := params[P](m)
		if err != nil {
			return nil, err
		}
		return f(s, ctx, p)
	}
}

// params decodes the params of a request.
func params[P any](m *jsonrpc.Message) (*P, error) {
	p := new(P)
	text := m.Params
	if text == "" {
		text = "{}"
	}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, invalid(err)
	}
	return p, nil
}

// methods are the requests that version 1 has.
var methods = map[string]handler{
	MethodInitialize:             typed((*server).initialize),
	MethodAuthenticate:           typed((*server).authenticate),
	MethodLogout:                 typed((*server).logout),
	MethodSessionNew:             typed((*server).newSession),
	MethodSessionLoad:            typed((*server).loadSession),
	MethodSessionResume:          typed((*server).resumeSession),
	MethodSessionFork:            typed((*server).forkSession),
	MethodSessionList:            typed((*server).listSessions),
	MethodSessionDelete:          typed((*server).deleteSession),
	MethodSessionClose:           typed((*server).closeSession),
	MethodSessionSetTitle:        typed((*server).setTitle),
	MethodSessionSetMode:         typed((*server).setMode),
	MethodSessionSetConfigOption: typed((*server).setConfigOption),
	MethodSessionPrompt:          (*server).prompt,
	methodSteering:               typed((*server).steer),
}

// methodSteering is an extension of the reference adapter: a message for the turn that runs.
const methodSteering = "_session/steering"

func (s *server) handle(ctx context.Context, m *jsonrpc.Message) (any, error) {
	h := methods[m.Method]
	s.mu.Lock()
	begun, closing, version := s.client != nil, s.closing, s.version
	s.mu.Unlock()
	if version == 2 {
		if own, ok := methods2[m.Method]; ok {
			h = own
		}
	}
	switch {
	case h == nil:
		e := jsonrpc.MethodNotFound(m.Method)
		e.Data = object1("method", m.Method)
		return nil, e
	case closing:
		return nil, jsonrpc.ErrClosed
	case !strings.Contains(m.Raw, `"2.0"`):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: jsonrpc is not \"2.0\""}
	case !begun && m.Method != MethodInitialize:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: initialize comes first"}
	}
	result, err := h(s, ctx, m)
	if err != nil {
		return nil, wireError(err)
	}
	return result, nil
}

// notified takes a notification. Ones that are not known are ignored, as the protocol asks.
func (s *server) notified(m *jsonrpc.Message) {
	if m.Method != MethodSessionCancel {
		return
	}
	if p, err := params[CancelNotification](m); err == nil {
		if one := s.session(string(p.SessionID)); one != nil {
			one.cancel()
		}
	}
}

// object1 is an object with one text.
func object1(name, value string) json.RawMessage {
	text, err := marshal(map[string]string{name: value})
	if err != nil {
		return nil // a map of texts
	}
	return text
}

func invalid(err error) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + err.Error()}
	if m, ok := errors.AsType[*MemberError](err); ok {
		e.Data = object1("member", m.Path)
	}
	return e
}

func invalidf(name, value, format string, args ...any) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
	if name != "" {
		e.Data = object1(name, value)
	}
	return e
}

func notFound(sessionID string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: CodeResourceNotFound, Message: "Resource not found", Data: object1("sessionId", sessionID)}
}

// wireError is an error as the protocol has it.
func wireError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	code := int64(jsonrpc.CodeInternal)
	switch {
	case errors.Is(err, context.Canceled):
		return err // jsonrpc knows whether the client took the request back
	case errors.Is(err, agent.ErrNotFound):
		code = CodeResourceNotFound
	case errors.Is(err, agent.ErrInvalid):
		code = jsonrpc.CodeInvalidParams
	case errors.Is(err, agent.ErrAuth):
		code = CodeAuthRequired
	case errors.Is(err, agent.ErrUnsupported):
		code = jsonrpc.CodeMethodNotFound
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// initialize negotiates the version: 1, or 2 for a client that asks for exactly that.
func (s *server) initialize(_ context.Context, p *InitializeRequest) (any, error) {
	if p.ProtocolVersion == 2 {
		return s.initialize2(p)
	}
	caps := p.ClientCapabilities.Or(ClientCapabilities{})
	s.begin(&caps, 1)
	session := SessionCapabilities{
		Close: Some(SessionCloseCapabilities{}), AdditionalDirectories: Some(SessionAdditionalDirectoriesCapabilities{}),
		SystemPrompt: Some(SessionSystemPromptCapabilities{Mode: Some(SessionSystemPromptModeCapabilities{Override: Some(SessionSystemPromptOverrideCapabilities{})})}),
	}
	provider := agent.CapabilitiesOf(s.opts.Provider, nil)
	if provider.Resume {
		session.Resume, session.Fork = Some(SessionResumeCapabilities{}), Some(SessionForkCapabilities{})
	}
	if provider.History {
		session.List, session.Delete, session.Title = Some(SessionListCapabilities{}), Some(SessionDeleteCapabilities{}), Some(SessionTitleCapabilities{})
	}
	own := AgentCapabilities{
		LoadSession:         Some(provider.Resume && provider.History),
		PromptCapabilities:  Some(PromptCapabilities{Image: Some(true), EmbeddedContext: Some(true)}),
		MCPCapabilities:     Some(MCPCapabilities{HTTP: Some(true), SSE: Some(true)}),
		SessionCapabilities: Some(session),
		Meta:                map[string]json.RawMessage{"claudeCode": json.RawMessage(`{"promptQueueing":true}`)},
	}
	if _, ok := s.opts.Provider.(agent.Authenticator); ok {
		own.Auth = Some(AgentAuthCapabilities{Logout: Some(LogoutCapabilities{})})
	}
	return &InitializeResponse{
		ProtocolVersion: 1, AgentCapabilities: Some(own), AuthMethods: s.authMethods(&caps), AgentInfo: Some(s.info()),
		Meta: map[string]json.RawMessage{"steering": json.RawMessage(`{"supported":true}`)},
	}, nil
}

func (s *server) info() Implementation {
	info := Implementation{Name: s.opts.Name, Version: s.opts.Version}
	if s.opts.Title != "" {
		info.Title = Some(s.opts.Title)
	}
	return info
}

// begin notes what the client can do and opens a session ahead.
func (s *server) begin(caps *ClientCapabilities, version int64) {
	s.mu.Lock()
	again := s.client != nil
	s.client, s.version = caps, version
	s.mu.Unlock()
	if !again && s.opts.PrewarmDir != "" {
		s.prewarm()
	}
}

// authMethods are the ways to log in for this client: only one with terminals can use them.
func (s *server) authMethods(caps *ClientCapabilities) []AuthMethod {
	if !caps.Auth.Or(AuthCapabilities{}).Terminal.Or(false) {
		return []AuthMethod{}
	}
	return append([]AuthMethod{}, s.opts.AuthMethods...)
}

// authenticate refuses every method: those that are offered run in a terminal.
func (s *server) authenticate(_ context.Context, p *AuthenticateRequest) (any, error) {
	for _, m := range s.opts.AuthMethods {
		if t, ok := m.Value.(*AuthMethodTerminal); ok && t.ID == p.MethodID {
			return nil, invalidf("methodId", string(p.MethodID), "the method %q is run in a terminal by the client", p.MethodID)
		}
	}
	return nil, invalidf("methodId", string(p.MethodID), "there is no method %q", p.MethodID)
}

func (s *server) logout(ctx context.Context, _ *LogoutRequest) (any, error) {
	a, ok := s.opts.Provider.(agent.Authenticator)
	if !ok {
		return nil, jsonrpc.MethodNotFound(MethodLogout)
	}
	if err := a.Logout(ctx); err != nil {
		return nil, err
	}
	return &LogoutResponse{}, nil
}

// checkDir checks a working directory.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return invalidf("cwd", dir, "`cwd` must be an absolute path, but received: %s", dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return invalidf("cwd", dir, "`cwd` does not exist on the machine running the agent: %s", dir)
	}
	return nil
}

// features are what the client can show.
func (s *server) features() Features {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.client.Session.Or(ClientSessionCapabilities{})
	return Features{
		Notices: c.Notices.IsSet(), Compaction: c.Compaction.IsSet(),
		Boolean: c.ConfigOptions.Or(SessionConfigOptionsCapabilities{}).Boolean.IsSet(),
	}
}
