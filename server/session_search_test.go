package server

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// A text is found in every session that contains it, ignoring case, with an excerpt; the last page
// has no cursor.
func TestSessionSearch(t *testing.T) {
	h := newHarness(t)
	with := map[string]bool{}
	for i := range 53 { // more than one call searches
		id := h.connect()
		if i%25 != 0 {
			continue
		}
		w := h.watch(id)
		h.query(id, "say the Überlap of two bookings is refused")
		w.results(1)
		w.stop()
		with[id] = true
	}
	var p api.SessionSearchParams
	p.Query = "üBERLAP of"
	for calls := 0; ; calls++ {
		var r api.SessionSearchResult
		h.call("session.search", p, &r)
		for _, hit := range r.Hits {
			if !with[hit.SessionID] || hit.Matches != 2 || !strings.Contains(hit.Excerpt, "the Überlap of two bookings") || hit.Message == "" {
				t.Errorf("hit %+v; want one of %v with 2 matches", hit, with)
			}
			delete(with, hit.SessionID)
		}
		if p.Cursor = r.Cursor; p.Cursor == "" {
			if calls != 1 {
				t.Errorf("%d calls, want 2", calls+1)
			}
			break
		}
	}
	if len(with) > 0 {
		t.Errorf("not found: %v", with)
	}
	h.refused(api.InvalidParams, "session.search", api.SessionSearchParams{Query: " "})
}

// TestSessionSearch_memory checks that a search neither loads sessions permanently nor unloads
// those in memory.
func TestSessionSearch_memory(t *testing.T) {
	h := newHarness(t)
	for range 3 {
		id := h.connect()
		w := h.watch(id)
		h.query(id, "say something")
		w.results(1)
		w.stop()
	}
	h.restart()
	before := h.loaded()
	if len(before) != 0 {
		t.Fatalf("after a start %v are in memory", before)
	}
	used := h.server.sessions.All(h.ctx())[0].SessionID
	h.history(used)
	var r api.SessionSearchResult
	if h.call("session.search", api.SessionSearchParams{Query: "something"}, &r); len(r.Hits) != 3 {
		t.Errorf("%d hits, want 3", len(r.Hits))
	}
	if got := h.loaded(); len(got) != 1 || got[0] != used {
		t.Errorf("after a search %v are in memory, want %s", got, used)
	}
}

// loaded returns the sessions that are in memory.
func (h *harness) loaded() (ids []string) {
	for _, e := range h.server.sessions.All(h.ctx()) {
		if e.Loaded {
			ids = append(ids, e.SessionID)
		}
	}
	return ids
}
