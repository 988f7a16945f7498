package session

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/budget"
)

// sendNext sends the next input if the session can take one, and starts the agent for it.
func (a *actor) sendNext() {
	if a.sending || a.core.State.busy() || len(a.core.inflight()) > 0 {
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
		a.spending.release()
		a.spending.watchBudgets()
		a.draft(a.core.hold()...) // or it would be tried for ever
		_ = a.write()             // kept and tried again by tick
	case a.agent != nil && a.agent.reason == "" && a.spending.budgetChanged() && a.evictable():
		a.stop(onEvict) // it is started again with the limits of now
	case a.agent == nil:
		a.start(in.Trace)
	case a.agent.reason == "": // one that is being ended is waited for
		a.sendInput(in)
	}
}

// sendInput hands an input to the agent. It is in the log before the agent has it. One that cannot be
// written stays in the queue, and tick tries again.
func (a *actor) sendInput(in input) {
	joins := a.core.State.busy() // it becomes a part of the turn that runs
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
	a.sending = true
	a.active()
	session, traced := a.agent.session, a.trace.within(a.ctx)
	var looked <-chan struct{}
	if !joins {
		looked = a.changes.beginTurn(in.ID)
	}
	a.srv.wg.Go(func() {
		if looked != nil {
			<-looked // it ends with its own bound
		}
		ctx, cancel := context.WithTimeout(traced, a.srv.opts.CallTimeout)
		defer cancel()
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

// sendFailed says that an input did not reach the agent. It waits for a person then; where
// the agent has ended, its end sorts the input.
func (a *actor) sendFailed(id string, err error) {
	a.logger.Warn("an input was not sent", "input", id, "err", err)
	in, ok := a.core.input(id)
	if !ok || in.Status != inputSent || errors.Is(err, agent.ErrClosed) {
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
	_ = a.write() // kept and tried again by tick
}
