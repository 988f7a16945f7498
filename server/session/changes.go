package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// snapshotTimeout bounds the look at the files of a session before and after a turn.
const snapshotTimeout = 30 * time.Second

// maxMarks is how many turns of a session can be compared. The oldest are forgotten first.
const maxMarks = 500

// mark is a turn with the state of the files before and after it, as trees of git.
type mark struct {
	Turn  string `json:"turn"`
	Start string `json:"start"`
	End   string `json:"end,omitempty"` // empty while it runs, or where the server died
}

// applyMark folds a mark. The first one is where the session began.
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

// scope returns the two states that a caller wants compared; an empty to is now. It reports
// false where nothing can have changed yet.
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
	if m.End == "" && i+1 < len(c.Marks) { // the server died in it
		m.End = c.Marks[i+1].Start
	}
	return m.Start, m.End, true, nil
}

// changes follows the files of a session from turn to turn. It belongs to the loop.
type changes struct {
	*journal
	turn   string        // the one that was begun last
	last   chan struct{} // closed when the last look at them has ended; nil before the first
	failed bool          // a notice was given that they cannot be looked at
}

// afterLooks runs f in a goroutine when all that were given before it have ended. So the end
// of a turn is looked at before the next one begins. The channel is closed after f.
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

// looked waits until what was to be looked at so far is in the log.
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

// look returns the state of the files of the session; nil without an error where there is
// no git.
func (c *changes) look(ctx context.Context, dir string) (*workspace.Tree, *workspace.State, error) {
	tree, err := c.srv.opts.Workspaces.Tree(ctx, dir, c.id)
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

// beginTurn looks at the files before a turn. The channel is closed when what they are is in
// the log, or cannot be.
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

// endTurn looks at the files after a turn, and at remarks that were sent: those whose lines
// the agent has changed are resolved.
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

// lookFailed says once that the changes of the session cannot be shown.
func (c *changes) lookFailed(err error) error {
	c.logger.Warn("the files of the session cannot be looked at", "err", err)
	if c.failed {
		return nil
	}
	c.failed = true
	return c.commit(draft{event: &event.Notice{Header: c.core.header(""), Severity: event.NoticeWarning, Code: "changes_unknown",
		Text: "What this turn changes cannot be shown: git could not look at the files."}})
}

// workspaceDraft says that something has changed in the files of the session.
func (c *core) workspaceDraft(ev api.WorkspaceEvent, f *facts) draft {
	return draft{event: &event.SessionInfo{Header: c.header(""), Data: event.Encoded(map[string]any{"workspace": ev})}, facts: f}
}
