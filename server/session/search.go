package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// The limits of one call of session.search.
const (
	maxSearched   = 50  // sessions
	excerptBefore = 40  // bytes before the match
	excerptAll    = 160 // bytes
)

// Search searches the messages of sessions for a text, including running turns. A call searches some of the sessions, in the order of
// their ids; the cursor leads to the next ones.
func (s Details) Search(ctx context.Context, p api.SessionSearchParams) (api.SessionSearchResult, error) {
	query := strings.ToLower(strings.TrimSpace(p.Query))
	if query == "" {
		return api.SessionSearchResult{}, Invalid("the query is empty")
	}
	all := slices.DeleteFunc(s.All(ctx), func(e Info) bool { return e.SessionID <= p.Cursor })
	slices.SortFunc(all, func(a, b Info) int { return cmp.Compare(a.SessionID, b.SessionID) })
	result := api.SessionSearchResult{Hits: []api.SessionHit{}}
	if len(all) > maxSearched {
		all = all[:maxSearched]
		result.Cursor = all[maxSearched-1].SessionID
	}
	for _, e := range all {
		hit := api.SessionHit{SessionID: e.SessionID}
		err := s.look(ctx, e, func(a *actor) { findText(&a.conv, query, &hit) })
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		if err == nil && hit.Matches > 0 { // a deleted or unreadable session has no matches
			result.Hits = append(result.Hits, hit)
		}
	}
	return result, nil
}

// look calls f with a session. It unloads the session again if it was not in memory, because a search reads all
// sessions.
func (s Details) look(ctx context.Context, e Info, f func(a *actor)) error {
	a, release, err := s.watched(ctx, e.SessionID)
	if err != nil {
		return err
	}
	err = a.call(ctx, func() error { f(a); return nil })
	release()
	if !e.Loaded {
		_ = a.call(ctx, func() error { a.unload(); return nil }) // fails only if the actor has ended
	}
	return err
}

// findText counts the messages that contain a text in lower case, and records the last one.
func findText(conv *event.Conversation, query string, hit *api.SessionHit) {
	for _, thread := range conv.Threads {
		for _, item := range thread.Items {
			if item.Message == nil || item.Message.User != nil && item.Message.User.IsMeta {
				continue
			}
			for _, block := range item.Message.Blocks {
				if block.Type != "text" {
					continue
				}
				if excerpt, ok := around(block.Text.String(), query); ok {
					hit.Matches++
					hit.Message, hit.Excerpt = messageName(item.Message, block), excerpt
				}
			}
		}
	}
}

// messageName returns the name of a block in links to a message.
func messageName(m *event.Message, b *event.Block) string {
	switch {
	case m.ID == "":
		return m.UUID
	case m.Restart == 0:
		return fmt.Sprintf("%s/%d", m.ID, b.Index)
	}
	return fmt.Sprintf("%s#%d/%d", m.ID, m.Restart, b.Index)
}

// around returns the text around the first match of the query in one line.
func around(text, query string) (string, bool) {
	lower := strings.ToLower(text)
	at := strings.Index(lower, query)
	if at < 0 {
		return "", false
	}
	if len(lower) != len(text) {
		text = lower // changing the case can change the length
	}
	from := max(0, at-excerptBefore)
	to := min(len(text), max(from+excerptAll, at+len(query)))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	excerpt := strings.Join(strings.Fields(text[from:to]), " ")
	if from > 0 {
		excerpt = "…" + excerpt
	}
	if to < len(text) {
		excerpt += "…"
	}
	return excerpt, true
}
