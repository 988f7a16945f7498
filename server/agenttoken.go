package server

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
)

// agentMethods are the methods that an agent's token allows. The value is true for a method that
// answers requests, which the token must allow explicitly.
var agentMethods = map[string]bool{
	"hello": false, "mcp": false, "session.connect": false, "session.query": false, "session.attach": false, "session.detach": false, "session.list": false,
	"session.interrupt": false, "session.getHistory": false, "workspace.diff": false, "permission.list": false, "permission.respond": true, "question.respond": true,
}

// agentActs returns an error for a call of an agent that acts on a session that it did not start. It may prompt and
// interrupt its own session, but not answer its requests, which are for a person.
func (s *Server) agentActs(ctx context.Context, c *caller, m *method, params []byte) error {
	if c.agentOf == "" || !m.acts() {
		return nil
	}
	var p api.SessionRef
	if err := json.Unmarshal(params, &p); err != nil {
		return session.Invalid("the parameters: %v", err)
	}
	if p.SessionID == c.agentOf && !agentMethods[m.name] {
		return nil
	}
	acc, err := s.sessions.Account(ctx, p.SessionID)
	if err == nil && !slices.Contains(acc.Parents, c.agentOf) {
		err = session.Fail(api.AuthFailed, "a token of an agent does not allow %s of a session that the agent did not start", m.name)
	}
	return err
}

// acts reports whether a method that agents may call changes an existing session.
func (m *method) acts() bool {
	return m.role >= roleOperator && m.name != "session.connect" && m.name != "workspace.diff"
}

// agentMay returns an error if the principal is an agent that may not call a method.
func (p *principal) agentMay(method string) error {
	answers, ok := agentMethods[method]
	switch {
	case p.agentOf == "":
		return nil
	case !ok:
		return session.Fail(api.AuthFailed, "a token of an agent does not allow %s", method)
	case answers && !p.answers:
		return session.Fail(api.AuthFailed, "this token of an agent does not allow to answer requests")
	}
	return nil
}

// mayConnect returns an error if an agent that may not answer requests would start a session that
// asks for fewer permissions than usual.
func (p *principal) mayConnect(params api.ConnectParams) error {
	plain := api.ConnectParams{Idempotency: params.Idempotency, CWD: params.CWD, WorkspaceID: params.WorkspaceID, Provider: params.Provider, Model: params.Model,
		Title: params.Title, InitialPrompt: params.InitialPrompt, Metadata: params.Metadata}
	if p.agentOf != "" && !p.answers && !reflect.DeepEqual(params, plain) {
		return session.Fail(api.AuthFailed, "a token of an agent may set only the directory, provider, model, title, metadata and first prompt of a session")
	}
	return nil
}

// payer returns the account that is charged for a session of a caller. Sessions that an agent starts are
// charged to the agent's session.
func (s *Server) payer(ctx context.Context, id string, c *caller) (budget.Account, error) {
	if c.agentOf == "" {
		return budget.Account{Session: id, Token: c.account, Tenant: c.tenant}, nil
	}
	parent, err := s.sessions.Account(ctx, c.agentOf)
	if err != nil {
		return budget.Account{}, err
	}
	child, err := parent.Child(id)
	if errors.Is(err, budget.ErrDepth) {
		return child, session.LimitReached("an agent that was started by an agent of an agent's session starts no more: sessions are at most %d deep", budget.MaxDepth)
	}
	for _, standing := range s.accounts.Check(child) {
		if err == nil && standing.Stops() {
			err = session.Fail(api.BudgetExceeded, "%s", standing.For(child.Tenant).String())
		}
	}
	return child, err
}

// agentOf checks the session for whose agent a token is created.
func (s *Server) agentOf(ctx context.Context, p api.TokensCreateParams, r role, tenant string) error {
	if p.AgentOf == "" {
		if p.Answers {
			return session.Invalid("answers is for a token of an agent, with agent_of")
		}
		return nil
	}
	if r == roleAdmin {
		return session.Invalid("a token of an agent is for a viewer or an operator")
	}
	acc, err := s.sessions.Account(ctx, p.AgentOf)
	if err == nil && acc.Tenant != tenant {
		err = session.Invalid("the session is of another tenant")
	}
	return err
}
