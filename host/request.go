package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// request answers a request. The caller must prevent a change of the owner during the call.
func (c *conn) request(q request) {
	if c.guest && q.Op != opList && q.Op != opStop {
		c.answer(answer{ID: q.ID, Failure: failureOf(fmt.Errorf("%w: a guest has no agents", ErrFenced))})
		return
	}
	switch q.Op {
	case opSpawn:
		go c.spawn(q) // a start takes milliseconds and must not delay other agents
		return
	case opList:
		go func() { c.answer(answer{ID: q.ID, Agents: c.h.list()}) }()
		return
	case opStop:
		go c.stop(q)
		return
	}
	c.requestAgent(q)
}

// requestAgent answers a request about an agent.
func (c *conn) requestAgent(q request) {
	r := answer{ID: q.ID}
	a, err := c.h.agent(q.Agent)
	switch {
	case err != nil:
	case q.Op == opAttach:
		if err = a.attach(c, q); err == nil {
			return // it was answered already
		}
	case q.Op == opForget:
		go c.forget(a, q) // the last record may still be written
		return
	default:
		err = c.requestOf(a, q, &r)
	}
	r.Failure = failureOf(err)
	c.answer(r)
}

// requestOf executes a request about an agent.
func (c *conn) requestOf(a *agent, q request, r *answer) error {
	switch q.Op {
	case opCheckpoint:
		return a.checkpoint(q.Number, q.State)
	case opInput:
		info := a.inputInfo(q.Input)
		r.Input = &info
		return nil
	case opSignal:
		return a.signal(q.Signal)
	case opCloseInput:
		return a.closeInput()
	case opOrphan:
		if q.Options == nil || len(q.Options.OrphanInput) > fragment {
			return fmt.Errorf("invalid options: they are missing, or their input is longer than %d bytes", fragment)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.setOrphan(*q.Options)
		return nil
	}
	return fmt.Errorf("unknown operation %q", q.Op)
}

// list describes the agents, in the order of their numbers.
func (h *server) list() []Agent {
	list := []Agent{}
	for _, a := range h.all() {
		a.mu.Lock()
		d := a.describe()
		a.mu.Unlock()
		if d.Exit == nil {
			d.Memory, _ = proc.TreeMemory(d.PID)
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Agent) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// stop ends the agents and the host.
func (c *conn) stop(q request) {
	c.h.log.Info("the host was told to stop")
	c.h.endAgents()
	c.answer(answer{ID: q.ID})
	c.h.close()
}

// spawn starts an agent and attaches it to the connection.
func (c *conn) spawn(q request) {
	a, err := c.h.spawn(context.Background(), q)
	if err == nil {
		err = c.adopt(a, q)
	}
	if err != nil {
		c.answer(answer{ID: q.ID, Failure: failureOf(err)})
	}
}

func (c *conn) forget(a *agent, q request) {
	c.answer(answer{ID: q.ID, Failure: failureOf(c.h.forget(a))})
}

// adopt attaches an agent that was started for this connection. If the connection no longer belongs
// to the owner, it ends the agent, because no owner knows it.
func (c *conn) adopt(a *agent, q request) error {
	c.h.owning.RLock()
	defer c.h.owning.RUnlock()
	if c.h.owner != c {
		go func() {
			_ = a.process.Kill()
			<-a.done
			_ = c.h.forget(a)
		}()
		return ErrFenced
	}
	return a.attach(c, q)
}
