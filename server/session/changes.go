package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

// snapshotTimeout bounds the snapshot of a session's files before and after a turn.
const snapshotTimeout = 30 * time.Second

// maxMarks is the number of turns of a session that can be compared. The oldest are dropped first.
const maxMarks = 500

// mark is a turn with the state of the files before and after it, as git trees.
type mark struct {
	Turn  string `json:"turn"`
	Start string `json:"start"`
	End   string `json:"end,omitempty"` // empty while it runs, or if the server died
}

// applyMark folds a mark into the core. The first mark of a session is its start.
func (c *core) applyMark(m mark) {
	if c.Began == "" {
		c.Began = m.Start
	}
	i := slices.IndexFunc(c.Marks, func(old mark) bool { return old.Turn == m.Turn })
	if i >= 0 {
		c.Marks[i] = m
		return
	}
	if len(c.Marks) >= maxMarks {
		c.Marks = slices.Delete(c.Marks, 0, 1)
	}
	c.Marks = append(c.Marks, m)
}

// scope returns the two states to compare; an empty to is the current one. It returns false if no
// change is possible yet.
func (c *core) scope(base string, s api.WorkspaceScope) (from, to string, ok bool, err error) {
	switch {
	case s.Turn != "" && s.Against != "":
		return "", "", false, Invalid("turn and against do not go together")
	case s.Against == "head":
		return "HEAD", "", true, nil
	case s.Against != "":
		return "", "", false, Invalid("against is %q, not head", s.Against)
	case s.Turn == "":
		if base == "" {
			base = c.Began
		}
		return base, "", base != "", nil
	}
	i := slices.IndexFunc(c.Marks, func(m mark) bool { return m.Turn == s.Turn })
	if i < 0 {
		return "", "", false, Invalid("what turn %q has changed is not known", s.Turn)
	}
	m := c.Marks[i]
	if m.End == "" && i+1 < len(c.Marks) { // the server died during it
		m.End = c.Marks[i+1].Start
	}
	return m.Start, m.End, true, nil
}

// changes tracks the files of a session from turn to turn. It belongs to the loop.
type changes struct {
	*journal
	turn   string        // the last started turn
	last   chan struct{} // closed when the last snapshot has ended; nil before the first
	failed bool          // a notice about failing snapshots was sent
}

// afterLooks runs f on a goroutine when all earlier ones have ended, so that the end of a turn is
// recorded before the next one starts. The channel is closed after f.
func (c *changes) afterLooks(f func(ctx context.Context)) <-chan struct{} {
	before, done := c.last, make(chan struct{})
	c.last = done
	c.srv.wg.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(c.ctx, snapshotTimeout)
		defer cancel()
		f(ctx)
	})
	return done
}

// looked waits until all requested snapshots are in the log.
func (c *changes) looked(ctx context.Context) error {
	var last chan struct{}
	if err := c.call(ctx, func() error { last = c.last; return nil }); err != nil || last == nil {
		return err
	}
	select {
	case <-last:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// look returns the state of the session's files; nil without an error if there is no git.
func (c *changes) look(ctx context.Context, dir string) (place.Tree, *workspace.State, error) {
	at, err := c.srv.Place(c.core.Opened.Params.Machine)
	if err != nil {
		return nil, nil, err
	}
	tree, err := at.Tree(ctx, dir, c.id)
	if errors.Is(err, workspace.ErrNoGit) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	state, err := tree.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	return tree, &state, nil
}

// beginTurn takes a snapshot before a turn. The channel is closed when it is in the log, or has
// failed.
func (c *changes) beginTurn(turn string) <-chan struct{} {
	dir := c.core.Opened.Dir
	c.turn = turn
	return c.afterLooks(func(ctx context.Context) {
		_, state, err := c.look(ctx, dir)
		if err == nil && state == nil {
			return
		}
		_ = c.call(ctx, func() error { // an actor that has ended needs no mark
			if err != nil {
				return c.lookFailed(err)
			}
			m := mark{Turn: turn, Start: state.Tree}
			return c.commit(c.core.workspaceDraft(api.WorkspaceEvent{Event: "turn_started", TurnID: turn}, &facts{Mark: &m}))
		})
	})
}

// endTurn takes a snapshot after a turn, and resolves sent comments on lines that the agent has
// changed.
func (c *changes) endTurn() {
	i := slices.IndexFunc(c.core.Marks, func(m mark) bool { return m.Turn == c.turn && m.End == "" })
	if i < 0 {
		return
	}
	m := c.core.Marks[i]
	dir, sent := c.core.Opened.Dir, c.core.sentComments()
	c.afterLooks(func(ctx context.Context) {
		tree, state, err := c.look(ctx, dir)
		if err == nil && state == nil {
			return
		}
		var resolved []string
		if err == nil {
			resolved, err = touched(ctx, tree, sent, state.Tree)
		}
		_ = c.call(ctx, func() error { // an actor that has ended does it after its next turn
			if err != nil {
				return c.lookFailed(err)
			}
			m.End = state.Tree
			drafts := []draft{c.core.workspaceDraft(api.WorkspaceEvent{Event: "turn_ended", TurnID: m.Turn, Changed: m.Start != m.End}, &facts{Mark: &m})}
			return c.commit(append(drafts, c.core.resolve(resolved, "agent")...)...)
		})
	})
}

// lookFailed reports once that the changes of the session cannot be shown.
func (c *changes) lookFailed(err error) error {
	c.logger.Warn("cannot read the files of the session", "err", err)
	if c.failed || FailureOf(err).Reason == api.NotConnected { // the session shows that its machine is unreachable
		return nil
	}
	c.failed = true
	return c.commit(draft{event: &event.Notice{Header: c.core.header(""), Severity: event.NoticeWarning, Code: "changes_unknown",
		Text: "What this turn changes cannot be shown: git could not look at the files."}})
}

// workspaceDraft reports a change in the files of the session.
func (c *core) workspaceDraft(ev api.WorkspaceEvent, f *facts) draft {
	return draft{event: &event.SessionInfo{Header: c.header(""), Data: event.Encoded(map[string]any{"workspace": ev})}, facts: f}
}
