package server

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// A text is found in every session that contains it, ignoring case, with the words around it; the last page has no cursor.
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
