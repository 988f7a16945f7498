package editor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// handler answers a request.
type handler func(s *server, ctx context.Context, m *jsonrpc.Message) (any, error)

// typed returns a handler that calls a function with decoded params.
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
	text := cmp.Or(m.Params, "{}")
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, invalid(err)
	}
	return p, nil
}

// methods are the requests of version 1.
var methods = map[string]handler{
	acp.MethodInitialize:             typed((*server).initialize),
	acp.MethodAuthenticate:           typed((*server).authenticate),
	acp.MethodLogout:                 typed((*server).logout),
	acp.MethodSessionNew:             typed((*server).newSession),
	acp.MethodSessionLoad:            typed((*server).loadSession),
	acp.MethodSessionResume:          typed((*server).resumeSession),
	acp.MethodSessionFork:            typed((*server).forkSession),
	acp.MethodSessionList:            typed((*server).listSessions),
	acp.MethodSessionDelete:          typed((*server).deleteSession),
	acp.MethodSessionClose:           typed((*server).closeSession),
	acp.MethodSessionSetTitle:        typed((*server).setTitle),
	acp.MethodSessionSetMode:         typed((*server).setMode),
	acp.MethodSessionSetConfigOption: typed((*server).setConfigOption),
	acp.MethodSessionPrompt:          (*server).prompt,
	methodSteering:                   typed((*server).steer),
}

// methodSteering is an extension of the reference adapter: it sends a message to the running turn.
const methodSteering = "_session/steering"

func (s *server) handle(ctx context.Context, m *jsonrpc.Message) (any, error) {
	h := methods[m.Method]
	defer s.opened(ctx, m)()
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
	case !begun && m.Method != acp.MethodInitialize:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: initialize comes first"}
	}
	result, err := h(s, ctx, m)
	if err != nil {
		return nil, wireError(err)
	}
	return result, nil
}

// opens records that initialize has arrived.
func (s *server) opens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opening == nil {
		s.opening = make(chan struct{})
	}
}

// opened waits for an initialize that arrived earlier, because a client may send the next request before it has the answer. The
// caller calls the function that it returns when it has handled the request.
func (s *server) opened(ctx context.Context, m *jsonrpc.Message) (handled func()) {
	s.mu.Lock()
	opening := s.opening
	s.mu.Unlock()
	if m.Method == acp.MethodInitialize {
		return s.begun
	}
	if opening != nil {
		select {
		case <-opening:
		case <-ctx.Done():
		}
	}
	return func() {}
}

// begun records that an initialize was handled.
func (s *server) begun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opening != nil && !s.ready {
		close(s.opening)
		s.ready = true
	}
}

// notified handles a notification. It ignores unknown ones, as the protocol requires.
func (s *server) notified(m *jsonrpc.Message) {
	if m.Method != acp.MethodSessionCancel {
		return
	}
	if p, err := params[acp.CancelNotification](m); err == nil {
		if one := s.session(string(p.SessionID)); one != nil {
			one.cancel()
		} else {
			s.cancelSubagent(string(p.SessionID))
		}
	}
}

// cancelSubagent stops the subagent that has this session.
func (s *server) cancelSubagent(id string) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, one := range all {
		one.mu.Lock()
		live, task := one.live, one.mapper.taskFor(id)
		one.mu.Unlock()
		stopper, ok := live.(agent.TaskController)
		if task == "" || !ok {
			continue
		}
		s.work.Go(func() {
			if err := stopper.StopTask(s.ctx, task); err != nil {
				s.opts.Logger.Warn("acp: a subagent was not stopped", "session", one.id, "subagent", id, "err", err)
			}
		})
	}
}

// object1 returns an object with one text.
func object1(name, value string) json.RawMessage {
	text, err := jsonwire.Marshal(map[string]string{name: value})
	if err != nil {
		return nil // texts can be encoded
	}
	return text
}

func invalid(err error) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + err.Error()}
	if m, ok := errors.AsType[*acp.MemberError](err); ok {
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
	return &jsonrpc.Error{Code: acp.CodeResourceNotFound, Message: "Resource not found", Data: object1("sessionId", sessionID)}
}

// wireError converts an error for the protocol.
func wireError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	code := int64(jsonrpc.CodeInternal)
	switch {
	case errors.Is(err, context.Canceled):
		return err // jsonrpc knows whether the client has cancelled the request
	case errors.Is(err, agent.ErrNotFound):
		code = acp.CodeResourceNotFound
	case errors.Is(err, agent.ErrInvalid):
		code = jsonrpc.CodeInvalidParams
	case errors.Is(err, agent.ErrAuth):
		code = acp.CodeAuthRequired
	case errors.Is(err, agent.ErrUnsupported):
		code = jsonrpc.CodeMethodNotFound
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

// initialize negotiates the version: 2 for a client that requests exactly 2, otherwise 1.
func (s *server) initialize(_ context.Context, p *acp.InitializeRequest) (any, error) {
	if p.ProtocolVersion == 2 {
		return s.initialize2(p)
	}
	caps := p.ClientCapabilities.Or(acp.ClientCapabilities{})
	s.begin(&caps, 1)
	session := acp.SessionCapabilities{
		Close: acp.Some(acp.SessionCloseCapabilities{}), AdditionalDirectories: acp.Some(acp.SessionAdditionalDirectoriesCapabilities{}),
		SystemPrompt: acp.Some(acp.SessionSystemPromptCapabilities{Mode: acp.Some(acp.SessionSystemPromptModeCapabilities{Override: acp.Some(acp.SessionSystemPromptOverrideCapabilities{})})}),
	}
	provider := agent.CapabilitiesOf(s.opts.Provider, nil)
	if provider.Resume {
		session.Resume, session.Fork = acp.Some(acp.SessionResumeCapabilities{}), acp.Some(acp.SessionForkCapabilities{})
	}
	if provider.History {
		session.List, session.Delete, session.Title = acp.Some(acp.SessionListCapabilities{}), acp.Some(acp.SessionDeleteCapabilities{}), acp.Some(acp.SessionTitleCapabilities{})
	}
	own := acp.AgentCapabilities{
		LoadSession:         acp.Some(provider.Resume && provider.History),
		PromptCapabilities:  acp.Some(acp.PromptCapabilities{Image: acp.Some(true), EmbeddedContext: acp.Some(true)}),
		MCPCapabilities:     acp.Some(s.mcpCapabilities()),
		SessionCapabilities: acp.Some(session),
		Object:              acp.Object{Meta: map[string]json.RawMessage{"claudeCode": json.RawMessage(`{"promptQueueing":true}`)}},
	}
	if _, ok := s.opts.Provider.(agent.Authenticator); ok {
		own.Auth = acp.Some(acp.AgentAuthCapabilities{Logout: acp.Some(acp.LogoutCapabilities{})})
	}
	return &acp.InitializeResponse{
		ProtocolVersion: 1, AgentCapabilities: acp.Some(own), AuthMethods: s.authMethods(&caps), AgentInfo: acp.Some(s.info()),
		Object: acp.Object{Meta: map[string]json.RawMessage{"steering": json.RawMessage(`{"supported":true}`)}},
	}, nil
}

// mcpCapabilities returns the kinds of MCP servers that the agent supports.
func (s *server) mcpCapabilities() acp.MCPCapabilities {
	has := func(kind string) acp.Optional[bool] {
		host, ok := s.opts.Provider.(agent.MCPHost)
		return acp.Some(!ok || slices.Contains(host.MCPTransports(), kind))
	}
	return acp.MCPCapabilities{HTTP: has("http"), SSE: has("sse")}
}

func (s *server) info() acp.Implementation {
	return acp.Implementation{Name: s.opts.Name, Version: s.opts.Version, Title: acp.NonZero(s.opts.Title)}
}

// begin stores the capabilities of the client and starts opening a session in advance.
func (s *server) begin(caps *acp.ClientCapabilities, version int64) {
	s.mu.Lock()
	again := s.client != nil
	s.client, s.version = caps, version
	s.mu.Unlock()
	if !again && s.opts.PrewarmDir != "" {
		s.prewarm()
	}
}

// authMethods returns the login methods for this client. They run in a terminal, so a client
// without terminals gets none.
func (s *server) authMethods(caps *acp.ClientCapabilities) []acp.AuthMethod {
	if !caps.Auth.Or(acp.AuthCapabilities{}).Terminal.Or(false) {
		return []acp.AuthMethod{}
	}
	return append([]acp.AuthMethod{}, s.opts.AuthMethods...)
}

// authenticate rejects every method, because the offered ones run in a terminal.
func (s *server) authenticate(_ context.Context, p *acp.AuthenticateRequest) (any, error) {
	for _, m := range s.opts.AuthMethods {
		if t, ok := m.Value.(*acp.AuthMethodTerminal); ok && t.ID == p.MethodID {
			return nil, invalidf("methodId", string(p.MethodID), "the method %q is run in a terminal by the client", p.MethodID)
		}
	}
	return nil, invalidf("methodId", string(p.MethodID), "unknown method %q", p.MethodID)
}

func (s *server) logout(ctx context.Context, _ *acp.LogoutRequest) (any, error) {
	a, ok := s.opts.Provider.(agent.Authenticator)
	if !ok {
		return nil, jsonrpc.MethodNotFound(acp.MethodLogout)
	}
	if err := a.Logout(ctx); err != nil {
		return nil, err
	}
	return &acp.LogoutResponse{}, nil
}

// checkDir checks a working directory.
func (s *server) checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return invalidf("cwd", dir, "`cwd` must be an absolute path, but received: %s", dir)
	}
	if s.opts.Remote {
		return nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return invalidf("cwd", dir, "`cwd` does not exist on the machine running the agent: %s", dir)
	}
	return nil
}

// features returns the display features that the client supports.
func (s *server) features() Features {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.client.Session.Or(acp.ClientSessionCapabilities{})
	return Features{
		Notices: c.Notices.IsSet(), Compaction: c.Compaction.IsSet(),
		Terminals: string(s.client.Meta["terminal_output"]) == "true" && s.version != 2,
		Subagents: s.client.Subagents.IsSet() && s.version != 2,
		Boolean:   c.ConfigOptions.Or(acp.SessionConfigOptionsCapabilities{}).Boolean.IsSet(),
	}
}
