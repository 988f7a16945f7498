package codex

import (
	"context"
	"fmt"
)

// Compact replaces older parts of the conversation by a summary, in a separate turn. It returns
// when that turn has started, and returns [ErrBusy] if another turn is running.
func (t *Thread) Compact(ctx context.Context) (*Turn, error) {
	turn := t.newTurn(&Prompt{Compact: true})
	if err := t.reserve(ctx); err != nil {
		return nil, err
	}
	if err := t.compact(ctx, turn); err != nil {
		return nil, err
	}
	return turn, nil
}

// compact starts a compaction; the caller has set sending. The next turn that the server starts is this one.
func (t *Thread) compact(ctx context.Context, turn *Turn) error {
	t.client.update(func(r *routes) { r.threads[t.id].expected = turn })
	ctx, cancel := context.WithTimeout(ctx, t.client.opts.CallTimeout)
	defer cancel()
	err := t.client.Call(ctx, "thread/compact/start", turn.prompt.command(map[string]any{"threadId": t.id}), nil)
	if err == nil {
		select {
		case <-turn.started:
			return turn.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	t.unexpect(turn)
	turn.fail(err)
	t.pump()
	return err
}

// command adds the id of a prompt to the parameters of a request that has no member for it. The server ignores it; readers of
// the lines find the turn of the prompt by it.
func (p *Prompt) command(params map[string]any) map[string]any {
	return with(params, map[string]any{"clientUserMessageId": p.ClientID}, nil)
}

// unexpect releases the thread from a turn that the server has not started.
func (t *Thread) unexpect(turn *Turn) {
	t.client.update(func(r *routes) {
		if s := r.threads[t.id]; s.expected == turn {
			s.expected, s.sending = nil, false
		}
	})
}

// reserve keeps the thread free for a turn.
func (t *Thread) reserve(ctx context.Context) (err error) {
	if err := t.client.settled(ctx); err != nil {
		return err
	}
	t.client.update(func(r *routes) {
		s := r.threads[t.id]
		switch {
		case r.ended:
			err = r.endErr
		case s.active != nil || s.sending:
			err = fmt.Errorf("codex: a turn runs: %w", ErrBusy)
		default:
			s.sending = true
		}
	})
	return err
}

// ReviewTarget is the subject of a review. Type is uncommittedChanges, baseBranch (with Branch),
// commit (with SHA and optionally Title) or custom (with Instructions).
type ReviewTarget struct {
	Type         string `json:"type"`
	Branch       string `json:"branch,omitempty"`
	SHA          string `json:"sha,omitempty"`
	Title        string `json:"title,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// Review starts a review, which is a separate turn. Unlike Send it does not wait for a running
// turn, but returns [ErrBusy].
func (t *Thread) Review(ctx context.Context, target ReviewTarget) (*Turn, error) {
	turn := t.newTurn(&Prompt{})
	if err := t.reserve(ctx); err != nil {
		return nil, err
	}
	if err := t.review(ctx, turn, target); err != nil {
		return nil, err
	}
	return turn, nil
}

// review starts a review; the caller has set sending.
func (t *Thread) review(ctx context.Context, turn *Turn, target ReviewTarget) error {
	return t.begin(ctx, "review/start", turn.prompt.command(map[string]any{"threadId": t.id, "target": target}), turn)
}
