package codexagent

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
)

var _ agent.Forker = (*Session)(nil)

// admin runs f with a temporary server, because only the codex program may change its files.
func (p *Provider) admin(ctx context.Context, f func(c *codex.Client) error) error {
	c, err := codex.Connect(ctx, &p.Options)
	if err != nil {
		return translate(err)
	}
	return errors.Join(translate(f(c)), c.Close())
}

// Rename sets the name of a thread.
func (h history) Rename(ctx context.Context, id, title string) error {
	if _, err := h.read(ctx, id); err != nil {
		return err
	}
	return h.p.admin(ctx, func(c *codex.Client) error {
		return c.Call(ctx, "thread/name/set", map[string]string{"threadId": id, "name": title}, nil)
	})
}

// Delete archives a thread: Codex has no trash, and its deletions are permanent. It removes the copy for other machines.
func (h history) Delete(ctx context.Context, id string) error {
	_, err := h.read(ctx, id)
	if err == nil {
		err = h.p.admin(ctx, func(c *codex.Client) error { return c.ArchiveThread(ctx, id) })
	}
	if err == nil || errors.Is(err, agent.ErrNotFound) {
		err = errors.Join(err, h.p.deleteCopy(ctx, id)) // otherwise the thread would return
	}
	return err
}

// Tag returns agent.ErrUnsupported: threads have no tags.
func (h history) Tag(context.Context, string, string) error { return unsupported("tagging a thread") }

// Fork copies the thread up to and including the turn of a message, or all of it.
func (s *Session) Fork(ctx context.Context, at string) (id string, err error) {
	if err := s.kit.Alive(); err != nil {
		return "", err
	}
	turn, err := s.provider.turnOf(ctx, s.ID(), at)
	if err != nil {
		return "", err
	}
	err = s.provider.admin(ctx, func(c *codex.Client) error {
		t, err := c.ForkThread(ctx, s.ID(), turn, &codex.ThreadOptions{CWD: s.opts.Dir})
		if err == nil {
			id = t.ID()
		}
		return err
	})
	return id, err
}

// turnOf returns the turn of a message, because a thread can be cut only between turns. An empty
// message means the end.
func (p *Provider) turnOf(ctx context.Context, threadID, message string) (string, error) {
	if message == "" {
		return "", nil
	}
	c, err := history{p}.read(ctx, threadID)
	if err != nil {
		return "", err
	}
	if i := turnIndex(c.Turns, message); i >= 0 {
		return c.Turns[i].ID, nil
	}
	return "", fmt.Errorf("%w: message %s", agent.ErrNotFound, message)
}

// turnIndex returns the index of the turn that has the id, or a message with the id; -1 if no turn matches.
func turnIndex(turns []item.Turn, key string) int {
	for n, t := range turns {
		if t.ID == key {
			return n
		}
		for _, i := range t.Items {
			if u, ok := i.(*item.UserMessage); i.Head().ID == key || ok && u.ClientID == key {
				return n
			}
		}
	}
	return -1
}
