package server

import (
	"context"
	"encoding/json"
	"unicode"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// The limits of answers from notices: the number of open requests, and the length in characters of
// a command that fits into a notice.
const (
	maxNotices       = 1000
	maxNoticeCommand = 120
)

// notice is a request that a message offers to answer.
type notice struct {
	Session string `json:"session"`
	Request string `json:"request"`
	Account string `json:"account"`
	Allow   bool   `json:"allow,omitempty"`
	Command string `json:"command,omitempty"` // the command that the notice offers to allow
}

// offer is the part of a push message with which its notice answers a request: a nonce, and a
// command if the notice may also allow it.
type offer struct {
	Nonce   string `json:"nonce,omitempty"`
	Command string `json:"command,omitempty"` // complete; set if the notice may offer to allow it
}

// offer returns the answers that a browser is offered with an event. Only an open request for the
// use of a tool that the subscriber may answer has any.
func (s *Server) offer(ctx context.Context, k *pushed, ev webhook.Event) offer {
	if ev.Type != webhook.NeedsAnswer || k.Account != ownerAccount && s.tokens.holds(k.Account) < roleOperator {
		return offer{}
	}
	var data struct {
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(ev.Data, &data) != nil {
		return offer{}
	}
	p := s.request(ctx, ev.SessionID, data.RequestID)
	if p == nil || p.Kind != event.PermissionTool {
		return offer{}
	}
	n := notice{Session: ev.SessionID, Request: p.RequestID, Account: k.Account}
	var o offer
	if k.Allow {
		o.Command, n.Allow = wholeCommand(p)
		n.Command = o.Command
	}
	nonce, _, err := s.notices.begin(n, pushTTL)
	if err != nil {
		s.logger.Warn("a notice cannot be answered", "err", err)
		return offer{}
	}
	o.Nonce = nonce
	return o
}

// request returns an open request for permission, or nil if it does not exist.
func (s *Server) request(ctx context.Context, id, request string) *event.PermissionRequest {
	open, err := session.Of[session.Requests](s.sessions).List(ctx, api.PermissionListParams{SessionID: id})
	if err != nil {
		return nil // the notice leads to the session
	}
	for _, p := range open.Prompts {
		if p.Prompt.RequestID() == request {
			return p.Prompt.Permission
		}
	}
	return nil
}

// wholeCommand returns the command of a request if allowing the request allows only this command,
// and the command fits into a notice: one short line of visible characters. It returns "" if the
// request contains anything unknown.
func wholeCommand(p *event.PermissionRequest) (string, bool) {
	if p.ToolName != "Bash" || p.DefaultToNo || p.BlockedPath != "" || p.Content != "" || p.Locations != "" || p.Profile != "" || p.Request != "" {
		return "", false
	}
	var input map[string]any
	if json.Unmarshal([]byte(p.Input), &input) != nil {
		return "", false
	}
	command, ok := input["command"].(string)
	for name := range input {
		switch name {
		case "command", "description", "timeout":
		default:
			return "", false
		}
	}
	if !ok || command == "" || !utf8.ValidString(command) || utf8.RuneCountInString(command) > maxNoticeCommand {
		return "", false
	}
	for _, r := range command {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) {
			return "", false
		}
	}
	return command, command[0] != ' ' && command[len(command)-1] != ' '
}

// pushAnswer answers the request of a notice. The nonce expires with the first attempt, even if that
// fails.
func pushAnswer(s *Server, ctx context.Context, c *caller, p api.PushAnswerParams) (api.RespondResult, error) {
	n, ok := s.notices.take(p.Nonce)
	if !ok || n.Account != c.account {
		return api.RespondResult{}, session.Conflict("the notice was answered, or has expired")
	}
	if p.Behavior != event.ResolvedDeny && !(p.Behavior == event.ResolvedAllow && n.Allow) {
		return api.RespondResult{}, session.Invalid("this notice does not offer %.20q", p.Behavior)
	}
	if p.Behavior == event.ResolvedAllow && !s.stillAsks(ctx, n) {
		return api.RespondResult{}, session.Conflict("the request has changed or was withdrawn; open the session")
	}
	return session.Of[session.Requests](s.sessions).PermissionRespond(ctx, api.PermissionRespondParams{SessionID: n.Session, RequestID: n.Request, Behavior: p.Behavior}, c.by())
}

// stillAsks reports whether the request is still for the command in its notice, because an agent
// can change an open request.
func (s *Server) stillAsks(ctx context.Context, n notice) bool {
	p := s.request(ctx, n.Session, n.Request)
	if p == nil {
		return false
	}
	command, ok := wholeCommand(p)
	return ok && command == n.Command
}

// pushGet returns the subscription of the caller's browser.
func pushGet(s *Server, _ context.Context, c *caller, p api.PushUnsubscribeParams) (api.PushState, error) {
	k, ok := s.webhooks.subscription(c.account, p.Endpoint)
	if !ok {
		return api.PushState{}, nil
	}
	return api.PushState{Subscribed: true, Events: k.Events, Allow: k.Push.Allow}, nil
}
