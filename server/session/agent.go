package session

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// start starts the agent, unless it is running or being started. It resumes the session if the agent knows it. The
// trace belongs to the request that needs the agent.
func (a *actor) start(traceparent string) {
	if a.agent != nil || a.starting || a.draining || a.away {
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
	opts.Env = withTrace(opts.Env, a.trace.ToText(ctx))
	a.terminal.unfollow()
	a.srv.wg.Go(func() {
		defer cancel()
		if gone {
			if err := a.terminal.catchUp(ctx); err != nil {
				a.logger.Warn("the output of a terminal was not read", "err", err)
			}
		}
		session, admitted, err := a.open(ctx, resume, spoken, opts)
		EndSpan(span, err)
		rest := a.keptOf(ctx, resume, true) // not before open, which may fetch the file
		if !a.post(func() { a.started(session, admitted, rest, err) }) && session != nil {
			_ = session.Close() // the actor has ended meanwhile
			admitted.end()
		}
	})
}

// started attaches a started agent to the session. The rest is what the agent's file has kept of it.
func (a *actor) started(session agent.Session, admitted *access, rest *fileSize, err error) {
	a.starting, a.cancelStart = false, nil
	if err == nil && (a.draining || a.core.State != Starting) {
		_ = session.Close() // disconnected meanwhile
		admitted.end()
		a.spawner.abandon()
		err = Fail(api.NotConnected, "the session was disconnected")
	} else if err != nil {
		if a.core.State == Starting {
			a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "the agent was not started: " + FailureOf(err).Message}})
			a.draft(a.core.hold()...) // otherwise it would be retried forever
			a.occur(onFailed)
			if e, ok := errors.AsType[*forgottenError](err); ok {
				a.forgotten(e.restorable)
			}
		}
		a.logger.Warn("the agent was not started", "err", err)
	} else {
		r := &running{session: session, access: admitted}
		if a.spawner != nil && a.spawner.process != nil {
			r.process, r.forget = a.spawner.process, a.spawner.process.Forget
		}
		a.takeAgent(r)
		a.draft(a.startedDraft(session.ID()))
		a.remembers()
		a.sayShortened(rest)
	}
	_ = a.write() // kept and retried by tick
	a.answerWaiters(err)
	a.sendNext()
}

// startedDraft records the start of the agent, with its id. A fork is made only once.
func (a *actor) startedDraft(id string) draft {
	d := a.core.stateDraft(Idle)
	d.facts.AgentID = id
	if p := a.agent.process; p != nil {
		d.facts.Host, d.facts.HostIn, d.facts.Box = new(p.Agent().Number), a.spawner.key, a.box()
	} else if a.core.Host != 0 {
		d.facts.Host = new(uint32(0))
	}
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

// agentOptions returns the options of the agent: those of the session, and later changes.
func (a *actor) agentOptions() agent.Options {
	o, p := a.core.Opened, a.params()
	bypass := p.AllowDangerouslySkipPermissions || p.DangerouslySkipPermissions || a.core.Mode == "bypassPermissions"
	opts := agent.Options{
		Dir: o.Dir, AdditionalDirectories: p.AdditionalDirectories, Env: a.env, Model: a.core.Model, FallbackModel: p.FallbackModel,
		Mode: a.core.Mode, AllowBypass: bypass && a.mayBypass(),
		Thinking: p.MaxThinkingTokens, SystemPrompt: p.SystemPrompt, AppendSystemPrompt: p.AppendSystemPrompt, AllowedTools: p.AllowedTools,
		DisallowedTools: p.DisallowedTools, SettingSources: p.SettingSources, MaxTurns: p.MaxTurns, MaxBudgetUSD: p.MaxBudgetUSD,
		Partial: p.IncludePartialMessages == nil || *p.IncludePartialMessages, MCPServers: rawJSON(p.MCPServers), Agents: rawJSON(p.Agents),
		Sandbox: p.Sandbox, Metadata: p.Metadata, Fork: p.ForkSession, Effort: a.core.Effort,
	}
	opts.ModeUnchosen = a.core.modeUnchosen()
	if a.core.Thinking != nil {
		opts.Thinking = a.core.Thinking.Tokens
	}
	opts.MaxBudgetUSD, a.spending.handed = a.spending.agentBudget(p.MaxBudgetUSD)
	opts.OnUsed = a.spending.tally.add
	if opts.Mode == "bypassPermissions" && !a.mayBypass() {
		opts.Mode = "default" // the server was restarted without it
	}
	return opts
}

// box describes the box of the session; nil means no box.
func (a *actor) box() *api.Box {
	if a.srv.opts.Box == nil || a.provider == nil || a.machine() != "" {
		return nil
	}
	o := &a.core.Opened
	return a.srv.opts.Box(a.provider, o.Params.Sandbox, o.Secret || o.Params.MCPServers != "" || o.Params.Agents != "", a.env)
}

// mayBypass reports whether the session may disable permission checks.
func (a *actor) mayBypass() bool {
	return a.srv.opts.AllowBypass || a.box().Sealed()
}

// checkBypass returns an error if the session may not disable permission checks.
func (a *actor) checkBypass() error {
	if !a.mayBypass() {
		return Fail(api.AuthFailed, "the server was not started with bypassPermissions allowed")
	}
	return nil
}

// modeUnchosen reports whether no one has chosen the permission mode, at the creation of the
// session or since.
func (c *core) modeUnchosen() bool {
	return c.Opened.Unchosen && c.Mode == c.Opened.Params.PermissionMode
}

// agentEnded handles the end of the agent's events.
func (a *actor) agentEnded(err error) {
	r := a.agent
	a.agent = nil
	a.caughtUp()
	defer close(r.ended)
	a.noteKept()
	a.mirror()
	defer a.trace.ended("agent_ended") // after a result there is no turn to end
	for _, ev := range a.stream.cut() {
		a.draft(draft{event: ev})
	}
	a.draft(a.core.orphaned(r.left)...)
	if a.owner != nil && a.core.Host != 0 {
		a.carrying().Host = new(uint32(0)) // any server can continue the session now
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
		a.draft(a.core.died(func(in input) agent.Delivery { return a.fateAt(r.left, in) })...)
		a.draft(a.core.hold()...)
	}
	a.changes.endTurn()
}

// stopped handles the requested end of an agent in any state of the session.
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

// lost ends an actor after another server has taken over its log.
func (a *actor) lost() {
	a.logger.Error("the session is lost", "err", errLost)
	a.batch = nil
	a.core.State = LostHost
	if a.owner != nil && a.agent != nil && a.agent.forget != nil {
		a.yield() // the agent runs on: the next owner adopts it
		return
	}
	a.stop(onLost)
	a.srv.updated(a.id, a.core.AgentID, a.summary())
	if a.owner != nil {
		a.surrender()
	}
}
