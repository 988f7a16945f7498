package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestAudit_pages checks that the pages of the audit log together have every matching row once, the newest first, whatever their size, also
// beyond what one page reads.
func TestAudit_pages(t *testing.T) {
	short.SkipQuick(t, "writes many rows")
	log := &outboxLog{}
	r := rand.New(rand.NewPCG(1, 0))
	var mine []string // newest first
	for n := range auditScan + 700 {
		by := []string{"me", "other", "other"}[r.IntN(3)]
		ts := fmt.Sprintf("%05d", n)
		if by == "me" {
			mine = slices.Insert(mine, 0, ts)
		}
		log.events = append(log.events, fmt.Appendf(nil, `{"ts":%q,"by":%q,"session_id":"s-%d"}`, ts, by, n%2))
	}
	a, err := openAudit(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{-1, 1, 7, maxAuditPage, maxAuditPage + 1, 0} {
		var got []string
		p := api.AuditListParams{By: "me", Limit: limit}
		for pages := 0; ; pages++ {
			page, err := a.list(t.Context(), p)
			if err != nil || pages > len(mine)+2 {
				t.Fatalf("page %d: %v", pages, err)
			}
			if most := int(limit); len(page.Rows) > maxAuditPage || limit > 0 && len(page.Rows) > most {
				t.Errorf("a page of at most %d rows has %d", limit, len(page.Rows))
			}
			for _, row := range page.Rows {
				got = append(got, row.TS)
			}
			if p.Cursor = page.Cursor; p.Cursor == "" {
				break
			}
			if limit > 0 && limit < 10 && pages == 3 { // two more pages are enough
				break
			}
		}
		want := mine
		if limit > 0 && limit < 10 {
			want = mine[:len(got)]
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d rows have %d rows, want %d: each once, the newest first", limit, len(got), len(want))
		}
	}
	for _, cursor := range []string{"0", "x", "-1"} {
		if _, err := a.list(t.Context(), api.AuditListParams{Cursor: cursor}); session.FailureOf(err).Reason != api.InvalidParams {
			t.Errorf("cursor %q: %v, want a refusal", cursor, err)
		}
	}
	for _, tt := range []struct {
		p    api.AuditListParams
		want int
	}{
		{api.AuditListParams{Since: "05000", Until: "05010"}, 10}, {api.AuditListParams{Since: "05000", Until: "05010", SessionID: "s-1"}, 5}, {api.AuditListParams{Until: "00000"}, 0},
	} {
		if page, err := a.list(t.Context(), tt.p); err != nil || len(page.Rows) != tt.want {
			t.Errorf("%+v: %d rows, %v, want %d", tt.p, len(page.Rows), err, tt.want)
		}
	}
}

// TestAudit_cluster checks that the rows of two servers are stored, each once and in order, and that a row that is not stored is an error.
func TestAudit_cluster(t *testing.T) {
	log := &outboxLog{}
	var servers [2]*audit
	for i := range servers {
		var err error
		if servers[i], err = openAudit(t.Context(), log); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 6 {
		if n == 3 {
			log.fault = func(string) error { return errors.New("full") }
			if err := servers[n%2].add(t.Context(), api.AuditRow{Method: "lost"}); err == nil {
				t.Error("a row that is not stored is reported as stored")
			}
			log.fault = nil
		}
		if err := servers[n%2].add(t.Context(), api.AuditRow{Method: fmt.Sprint(n)}); err != nil {
			t.Fatalf("row %d: %v", n, err)
		}
	}
	page, err := servers[1].list(t.Context(), api.AuditListParams{})
	var got []string
	for _, row := range page.Rows {
		got = append(got, row.Method)
	}
	if want := []string{"5", "4", "3", "2", "1", "0"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the rows are %v, %v, want %v", got, err, want)
	}
}
