package session

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/budget"
)

// sendNext sends the next input if the session can accept one, and starts the agent for it. During a turn it sends only an input
// that becomes part of the turn.
func (a *actor) sendNext() {
	if a.sending || a.away {
		return
	}
	if in, ok := a.core.urgent(); ok && a.agent != nil && a.agent.reason == "" && !a.draining && a.blocked == nil {
		a.sendInput(in)
		return
	}
	if a.core.State.busy() || len(a.core.inflight()) > 0 {
		return
	}
	in, ok := a.core.nextInput()
	if !ok || a.draining || a.blocked != nil || a.core.waitsForReset(a.srv.opts.Now()) {
		a.spending.release()
		return
	}
	switch verdict := a.spending.reserve(); {
	case verdict == budget.Wait: // the end of another turn calls this again
	case verdict == budget.Refuse:
		a.spending.watchBudgets()
		a.draft(a.core.hold()...) // otherwise it would be retried forever
		_ = a.write()             // kept and retried by tick
	case a.agent != nil && a.agent.reason == "" && a.spending.budgetChanged() && a.evictable():
		a.stop(onEvict) // it is restarted with the current limits
	case a.agent == nil:
		a.start(in.Trace)
	case a.agent.reason == "": // wait until the old agent has ended
		a.sendInput(in)
	}
}

// sendInput passes an input to the agent. It is in the log before the agent has it. An input that
// cannot be written stays in the queue, and tick retries.
func (a *actor) sendInput(in input) {
	joins := a.core.State.busy() // it becomes part of the running turn
	out, err := in.forAgent()
	if err == nil && a.core.Memory.Fresh {
		out = summarized(out, &a.conv)
	}
	state, impossible := a.core.occur(onSend)
	if impossible != nil {
		a.logger.Error("impossible transition", "err", impossible)
	}
	if a.commit(append(a.core.send(in), state...)...) != nil {
		a.unsent = true
		return
	}
	a.trace.sent(in, a.core.Provider, joins)
	if err != nil {
		a.sendFailed(in.ID, err)
		return
	}
	var looked <-chan struct{}
	if !joins {
		looked = a.changes.beginTurn(in.ID)
	}
	a.give(in, out, looked)
}

// handOver gives the agent an input that is stored as sent.
func (a *actor) handOver(in input, looked <-chan struct{}) {
	out, err := in.forAgent()
	if err != nil {
		a.sendFailed(in.ID, err)
		return
	}
	a.give(in, out, looked)
}

// give gives an input to the agent after looked is closed; looked may be nil.
func (a *actor) give(in input, out agent.Input, looked <-chan struct{}) {
	a.sending = true
	a.active()
	session, traced := a.agent.session, a.trace.within(a.ctx)
	a.srv.wg.Go(func() {
		if looked != nil {
			<-looked // it has its own timeout
		}
		ctx, cancel := context.WithTimeout(traced, a.srv.opts.CallTimeout)
		defer cancel()
		defer sparing.Hold(len(in.Content))()
		err := session.Send(ctx, out)
		a.post(func() {
			a.sending = false
			if err != nil {
				a.sendFailed(in.ID, err)
			}
			a.sendNext()
		})
	})
}

// sendFailed records that an input did not reach the agent. The input then waits for a person,
// unless the agent has ended: then the handling of that end decides.
func (a *actor) sendFailed(id string, err error) {
	a.logger.Warn("an input was not sent", "input", id, "err", err)
	in, ok := a.core.input(id)
	if !ok || in.Status != inputSent || a.left != nil || a.away || a.lostLink() || errors.Is(err, agent.ErrClosed) || errors.Is(err, host.ErrLinkLost) {
		return
	}
	in.Status = inputUnknown
	if errors.Is(err, agent.ErrInvalid) {
		in.Status = inputHeld
	}
	a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "an input was not sent: " + FailureOf(err).Message}},
		draft{queue: true, facts: &facts{Inputs: []input{in}}})
	if len(a.core.inflight()) == 0 {
		a.draft(a.core.result()...)
		a.trace.ended("not_sent")
	}
	_ = a.write() // kept and retried by tick
}
