package editor

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// deliveredWait limits the search for a prompt in the files of an agent that has died.
const deliveredWait = 30 * time.Second

// isWork reports whether an update shows that the agent is working on a prompt.
func isWork(u Update) bool {
	if u.Subagent != "" {
		return true
	}
	switch u.SessionUpdate.SessionUpdate {
	case acp.SessionUpdateIsAgentMessageChunk, acp.SessionUpdateIsAgentThoughtChunk, acp.SessionUpdateIsToolCall, acp.SessionUpdateIsToolCallUpdate, acp.SessionUpdateIsPlan:
		return true
	}
	return false
}

// orphaned handles a prompt whose agent has died. An agent stores a prompt shortly after it
// receives it. A prompt that is not in the files and had no visible effect is sent again, once. In
// every other case the client gets the outcome.
func (p *prompt) orphaned(cause error) {
	s := p.session
	lost := s.lacks(p.uuid)
	s.mu.Lock()
	held := p.held
	repeat := held == nil && lost && !p.shown && !p.repeated && !p.cancelled && !s.closed
	if repeat {
		p.sent, p.accepted, p.repeated = false, false, true
	}
	cancelled := p.cancelled
	s.mu.Unlock()
	switch {
	case repeat:
		s.srv.opts.Logger.Warn("acp: a prompt was lost with its agent and is sent again", "session", s.id, "err", cause)
		p.again <- struct{}{}
	case held != nil: // the turn had ended
		p.finish(*held)
	case cancelled:
		p.finish(outcome{reason: acp.StopReasonCancelled})
	default:
		p.finish(outcome{err: died(cause, lost)})
	}
}

// lacks reports whether the files of a dead agent record prompts but not this one.
func (s *session) lacks(uuid string) bool {
	witness, ok := s.srv.opts.Provider.(agent.Witness)
	if !ok {
		return false
	}
	s.mu.Lock()
	id := s.agentID
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.srv.ctx, deliveredWait)
	defer cancel()
	found, err := witness.Delivered(ctx, id, uuid)
	if err != nil {
		s.srv.opts.Logger.Warn("acp: a prompt may have been lost", "session", s.id, "err", err)
		return false
	}
	return found != agent.Delivered
}

// died returns the response to a prompt whose agent has died.
func died(cause error, lost bool) error {
	text := "the agent's process has ended"
	if cause != nil {
		text += ": " + cause.Error()
	}
	kind, next := "agent_exited", "The next prompt continues the session."
	if lost {
		kind, next = "prompt_lost", "The session does not have this prompt: send it again."
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "Internal error: " + text + ". " + next, Data: object1("errorKind", kind)}
}
