package session

import (
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Stall is the policy for a turn with a silent agent: the time of silence before each step, 0 to
// skip the step. Waiting for a person is not silence.
type Stall struct {
	Notify    time.Duration // a notice for the viewers
	Interrupt time.Duration // the turn is interrupted
	Kill      time.Duration // the agent is ended
	Resume    bool          // after Kill, the agent is restarted with the session
}

// stallStep is the last step taken for a silent turn.
type stallStep int

const (
	stallNone stallStep = iota
	stallNotified
	stallInterrupted
	stallKilled
)

// next returns the step to take after a time of silence, given the previous step.
func (s Stall) next(silent time.Duration, taken stallStep) stallStep {
	steps := []struct {
		after time.Duration
		step  stallStep
	}{{s.Kill, stallKilled}, {s.Interrupt, stallInterrupted}, {s.Notify, stallNotified}}
	for _, x := range steps {
		if x.after > 0 && silent >= x.after {
			if x.step > taken {
				return x.step
			}
			return taken
		}
	}
	return taken
}

// watchStall applies the policy for silent turns.
func (a *actor) watchStall(now time.Time) {
	if a.agent == nil || a.core.State != Running {
		return
	}
	silent := now.Sub(a.quiet)
	step := a.srv.opts.Stall.next(silent, a.stalled)
	if step == a.stalled {
		return
	}
	a.stalled = step
	text := map[stallStep]string{stallNotified: "The agent is silent", stallInterrupted: "The turn is interrupted: the agent is silent",
		stallKilled: "The agent is ended: it is silent"}[step]
	a.draft(draft{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeWarning, Code: "stalled",
		Text: fmt.Sprintf("%s for %v.", text, silent.Round(time.Second))}})
	_ = a.write() // kept and tried again by tick
	switch step {
	case stallInterrupted:
		a.interrupt(func(_ agent.Session, err error) {
			if err != nil {
				a.logger.Warn("a silent turn was not interrupted", "err", err)
			}
		})
	case stallKilled:
		ended := a.stop(onDied)
		if a.srv.opts.Stall.Resume {
			a.srv.wg.Go(func() {
				<-ended
				a.post(func() { a.start("") })
			})
		}
	}
}
