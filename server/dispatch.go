package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// caller is where a request comes from: who, and on which connection.
type caller struct {
	*principal
	socket *socket // nil over HTTP
}

// handler is a method of the service.
type handler struct {
	role    role
	shared  bool // holders of a link to the session may call it
	audited bool // it changes something
	call    func(s *Server, ctx context.Context, c *caller, params []byte) (any, error)
}

// handle makes a handler of a typed function.
func handle[P, R any](r role, f func(s *Server, ctx context.Context, c *caller, p P) (R, error)) handler {
	return handler{role: r, audited: r >= roleOperator, call: func(s *Server, ctx context.Context, c *caller, params []byte) (any, error) {
		var p P
		params = bytes.TrimSpace(params)
		if len(params) > 0 && string(params) != "null" {
			if params[0] != '{' {
				return nil, session.Invalid("the parameters are not a JSON object")
			}
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, session.Invalid("the parameters: %v", err)
			}
		}
		return f(s, ctx, c, p)
	}}
}

// ofSessions makes a method of the server of a method of its sessions.
func ofSessions[P, R any](f func(*session.Sessions, context.Context, P) (R, error)) func(*Server, context.Context, *caller, P) (R, error) {
	return func(s *Server, ctx context.Context, _ *caller, p P) (R, error) { return f(s.sessions, ctx, p) }
}

// bySessions is ofSessions for methods that note who called.
func bySessions[P, R any](f func(*session.Sessions, context.Context, P, string) (R, error)) func(*Server, context.Context, *caller, P) (R, error) {
	return func(s *Server, ctx context.Context, c *caller, p P) (R, error) { return f(s.sessions, ctx, p, c.by()) }
}

func (h handler) share() handler {
	h.shared = true
	return h
}

// quiet is a handler whose calls are not worth an audit row.
func (h handler) quiet() handler {
	h.audited = false
	return h
}

// audit is a handler whose calls have an audit row although viewers may call it.
func (h handler) audit() handler {
	h.audited = true
	return h
}

// later is a method that the server does not have yet.
func later() handler {
	return handler{role: roleViewer, call: func(*Server, context.Context, *caller, []byte) (any, error) {
		return nil, session.Fail(api.Unsupported, "this server does not have the method yet")
	}}
}

// handlers is the one table of all methods, for every transport.
var handlers map[string]handler

func init() { // it refers to functions that refer to it
	handlers = map[string]handler{}
	for _, group := range []map[string]handler{sessionHandlers(), agentHandlers(), historyHandlers(), serverHandlers(), workspaceHandlers()} {
		maps.Copy(handlers, group)
	}
	for _, m := range api.Methods {
		if _, ok := handlers[m.Name]; !ok {
			handlers[m.Name] = later()
		}
	}
}

// call runs a method for a caller.
func (s *Server) call(ctx context.Context, c *caller, method string, params []byte) (any, error) {
	h, ok := handlers[method]
	if !ok {
		return nil, &session.Failure{Reason: methodNotFound, Message: "there is no method " + method}
	}
	began := time.Now()
	ctx, span := s.tracer.Method(ctx, method)
	result, err := s.allowed(ctx, c, h, method, params)
	session.EndSpan(span, err)
	s.metrics.request(method, err, time.Since(began))
	if h.audited {
		if auditErr := s.auditRow(c, method, params, err); auditErr != nil && err == nil {
			// What was done cannot be undone, but it must not look as if it were on record.
			s.logger.Error("no audit row", "method", method, "err", auditErr)
		}
	}
	if err != nil {
		if f := session.FailureOf(err); f.Reason == session.InternalError && !isCancelled(err) {
			s.logger.Error("a call failed", "method", method, "err", err)
		}
	}
	return result, err
}

func (s *Server) allowed(ctx context.Context, c *caller, h handler, method string, params []byte) (any, error) {
	if c.role < h.role {
		return nil, session.Fail(api.AuthFailed, "%s needs the role %s", method, h.role)
	}
	if err := c.tenantAllowed(h, method); err != nil {
		return nil, err
	}
	if c.session != "" && !h.shared {
		return nil, session.Fail(api.AuthFailed, "a link to a session does not allow %s", method)
	}
	if c.session != "" {
		var p api.SessionRef
		if json.Unmarshal(params, &p) == nil && p.SessionID != "" && p.SessionID != c.session {
			return nil, session.Fail(api.AuthFailed, "the link is to another session")
		}
	}
	return h.call(s, withCaller(ctx, c), c, params)
}

// auditRow writes who called what. Content is not part of it, except what a decision was.
func (s *Server) auditRow(c *caller, method string, params []byte, err error) error {
	var p struct {
		SessionID string `json:"session_id"`
		RequestID string `json:"request_id"`
		Behavior  string `json:"behavior,omitempty"`
		Action    string `json:"action,omitempty"`
		Mode      string `json:"mode,omitempty"`
		Scope     string `json:"scope,omitempty"`
		Port      int64  `json:"port,omitempty"`
	}
	_ = json.Unmarshal(params, &p) // what cannot be read is not in the row
	row := api.AuditRow{By: c.by(), Role: c.role.String(), Method: method, SessionID: p.SessionID, RequestID: p.RequestID, Outcome: "ok", Remote: c.remote}
	if err != nil {
		row.Outcome = string(session.FailureOf(err).Reason)
	}
	p.SessionID, p.RequestID = "", ""
	if p.Port != 0 {
		row.Detail = event.Encoded(map[string]any{"port": p.Port})
	}
	if detail, err := json.Marshal(map[string]string{"behavior": p.Behavior, "action": p.Action, "mode": p.Mode, "scope": p.Scope}); err == nil && p.Behavior+p.Action+p.Mode+p.Scope != "" {
		row.Detail = jsonText(detail)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.audit.add(ctx, row)
}

// methodNotFound is the reason of a call of a method that does not exist.
const methodNotFound api.Reason = "method_not_found"

// codes are the JSON-RPC codes of reasons; others have codeServer.
var codes = map[api.Reason]int{api.InvalidParams: -32602, methodNotFound: -32601, session.InternalError: -32603}

const codeServer = -32000

// errorObject is an error as JSON-RPC has it.
func errorObject(err error) api.ErrorObject {
	f := session.FailureOf(err)
	code, ok := codes[f.Reason]
	if !ok {
		code = codeServer
	}
	object := api.ErrorObject{Code: code, Message: f.Message, Data: api.ErrorData{Reason: f.Reason}}
	if stale, ok := errors.AsType[*session.StaleFailure](err); ok {
		object.Data.Hunks = stale.Hunks
	}
	return object
}

// isCancelled reports whether a call ended because its caller is gone.
func isCancelled(err error) bool { return errors.Is(err, context.Canceled) }
