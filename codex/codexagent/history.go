package codexagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
)

// History returns the threads on disk. Reading them needs no server; renaming and deleting, which
// archives, start a temporary server.
func (p *Provider) History() agent.History { return history{p} }

type history struct{ p *Provider }

func (h history) dir() (*rollout.Dir, error) {
	home, err := h.p.home()
	if err != nil {
		return nil, err
	}
	return rollout.Open(home), nil
}

func info(s *rollout.Session) agent.HistoryInfo {
	return agent.HistoryInfo{
		ID: s.ThreadID, Summary: s.Preview, CustomTitle: s.Name, FirstPrompt: s.Preview, Dir: s.CWD, GitBranch: s.GitBranch, FileSize: s.Size,
		Created: s.CreatedAt, Modified: s.ModifiedAt, Archived: s.Archived,
	}
}

func (h history) List(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	dir, err := h.dir()
	if err != nil {
		return nil, "", err
	}
	sessions, _, err := dir.List(ctx)
	if err != nil {
		return nil, "", err
	}
	var all []agent.HistoryInfo
	for _, s := range sessions {
		if (q.Project == "" || q.Project == s.CWD) && strings.Contains(s.Preview+"\n"+s.Name, q.Query) {
			all = append(all, info(s))
		}
	}
	if q.Cursor != "" {
		i := slices.IndexFunc(all, func(i agent.HistoryInfo) bool { return i.ID == q.Cursor })
		if i < 0 {
			return nil, "", fmt.Errorf("%w: cursor %s", agent.ErrInvalid, q.Cursor)
		}
		all = all[i+1:]
	}
	if q.Limit > 0 && int64(len(all)) > q.Limit {
		all = all[:q.Limit]
		return all, all[len(all)-1].ID, nil
	}
	return all, "", nil
}

func (h history) read(ctx context.Context, id string) (*rollout.Conversation, error) {
	dir, err := h.dir()
	if err != nil {
		return nil, err
	}
	c, err := dir.Read(ctx, id)
	switch {
	case errors.Is(err, rollout.ErrNoSession):
		return nil, fmt.Errorf("%w: %w", agent.ErrNotFound, err)
	case errors.Is(err, rollout.ErrMissingBase):
		return c, nil // the readable part
	}
	return c, err
}

func (h history) Metadata(ctx context.Context, id string) (agent.HistoryMetadata, error) {
	c, err := h.read(ctx, id)
	if err != nil {
		return agent.HistoryMetadata{}, err
	}
	m := agent.HistoryMetadata{HistoryInfo: info(c.Session), Branches: 1}
	for _, turn := range c.Turns {
		m.Messages += int64(len(turn.Items))
	}
	return m, nil
}

// Load pages by turns: Before and After are the ids of turns or of their messages, and Limit counts
// messages, rounded up to whole turns.
func (h history) Load(ctx context.Context, id string, page agent.HistoryPage) (agent.HistoryEvents, error) {
	c, err := h.read(ctx, id)
	if err != nil {
		return agent.HistoryEvents{}, err
	}
	turns := c.Turns
	start, end := 0, len(turns)
	if page.Before != "" {
		if end = turnIndex(turns, page.Before); end < 0 {
			return agent.HistoryEvents{}, fmt.Errorf("%w: message %s", agent.ErrNotFound, page.Before)
		}
	}
	if page.After != "" {
		if start = turnIndex(turns, page.After) + 1; start == 0 {
			return agent.HistoryEvents{}, fmt.Errorf("%w: message %s", agent.ErrNotFound, page.After)
		}
	}
	start, end = limit(turns, start, end, page)
	conv := &codexevent.Converter{ThreadID: id}
	events := conv.Turns(id, turns[start:end])
	return agent.HistoryEvents{HasMore: start > 0, Events: func(yield func(event.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}}, nil
}

// limit selects turns until they have enough messages, from the end, or from the start for a page
// after a message.
func limit(turns []item.Turn, start, end int, page agent.HistoryPage) (int, int) {
	if page.Limit <= 0 || start >= end {
		return start, max(start, end)
	}
	n := int64(0)
	if page.After != "" {
		for i := start; i < end; i++ {
			if n += int64(len(turns[i].Items)); n >= page.Limit {
				return start, i + 1
			}
		}
		return start, end
	}
	for i := end - 1; i >= start; i-- {
		if n += int64(len(turns[i].Items)); n >= page.Limit {
			return i, end
		}
	}
	return start, end
}

func unsupported(what string) error { return fmt.Errorf("%w: %s", agent.ErrUnsupported, what) }

// Usage adds up the tokens of past requests by day, model or project. The files have no cost.
func (p *Provider) Usage(ctx context.Context, q agent.UsageQuery) ([]agent.Usage, error) {
	if q.GroupBy == "block" {
		return nil, nil // its limits have no blocks
	}
	home, err := p.home()
	if err != nil {
		return nil, err
	}
	groups := map[string]*agent.Usage{}
	for r, err := range rollout.Open(home).Usage(ctx) {
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // the file is not a rollout
		}
		if q.Project != "" && r.CWD != q.Project || !q.Since.IsZero() && r.Time.Before(q.Since) || !q.Until.IsZero() && r.Time.After(q.Until) {
			continue
		}
		key := map[string]string{"model": r.Model, "project": r.CWD}[q.GroupBy]
		if q.GroupBy == "" || q.GroupBy == "day" {
			key = r.Time.Format(time.DateOnly)
		}
		u := groups[key]
		if u == nil {
			u = &agent.Usage{Group: key}
			groups[key] = u
		}
		u.InputTokens += r.Tokens.InputTokens - r.Tokens.CachedInputTokens
		u.CacheReadInputTokens += r.Tokens.CachedInputTokens
		u.CacheCreationInputTokens += r.Tokens.CacheWriteInputTokens
		u.OutputTokens += r.Tokens.OutputTokens
	}
	var list []agent.Usage
	for _, u := range slices.SortedFunc(maps.Values(groups), func(a, b *agent.Usage) int { return cmp.Compare(a.Group, b.Group) }) {
		list = append(list, *u)
	}
	return list, nil
}
