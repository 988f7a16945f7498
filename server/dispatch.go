package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// caller is the origin of a request: the principal, and the connection.
type caller struct {
	*principal
	socket *socket // nil over HTTP
	// forwarded is set for a call from another server. This server runs or refuses it, but does not forward it again.
	forwarded bool
}

// method returns a method that a caller may call now.
func (s *Server) method(c *caller, name string) (*method, error) {
	m, ok := methodByName[name]
	if !ok {
		return nil, &session.Failure{Reason: methodNotFound, Message: "unknown method " + name}
	}
	if err := s.tokens.current(c.principal); err != nil {
		return nil, err
	}
	return m, m.permits(c.principal)
}

// permits returns an error if the rights of a caller do not allow the method.
func (m *method) permits(p *principal) error {
	switch {
	case p.role < m.role || (p.role == roleHost) != (m.role == roleHost):
		return session.Fail(api.AuthFailed, "%s needs the role %s", m.name, m.role)
	case p.tenant != "" && m.tenancy == ofServer:
		return session.Fail(api.AuthFailed, "a token of a tenant does not allow %s", m.name)
	case p.session != "" && m.scope != linked:
		return session.Fail(api.AuthFailed, "a link to a session does not allow %s", m.name)
	}
	return p.agentMay(m.name)
}

// limit returns the size limit of the parameters of a call in bytes.
func (s *Server) limit(c *caller, m *method) int64 {
	most := s.opts.MaxBody
	if m.body > 0 {
		most = min(most, m.body)
	}
	if c.role < roleOperator {
		most = min(most, smallBody)
	}
	return most
}

// call runs a method for a caller.
func (s *Server) call(ctx context.Context, c *caller, name string, params []byte) (any, error) {
	m, err := s.method(c, name)
	if m == nil {
		return nil, err
	}
	began := time.Now()
	ctx, span := s.tracer.Method(ctx, name)
	var result any
	if err == nil {
		result, err = s.allowed(ctx, c, m, params)
	}
	session.EndSpan(span, err)
	s.metrics.request(name, err, time.Since(began))
	if m.audit == audited {
		if auditErr := s.auditRow(c, name, params, err); auditErr != nil && err == nil {
			// The action cannot be undone, but the missing audit row must be reported.
			s.logger.Error("no audit row", "method", name, "err", auditErr)
		}
	}
	if err != nil {
		if f := session.FailureOf(err); f.Reason == session.InternalError && !isCancelled(err) {
			s.logger.Error("a call failed", "method", name, "err", err)
		}
	}
	return result, err
}

func (s *Server) allowed(ctx context.Context, c *caller, m *method, params []byte) (any, error) {
	if max := s.limit(c, m); int64(len(params)) > max {
		return nil, session.LimitReached("the parameters of %s have at most %d bytes", m.name, max)
	}
	if c.session != "" {
		var p api.SessionRef
		if json.Unmarshal(params, &p) == nil && p.SessionID != "" && p.SessionID != c.session {
			return nil, session.Fail(api.AuthFailed, "the link is to another session")
		}
	}
	ctx = withCaller(ctx, c)
	if s.peers != nil && !c.forwarded {
		return s.dispatched(ctx, c, m, params)
	}
	return s.run(ctx, c, m, params)
}

// run runs a method on this server.
func (s *Server) run(ctx context.Context, c *caller, m *method, params []byte) (any, error) {
	if err := s.agentActs(ctx, c, m, params); err != nil {
		return nil, err
	}
	return m.call(s, ctx, c, params)
}

// auditParams are the parameters of a call that its audit row has.
type auditParams struct {
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id"`
	Behavior  string `json:"behavior,omitempty"`
	Action    string `json:"action,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Scope     string `json:"scope,omitempty"`
	Port      int64  `json:"port,omitempty"`
}

// maxAudited is the limit in bytes of each parameter in an audit row: calls whose parameters are too long have a row too.
const maxAudited = 256

// auditRow writes the audit row of a call. The row has no content of the call, except for the kind
// of a decision.
func (s *Server) auditRow(c *caller, method string, params []byte, err error) error {
	var p auditParams
	_ = json.Unmarshal(params, &p) // unreadable parameters are not in the row
	for _, text := range []*string{&p.SessionID, &p.RequestID, &p.Behavior, &p.Action, &p.Mode, &p.Scope} {
		*text = cut(*text, maxAudited)
	}
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

// cut returns at most max bytes of a text, in whole characters, and a mark if it was longer.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	return strings.ToValidUTF8(text[:max], "") + "…"
}

// methodNotFound is the reason for an unknown method.
const methodNotFound api.Reason = "method_not_found"

// codes are the JSON-RPC codes of reasons; others have codeServer.
var codes = map[api.Reason]int{api.InvalidParams: -32602, methodNotFound: -32601, session.InternalError: -32603}

const codeServer = -32000

// errorObject converts an error to JSON-RPC.
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

// isCancelled reports whether a call ended because its caller disconnected.
func isCancelled(err error) bool { return errors.Is(err, context.Canceled) }
