package codexagent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/event/prose"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
)

// Search searches the text and the tools of all threads, ignoring case. The cursor is the number of
// hits before the page. The default limit of a page is 100 hits.
func (h history) Search(ctx context.Context, q agent.HistoryQuery) (hits []agent.HistoryHit, cursor string, err error) {
	skip, err := strconv.Atoi(q.Cursor)
	switch {
	case q.Query == "":
		return nil, "", fmt.Errorf("%w: the search text is empty", agent.ErrInvalid)
	case q.Cursor != "" && (err != nil || skip < 0):
		return nil, "", fmt.Errorf("%w: cursor %q", agent.ErrInvalid, q.Cursor)
	}
	limit := int(q.Limit)
	if limit <= 0 {
		limit = 100
	}
	dir, err := h.dir()
	if err != nil {
		return nil, "", err
	}
	at := 0
	for s, err := range dir.Containing(ctx, q.Query) {
		if err != nil {
			if ctx.Err() != nil {
				return nil, "", err
			}
			continue // the file is not a rollout
		}
		if q.Project != "" && q.Project != s.CWD {
			continue
		}
		found, err := h.searchThread(ctx, s.ThreadID, q.Query)
		if err != nil {
			return nil, "", err
		}
		for _, hit := range found {
			if at++; at <= skip {
				continue
			}
			if len(hits) == limit {
				return hits, strconv.Itoa(skip + limit), nil
			}
			hits = append(hits, hit)
		}
	}
	return hits, "", nil
}

// searchThread returns the matches in one thread.
func (h history) searchThread(ctx context.Context, id, text string) (hits []agent.HistoryHit, err error) {
	c, err := h.fold(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, e := range prose.Entries(c) {
		for _, in := range []string{e.Text, e.Output} {
			if excerpt, ok := find(in, text); ok {
				hits = append(hits, agent.HistoryHit{ID: id, UUID: e.ID, Excerpt: excerpt})
				break
			}
		}
	}
	return hits, nil
}

// around is the number of bytes before and after a match in an excerpt.
const around = 80

// find returns an excerpt around a text, ignoring case.
func find(in, text string) (string, bool) {
	i := strings.Index(strings.ToLower(in), strings.ToLower(text))
	if i < 0 {
		return "", false
	}
	// Lower case can have another length; then the excerpt is slightly off.
	from, to := max(0, min(i, len(in))-around), min(len(in), i+len(text)+around)
	return strings.ToValidUTF8(strings.Join(strings.Fields(in[from:to]), " "), ""), true
}

// fold reads a thread and folds it.
func (h history) fold(ctx context.Context, id string) (*event.Conversation, error) {
	c, err := h.read(ctx, id)
	if err != nil {
		return nil, err
	}
	conv := &codexevent.Converter{ThreadID: id}
	out := &event.Conversation{Provider: codexevent.Provider, SessionID: id, CWD: c.CWD, Title: c.Name}
	for _, ev := range conv.Turns(id, c.Turns) {
		out.Apply(ev)
	}
	return out, nil
}

// Export renders a thread as markdown, or as json with the items of package codex/item. It does not
// support html.
func (h history) Export(ctx context.Context, id, format string) (agent.HistoryExport, error) {
	switch format {
	case "markdown":
		c, err := h.fold(ctx, id)
		if err != nil {
			return agent.HistoryExport{}, err
		}
		title := cmp.Or(c.Title, "Codex session "+id)
		text := "# " + strings.Join(strings.Fields(title), " ") + "\n\n" + prose.Markdown(c, prose.Options{})
		return agent.HistoryExport{Name: id + ".md", MediaType: "text/markdown", Text: text}, nil
	case "json":
		c, err := h.read(ctx, id)
		if err != nil {
			return agent.HistoryExport{}, err
		}
		text, err := json.MarshalIndent(map[string]any{
			"provider": codexevent.Provider, "sessionId": id, "cwd": c.CWD, "name": c.Name, "model": c.Model, "turns": append([]item.Turn{}, c.Turns...), "skippedLines": c.Skipped,
		}, "", "  ")
		return agent.HistoryExport{Name: id + ".json", MediaType: "application/json", Text: string(text) + "\n"}, err
	case "html":
		return agent.HistoryExport{}, unsupported("exporting a thread as html")
	}
	return agent.HistoryExport{}, fmt.Errorf("%w: the format %q", agent.ErrInvalid, format)
}
