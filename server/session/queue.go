package session

import (
	"context"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
)

// Queues are the calls about waiting inputs.
type Queues struct{ *Sessions }

// Query accepts an input. It is in the log before the response. After held inputs it is also held,
// unless its priority is now.
func (s *Sessions) Query(ctx context.Context, id, key string, content event.JSON, priority, by string) (api.Accepted, error) {
	return s.query(ctx, id, key, content, priority, by, priority == priorityNow)
}

func (s *Sessions) query(ctx context.Context, id, key string, content event.JSON, priority, by string, first bool) (api.Accepted, error) {
	if err := s.Working(); err != nil {
		return api.Accepted{}, err
	}
	if priority != "" && !slices.Contains([]string{priorityNow, "next", "later"}, priority) {
		return api.Accepted{}, Invalid("priority is %q, not now, next or later", priority)
	}
	var result api.Accepted
	err := s.with(ctx, id, func(a *actor) error {
		if k, ok := a.core.accepted(key); ok {
			result = api.Accepted{TurnID: k.TurnID, Seq: k.Seq}
			if in, ok := a.core.input(k.TurnID); ok {
				result.Held = in.Status == inputHeld
			}
			return nil
		}
		if err := a.owned(); err != nil {
			return err
		}
		if err := a.spending.overBudget(); err != nil {
			return err
		}
		in := input{ID: random.UUID(), Content: content, Priority: priority, Status: inputQueued, By: by, Trace: s.opts.Tracer.ToText(ctx)}
		var told []draft
		if !first && a.core.holding() {
			in.Status = inputHeld
			told = []draft{{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeInfo, Code: "prompt_held",
				Text: "The prompt waits: those before it in the queue are held. Release the queue, or remove them."}}}
		}
		d, err := a.core.enqueue(in, key)
		if err != nil {
			return err
		}
		if err := a.commit(append([]draft{d}, told...)...); err != nil {
			return err
		}
		result = api.Accepted{TurnID: in.ID, Seq: a.seq - uint64(len(told)), Held: in.Status == inputHeld}
		a.trace.accepted(in)
		a.sendNext()
		return nil
	})
	return result, err
}

// change changes the waiting inputs.
func (s Queues) change(ctx context.Context, id string, change func(*core) (draft, error)) (api.QueueListResult, error) {
	var result api.QueueListResult
	err := s.with(ctx, id, func(a *actor) error {
		if err := a.owned(); err != nil {
			return err
		}
		d, err := change(&a.core)
		if err != nil {
			return err
		}
		if err := a.commit(d); err != nil {
			return err
		}
		a.sendNext()
		result.Items = a.core.queueItems()
		return nil
	})
	return result, err
}

// SendNow sends an input before all others, also a held one or one of unknown fate, and also during
// a turn.
func (s Queues) SendNow(ctx context.Context, p api.QueueItemParams) (api.Accepted, error) {
	if err := s.Working(); err != nil {
		return api.Accepted{}, err
	}
	var result api.Accepted
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		if err := a.owned(); err != nil {
			return err
		}
		if err := a.spending.overBudget(); err != nil {
			return err
		}
		in, err := a.core.queued(p.ID)
		if err != nil {
			return err
		}
		in.Status = inputQueued
		if a.agent != nil && a.core.State.busy() {
			in.Priority = priorityNow
		}
		if err := a.commit(a.core.first(in)); err != nil {
			return err
		}
		result = api.Accepted{TurnID: in.ID, Seq: a.seq}
		a.sendNext()
		return nil
	})
	return result, err
}

// List returns the waiting inputs.
func (s Queues) List(ctx context.Context, p api.SessionRef) (api.QueueListResult, error) {
	var result api.QueueListResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		result.Items = a.core.queueItems()
		return nil
	})
	return result, err
}

// Edit changes a waiting input.
func (s Queues) Edit(ctx context.Context, p api.QueueEditParams) (api.QueueListResult, error) {
	return s.change(ctx, p.SessionID, func(c *core) (draft, error) { return c.editInput(p.ID, p.Content) })
}

// Remove drops a waiting input.
func (s Queues) Remove(ctx context.Context, p api.QueueItemParams) (api.QueueListResult, error) {
	return s.change(ctx, p.SessionID, func(c *core) (draft, error) { return c.removeInput(p.ID) })
}

// Reorder changes the order of the waiting inputs.
func (s Queues) Reorder(ctx context.Context, p api.QueueReorderParams) (api.QueueListResult, error) {
	return s.change(ctx, p.SessionID, func(c *core) (draft, error) { return c.reorder(p.IDs) })
}

// Release sends the held inputs.
func (s Queues) Release(ctx context.Context, p api.SessionRef) (api.QueueListResult, error) {
	if err := s.Working(); err != nil {
		return api.QueueListResult{}, err
	}
	return s.change(ctx, p.SessionID, func(c *core) (draft, error) { return c.release(), nil })
}
