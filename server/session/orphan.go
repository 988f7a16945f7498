package session

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
)

// leaveInput gives the host the input that interrupts the agent's turn at the orphan timeout. It
// may be called from any goroutine.
func (a *actor) leaveInput(ctx context.Context, r *running, h agent.Hosted) {
	r.orphanMu.Lock()
	defer r.orphanMu.Unlock()
	input := h.OrphanInput()
	if r.process == nil || bytes.Equal(input, r.orphan) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.srv.opts.CallTimeout)
	defer cancel()
	if err := r.process.SetOrphan(ctx, host.AgentOptions{OrphanTimeout: r.process.Agent().OrphanTimeout, OrphanInput: input}); err != nil {
		a.logger.Debug("the host has no input for an agent without a server", "err", err) // the host ends the agent in any case
		return
	}
	r.orphan = input
}

// renewInput calls leaveInput in the background if the input has changed and no call is under way.
func (a *actor) renewInput(r *running, h agent.Hosted) {
	input := h.OrphanInput()
	if r.process == nil || !r.orphanMu.TryLock() {
		return
	}
	changed := !bytes.Equal(input, r.orphan)
	r.orphanMu.Unlock()
	if changed {
		a.srv.wg.Go(func() { a.leaveInput(a.ctx, r, h) })
	}
}

// orphaned returns a notice if the host ended the agent at its orphan timeout.
func (c *core) orphaned(l *leftAgent) (drafts []draft) {
	if l == nil || l.Exit == nil || !l.Exit.Orphaned {
		return nil
	}
	text := fmt.Sprintf("The agent was ended at %s, because no server had run for %v.", l.Exit.Time.UTC().Format(time.RFC3339), l.OrphanTimeout)
	return []draft{{event: &event.Notice{Header: c.header(""), Severity: event.NoticeWarning, Code: noticeOrphaned, Text: text}}}
}

// noticeOrphaned is the code of that notice.
const noticeOrphaned = "agent_orphaned"
