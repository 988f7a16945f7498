package agenttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

// History returns the sessions with files in Dir. Without Dir it is empty.
func (p *Provider) History() agent.History { return history{p} }

type history struct{ p *Provider }

func (h history) List(_ context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	if h.p.Dir == "" {
		return nil, "", nil
	}
	names, err := filepath.Glob(filepath.Join(h.p.Dir, "*.jsonl"))
	if err != nil {
		return nil, "", err
	}
	var all []agent.HistoryInfo
	for _, name := range names {
		info, err := h.info(strings.TrimSuffix(filepath.Base(name), ".jsonl"))
		if err != nil {
			return nil, "", err
		}
		if q.Project != "" && q.Project != info.Dir || !strings.Contains(info.FirstPrompt, q.Query) {
			continue
		}
		all = append(all, info.HistoryInfo)
	}
	slices.SortFunc(all, func(a, b agent.HistoryInfo) int { return b.Modified.Compare(a.Modified) })
	return page(all, q, func(i agent.HistoryInfo) string { return i.ID })
}

// page returns a page of a list. The cursor is the id of the last element of the previous page.
func page[T any](all []T, q agent.HistoryQuery, id func(T) string) ([]T, string, error) {
	if q.Cursor != "" {
		i := slices.IndexFunc(all, func(v T) bool { return id(v) == q.Cursor })
		if i < 0 {
			return nil, "", fmt.Errorf("%w: cursor %s", agent.ErrInvalid, q.Cursor)
		}
		all = all[i+1:]
	}
	if q.Limit > 0 && int64(len(all)) > q.Limit {
		all = all[:q.Limit]
		return all, id(all[len(all)-1]), nil
	}
	return all, "", nil
}

func (h history) info(id string) (agent.HistoryMetadata, error) {
	lines, err := h.p.read(id)
	if err != nil {
		return agent.HistoryMetadata{}, err
	}
	m := agent.HistoryMetadata{HistoryInfo: agent.HistoryInfo{ID: id}, Branches: 1}
	for i, l := range lines {
		at, _ := time.Parse(time.RFC3339Nano, l.Time)
		if i == 0 {
			m.Created = at
		}
		m.Modified = at
		m.FileSize += int64(len(l.Text))
		switch l.Role {
		case "title":
			m.CustomTitle = l.Text
			continue
		case "tag":
			m.Tag = l.Text
			continue
		case "user":
			if m.FirstPrompt == "" {
				m.FirstPrompt, m.Summary = l.Text, l.Text
			}
			m.Dir = l.Dir
		}
		m.Messages++
	}
	return m, nil
}

func (h history) Metadata(_ context.Context, id string) (agent.HistoryMetadata, error) {
	return h.info(id)
}

func (h history) Load(_ context.Context, id string, pg agent.HistoryPage) (agent.HistoryEvents, error) {
	lines, err := h.p.read(id)
	if err != nil {
		return agent.HistoryEvents{}, err
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return l.Role != "user" && l.Role != "assistant" })
	at := func(uuid string) int { return slices.IndexFunc(lines, func(l line) bool { return l.UUID == uuid }) }
	start, end := 0, len(lines)
	if pg.Before != "" {
		if end = at(pg.Before); end < 0 {
			return agent.HistoryEvents{}, fmt.Errorf("%w: message %s", agent.ErrNotFound, pg.Before)
		}
	}
	if pg.After != "" {
		if start = at(pg.After) + 1; start == 0 {
			return agent.HistoryEvents{}, fmt.Errorf("%w: message %s", agent.ErrNotFound, pg.After)
		}
	}
	if n := int(pg.Limit); n > 0 && end-start > n {
		if pg.After != "" {
			end = start + n
		} else {
			start = end - n
		}
	}
	selected := lines[start:end]
	return agent.HistoryEvents{HasMore: start > 0, Events: func(yield func(event.Event, error) bool) {
		for _, l := range selected {
			if !yield(l.event(id), nil) {
				return
			}
		}
	}}, nil
}

// event converts a line to an event.
func (l line) event(session string) event.Event {
	h := event.Header{UUID: l.UUID, SessionID: session}
	if l.Role == "user" {
		return &event.UserMessage{Header: h, Blocks: []event.Content{textContent(l.Text)}, IsText: true, Timestamp: l.Time}
	}
	h.MessageID = "msg_" + l.UUID
	return &event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: textContent(l.Text)}}, Timestamp: l.Time}
}

func (h history) Rename(_ context.Context, id, title string) error { return h.note(id, "title", title) }

func (h history) Tag(_ context.Context, id, tag string) error { return h.note(id, "tag", tag) }

func (h history) note(id, role, text string) error {
	if _, err := h.p.read(id); err != nil {
		return err
	}
	return h.p.write(id, line{Role: role, UUID: random.UUID(), Text: text})
}

func (h history) Delete(_ context.Context, id string) error {
	if _, err := h.p.read(id); err != nil {
		return err
	}
	name, err := h.p.path(id)
	if err != nil {
		return err
	}
	return os.Remove(name)
}

func (h history) Search(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryHit, string, error) {
	sessions, _, err := h.List(ctx, agent.HistoryQuery{Project: q.Project})
	if err != nil {
		return nil, "", err
	}
	var hits []agent.HistoryHit
	for _, s := range sessions {
		lines, err := h.p.read(s.ID)
		if err != nil {
			return nil, "", err
		}
		for _, l := range lines {
			if q.Query != "" && strings.Contains(l.Text, q.Query) {
				hits = append(hits, agent.HistoryHit{ID: s.ID, UUID: l.UUID, Excerpt: l.Text})
			}
		}
	}
	return page(hits, q, func(hit agent.HistoryHit) string { return hit.UUID })
}

func (h history) Export(_ context.Context, id, format string) (agent.HistoryExport, error) {
	lines, err := h.p.read(id)
	if err != nil {
		return agent.HistoryExport{}, err
	}
	if format != "markdown" {
		return agent.HistoryExport{}, fmt.Errorf("%w: format %q", agent.ErrUnsupported, format)
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "**%s**\n\n%s\n\n", l.Role, l.Text)
	}
	return agent.HistoryExport{Name: id + ".md", MediaType: "text/markdown", Text: b.String()}, nil
}
