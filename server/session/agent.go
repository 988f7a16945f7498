package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// start starts the agent, unless it runs or is being started. The session resumes where
// the agent knows it. The trace is that of the request that needs it.
func (a *actor) start(traceparent string) {
	if a.agent != nil || a.starting || a.draining {
		return
	}
	a.occur(onStart)
	if a.write() != nil {
		return
	}
	a.starting = true
	ctx, cancel := context.WithCancel(a.ctx)
	a.cancelStart = cancel
	opts, resume, gone, spoken := a.agentOptions(), a.core.AgentID, a.core.InTerminal, a.core.spoken(&a.conv)
	if a.core.Memory.Fresh {
		resume = ""
	}
	ctx, span := a.trace.starting(ctx, traceparent)
	opts.Env = withTrace(opts.Env, a.trace.toText(ctx))
	a.terminal.unfollow()
	a.srv.wg.Go(func() {
		defer cancel()
		if gone {
			if err := a.terminal.catchUp(ctx); err != nil {
				a.logger.Warn("what a terminal wrote was not read", "err", err)
			}
		}
		session, release, err := a.open(ctx, resume, spoken, opts)
		EndSpan(span, err)
		if !a.post(func() { a.started(session, release, err) }) && session != nil {
			_ = session.Close() // the actor has ended meanwhile
			release()
		}
	})
}

// started takes over an agent that was started.
func (a *actor) started(session agent.Session, release func(), err error) {
	a.starting, a.cancelStart = false, nil
	if err == nil && (a.draining || a.core.State != Starting) {
		_ = session.Close() // disconnected meanwhile
		release()
		err = Fail(api.NotConnected, "the session was disconnected")
	} else if err != nil {
		if a.core.State == Starting {
			a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "the agent was not started: " + FailureOf(err).Message}})
			a.draft(a.core.hold()...) // or it would be tried for ever
			a.occur(onFailed)
			if e, ok := errors.AsType[*forgottenError](err); ok {
				a.forgotten(e.restorable)
			}
		}
		a.logger.Warn("the agent was not started", "err", err)
	} else {
		r := &running{session: session, events: make(chan pumped, pumpBuffer), release: release, close: sync.OnceValue(session.Close), ended: make(chan struct{})}
		a.agent = r
		a.capabilities = new(a.srv.Capabilities(a.provider, session))
		a.quiet = time.Now()
		a.srv.wg.Go(func() { a.pump(r) })
		a.draft(a.startedDraft(session.ID()))
		a.remembers()
	}
	_ = a.write() // kept and tried again by tick
	a.answerWaiters(err)
	a.sendNext()
}

// startedDraft says that the agent is there, with its id. A fork is done once.
func (a *actor) startedDraft(id string) draft {
	d := a.core.stateDraft(Idle)
	d.facts.AgentID = id
	if a.core.InTerminal {
		d.facts.InTerminal = new(false)
	}
	if p := a.core.Opened.Params; p.ForkSession {
		o := a.core.Opened
		o.Params.ForkSession = false
		d.facts.Opened = &o
	}
	return d
}

// agentOptions is what the agent is started with: what the session was made with, and what
// was changed since.
func (a *actor) agentOptions() agent.Options {
	o, p := a.core.Opened, a.params()
	opts := agent.Options{
		Dir: o.Dir, AdditionalDirectories: p.AdditionalDirectories, Env: a.env, Model: a.core.Model, FallbackModel: p.FallbackModel,
		Mode: a.core.Mode, AllowBypass: a.srv.opts.AllowBypass && (p.AllowDangerouslySkipPermissions || p.DangerouslySkipPermissions),
		Thinking: p.MaxThinkingTokens, SystemPrompt: p.SystemPrompt, AppendSystemPrompt: p.AppendSystemPrompt, AllowedTools: p.AllowedTools,
		DisallowedTools: p.DisallowedTools, SettingSources: p.SettingSources, MaxTurns: p.MaxTurns, MaxBudgetUSD: p.MaxBudgetUSD,
		Partial: p.IncludePartialMessages == nil || *p.IncludePartialMessages, MCPServers: rawJSON(p.MCPServers), Agents: rawJSON(p.Agents),
		Metadata: p.Metadata, Fork: p.ForkSession, Effort: a.core.Effort,
	}
	opts.ModeUnchosen = a.core.modeUnchosen()
	if a.core.Thinking != nil {
		opts.Thinking = a.core.Thinking.Tokens
	}
	opts.MaxBudgetUSD, a.spending.handed = a.spending.agentBudget(p.MaxBudgetUSD)
	opts.OnUsed = a.spending.tally.add
	if opts.Mode == "bypassPermissions" && !a.srv.opts.AllowBypass {
		opts.Mode = "default" // the server was started again without it
	}
	return opts
}

// modeUnchosen reports whether nobody has chosen the permission mode, when the session was made or
// since.
func (c *core) modeUnchosen() bool {
	return c.Opened.Unchosen && c.Mode == c.Opened.Params.PermissionMode
}

// agentEnded is called when the events of the agent have ended.
func (a *actor) agentEnded(err error) {
	r := a.agent
	a.agent = nil
	defer close(r.ended)
	defer a.trace.ended("agent_ended") // after a result there is no turn to end
	for _, ev := range a.stream.cut() {
		a.draft(draft{event: ev})
	}
	switch {
	case r.reason == onEvict && !a.core.State.busy():
		a.occur(onEvict)
	case r.reason != "" && r.reason != onEvict && r.reason != onDied:
		a.stopped(r.reason)
	default:
		if err != nil {
			a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "the agent ended: " + err.Error()}})
		}
		a.draft(a.core.died(a.fate)...)
		a.draft(a.core.hold()...)
	}
	a.changes.endTurn()
}

// stopped is the end of an agent that was asked for while the session was in any state.
func (a *actor) stopped(reason occurrence) {
	a.draft(a.core.closeRequests(event.ResolvedExpired)...)
	if reason == onDrain && len(a.core.inflight()) > 0 {
		a.draft(a.core.died(a.fate)...)
		return
	}
	f := &facts{}
	for _, in := range a.core.inflight() {
		f.Removed = append(f.Removed, in.ID)
	}
	if len(f.Removed) > 0 {
		a.draft(draft{queue: true, facts: f})
	}
	a.draft(a.core.hold()...)
	a.occur(reason)
}

// lost ends an actor whose log belongs to another server now.
func (a *actor) lost() {
	a.logger.Error("the session is lost", "err", errLost)
	a.batch = nil
	a.core.State = LostHost
	a.stop(onLost)
	a.srv.updated(a.id, a.core.AgentID, a.summary())
}
