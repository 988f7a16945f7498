package server

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// forwarded is a call that a server forwards to the owner of its session. It carries no rights: the
// owner looks up the current rights of the caller's token.
type forwarded struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Token  string          `json:"token"` // the id of the token
	Remote string          `json:"remote,omitempty"`
	Trace  string          `json:"trace,omitempty"`

	Yield *yield `json:"yield,omitempty"` // instead of a method
	Drain bool   `json:"drain,omitempty"` // instead of a method: the server gives its sessions to the others
}

// yield asks a server to release a session, or a machine, whose host another server reaches.
type yield struct {
	Session string `json:"session,omitempty"`
	Host    string `json:"host"`
}

// forwardedResult is the answer to a forwarded call.
type forwardedResult struct {
	Result  json.RawMessage     `json:"result,omitempty"`
	Reason  api.Reason          `json:"reason,omitempty"` // empty for a result
	Message string              `json:"message,omitempty"`
	Hunks   []api.WorkspaceHunk `json:"hunks,omitempty"`
	Stale   bool                `json:"stale,omitempty"`
}

// here lists the methods that every server answers itself although they name a session, because a
// connection follows sessions through its own server.
var here = map[string]bool{"hello": true, "session.attach": true, "session.detach": true, "permission.list": true}

// sessionOf returns the session of a call, or "". For a session that is created with a key, the id is known before the
// session exists.
func sessionOf(c *caller, m *method, params []byte) string {
	if here[m.name] {
		return ""
	}
	var p struct {
		SessionID string `json:"session_id"`
		Key       string `json:"idempotency_key"`
	}
	_ = json.Unmarshal(params, &p) // the method reports it
	if p.SessionID == "" && p.Key != "" && m.name == "session.connect" {
		return newSessionID(c.id, p.Key)
	}
	return p.SessionID
}

// ownerPause is the time between attempts to find the owner of a session.
const ownerPause = 100 * time.Millisecond

// dispatched runs a call on the server that owns its session, or on this server if the session has
// no owner. A server that has just lost the session answers not_owner, one that is stopping answers
// draining, and one that has died does not answer. The call has not run on any of these. Then
// dispatched looks up the owner again, until another server owns the session.
func (s *Server) dispatched(ctx context.Context, c *caller, m *method, params []byte) (any, error) {
	id := sessionOf(c, m, params)
	if id == "" && m.name == "session.connect" && s.sessions.Giving() {
		return s.forwardAnywhere(ctx, c, m, params)
	}
	if id == "" {
		return s.run(ctx, c, m, params)
	}
	end := time.Now().Add(s.peers.c.LeaseTTL() + takeoverTime)
	for {
		result, err := s.dispatchedOnce(ctx, c, m, id, params)
		if err == nil || !s.ownedLater(err) || c.forwarded || time.Now().After(end) {
			return result, err
		}
		select {
		case <-time.After(ownerPause):
		case <-ctx.Done():
			return result, err
		case <-s.ctx.Done():
			return result, err
		}
	}
}

// ownedLater reports whether a call had no effect because the session is about to get another
// owner.
func (s *Server) ownedLater(err error) bool {
	reason := session.FailureOf(err).Reason
	return reason == api.NotOwner || reason == api.Draining && s.sessions.Working() == nil
}

// takeoverTime is the time within which another server takes over a session after the lease has
// expired.
const takeoverTime = 10 * time.Second

func (s *Server) dispatchedOnce(ctx context.Context, c *caller, m *method, id string, params []byte) (any, error) {
	if s.sessions.Owns(id) {
		return s.run(ctx, c, m, params)
	}
	node, err := s.peers.c.Owner(ctx, id)
	if err != nil {
		return nil, err
	}
	if node == "" && s.sessions.Giving() {
		return s.forwardAnywhere(ctx, c, m, params)
	}
	if node == "" || node == s.peers.c.Node() {
		result, err := s.run(ctx, c, m, params)
		if other, ok := errors.AsType[*session.ElsewhereFailure](err); ok {
			return s.forward(ctx, c, m, other.Node, params)
		}
		return result, err
	}
	return s.forward(ctx, c, m, node, params)
}

// forward runs a call on another server.
func (s *Server) forward(ctx context.Context, c *caller, m *method, node string, params []byte) (any, error) {
	request, err := json.Marshal(forwarded{Method: m.name, Params: params, Token: c.id, Remote: c.remote, Trace: s.tracer.ToText(ctx)})
	if err != nil {
		return nil, session.Invalid("the parameters: %v", err)
	}
	answer, err := s.peers.c.Call(ctx, node, request)
	switch {
	case errors.Is(err, cluster.ErrNoNode):
		return nil, session.Fail(api.NotOwner, "the server of the session is unreachable; another one takes over the session when its lease expires")
	case errors.Is(err, cluster.ErrTooLarge):
		return nil, session.LimitReached("%v", err)
	case errors.Is(err, cluster.ErrUnreachable):
		return nil, session.Fail(api.TooSlow, "the server of the session does not answer; whether it has done this is unknown")
	case err != nil:
		return nil, err
	}
	return resultOf(answer)
}

// resultOf decodes the answer to a forwarded call.
func resultOf(answer []byte) (any, error) {
	var r forwardedResult
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, err
	}
	f := &session.Failure{Reason: r.Reason, Message: r.Message}
	switch {
	case r.Stale:
		return nil, &session.StaleFailure{Failure: f, Hunks: r.Hunks}
	case r.Reason != "":
		return nil, f
	}
	return r.Result, nil
}

// answer answers a call from another server.
func (p *peers) answer(ctx context.Context, request []byte) []byte {
	var r forwardedResult
	result, err := p.srv.serveForwarded(ctx, request)
	if isCancelled(err) && p.srv.ctx.Err() != nil {
		err = session.Fail(api.TooSlow, "the server of the session stops; whether it has done this is unknown")
	}
	if err == nil {
		r.Result, err = json.Marshal(result)
	}
	if err != nil {
		f := session.FailureOf(err)
		r = forwardedResult{Reason: f.Reason, Message: f.Message}
		if stale, ok := errors.AsType[*session.StaleFailure](err); ok {
			r.Stale, r.Hunks = true, stale.Hunks
		}
		if f.Reason == session.InternalError && !isCancelled(err) {
			p.srv.logger.Error("a forwarded call failed", "err", err)
		}
	}
	data, err := json.Marshal(r)
	if err != nil { // a result is JSON
		p.srv.logger.Error("an answer to another server cannot be encoded", "err", err)
	}
	return data
}

// serveForwarded runs a forwarded call with the current rights of its caller.
func (s *Server) serveForwarded(ctx context.Context, request []byte) (any, error) {
	var f forwarded
	if err := json.Unmarshal(request, &f); err != nil {
		return nil, session.Invalid("a forwarded call: %v", err)
	}
	if f.Yield != nil {
		return nil, s.sessions.Yield(ctx, f.Yield.Session, f.Yield.Host)
	}
	if f.Drain {
		return nil, s.giveAway(ctx)
	}
	p, err := s.tokens.holder(ctx, f.Token)
	if err != nil {
		return nil, err
	}
	p.remote = f.Remote
	c := &caller{principal: p, forwarded: true}
	m, err := s.method(c, f.Method)
	if err != nil {
		return nil, err
	}
	return s.allowed(s.tracer.FromText(ctx, f.Trace), c, m, f.Params)
}
