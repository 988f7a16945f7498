package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestSearch checks which messages match, which one the result names, and that the pages contain
// every session once.
func TestSearch(t *testing.T) {
	said := func(uuid, text string) *event.UserMessage {
		return &event.UserMessage{Header: event.Header{UUID: uuid}, IsPrompt: true, Blocks: []event.Content{event.TextContent(text)}}
	}
	answered := func(uuid, message string, texts ...string) *event.AssistantMessage {
		m := &event.AssistantMessage{Header: event.Header{UUID: uuid, MessageID: message}}
		for i, text := range texts {
			m.Blocks = append(m.Blocks, event.IndexedBlock{Index: int64(i), Block: event.TextContent(text)})
		}
		return m
	}
	meta := said("meta", "a needle of the agent")
	meta.IsMeta = true
	pasts := map[string][]event.Event{
		"s-a": {said("a1", "a Needle"), answered("a2", "m", "none", "the NEEDLE is here")},
		"s-b": {said("b1", "hay")},
		"s-c": {said("c1", "needle"), meta},
		"s-d": {},
		"s-e": {answered("e1", "m", "needle"), said("e2", "needle and needle")},
	}
	s, _ := memSessions(t)
	p := newPuppets()
	s.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return p, nil, nil }
	hidden := ""
	s.visible = func(_ context.Context, tenant string) bool { return tenant != hidden || hidden == "" }
	for id, past := range pasts {
		p.history = past
		o := Opened{Params: api.ConnectParams{ResumeSessionID: "past"}}
		if id == "s-e" {
			o.Tenant = "other"
		}
		if err := s.Create(t.Context(), id, o); err != nil {
			t.Fatal(err)
		}
	}
	details := Of[Details](s)
	search := func(query, cursor string) []api.SessionHit {
		t.Helper()
		r, err := details.Search(t.Context(), api.SessionSearchParams{Query: query, Cursor: cursor})
		if err != nil || r.Cursor != "" {
			t.Fatalf("searching for %q after %q: %+v, %v", query, cursor, r, err)
		}
		return r.Hits
	}
	a := api.SessionHit{SessionID: "s-a", Message: "m/1", Excerpt: "the NEEDLE is here", Matches: 2}
	c := api.SessionHit{SessionID: "s-c", Message: "c1", Excerpt: "needle", Matches: 1}
	e := api.SessionHit{SessionID: "s-e", Message: "e2", Excerpt: "needle and needle", Matches: 2}
	one := func(hit api.SessionHit) []api.SessionHit { hit.Matches = 1; return []api.SessionHit{hit} }
	for query, want := range map[string][]api.SessionHit{" needle ": {a, c, e}, "NEEDLE": {a, c, e}, "the needle": one(a), "and": one(e), "of the agent": {}, "nothing": {}} {
		if diff := cmp.Diff(want, search(query, "")); diff != "" {
			t.Errorf("searching for %q (-want +got):\n%s", query, diff)
		}
	}
	for cursor, want := range map[string][]api.SessionHit{"s-a": {c, e}, "s-b": {c, e}, "s-c": {e}, "s-e": {}, "s-z": {}} {
		if diff := cmp.Diff(want, search("needle", cursor)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", cursor, diff)
		}
	}
	hidden = "other"
	if diff := cmp.Diff([]api.SessionHit{a, c}, search("needle", "")); diff != "" {
		t.Errorf("for another tenant (-want +got):\n%s", diff)
	}
	for _, query := range []string{"", "  "} {
		if _, err := details.Search(t.Context(), api.SessionSearchParams{Query: query}); FailureOf(err).Reason != api.InvalidParams {
			t.Errorf("the query %q: %v", query, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := details.Search(ended, api.SessionSearchParams{Query: "needle"}); err == nil {
		t.Errorf("a search without its caller: %+v", r)
	}
}

// TestSearch_unloads checks that a search leaves sessions in memory as they were, and that pages of many sessions follow each other.
func TestSearch_unloads(t *testing.T) {
	s, _ := memSessions(t)
	p := newPuppets()
	p.history = []event.Event{&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Blocks: []event.Content{event.TextContent("needle")}}}
	s.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return p, nil, nil }
	const all = maxSearched + 2
	for n := range all {
		if err := s.Create(t.Context(), fmt.Sprintf("s-%03d", n), Opened{Params: api.ConnectParams{ResumeSessionID: "past"}}); err != nil {
			t.Fatal(err)
		}
	}
	details := Of[Details](s)
	loaded := func() (n int) {
		for _, i := range s.All(t.Context()) {
			if i.Loaded {
				n++
			}
		}
		return n
	}
	for n := range all - 1 {
		a, release, err := s.use(t.Context(), fmt.Sprintf("s-%03d", n))
		if err != nil {
			t.Fatal(err)
		}
		release()
		if err := a.call(t.Context(), func() error { a.unload(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	cursor, pages := "", 0
	for ; pages == 0 || cursor != "" && pages < 9; pages++ {
		r, err := details.Search(t.Context(), api.SessionSearchParams{Query: "needle", Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range r.Hits {
			got = append(got, hit.SessionID)
		}
		cursor = r.Cursor
	}
	if pages != 2 || len(got) != all || got[0] != "s-000" || got[maxSearched] != fmt.Sprintf("s-%03d", maxSearched) {
		t.Errorf("%d pages have %d sessions: %v", pages, len(got), got)
	}
	if n := loaded(); n != 1 {
		t.Errorf("%d sessions are in memory after a search, want the one from before", n)
	}
}

// TestMessageName checks the names of messages in links.
func TestMessageName(t *testing.T) {
	b := &event.Block{Index: 3}
	for want, m := range map[string]*event.Message{"u": {UUID: "u"}, "m/3": {ID: "m", UUID: "u"}, "m#2/3": {ID: "m", Restart: 2}} {
		if got := messageName(m, b); got != want {
			t.Errorf("the name is %q, want %q", got, want)
		}
	}
}

// TestImport checks that a new session has the history of the agent's session: all messages in order, without deltas, in writes of a
// limited size, and only if the agent keeps a history.
func TestImport(t *testing.T) {
	c := emptyStage(t)
	const many = 2*maxBatch + 3
	for n := range many {
		c.puppets.history = append(c.puppets.history, &event.TextDelta{Header: event.Header{MessageID: "m"}, Text: "delta"},
			&event.UserMessage{Header: event.Header{UUID: fmt.Sprintf("u%05d", n)}, IsPrompt: true, Blocks: []event.Content{event.TextContent(fmt.Sprintf("text %05d.", n))}})
	}
	if err := c.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{ResumeSessionID: "past"}}); err != nil {
		t.Fatal(err)
	}
	if calls := c.puppets.calls.take(); !strings.Contains(calls, fmt.Sprint("Load past ", maxImport)) && !strings.Contains(calls, "Load past") {
		t.Errorf("the calls are %q", calls)
	}
	_, records := c.records(0)
	at := 0
	for n := range many {
		next := strings.Index(records[at:], fmt.Sprintf("text %05d.", n))
		if next < 0 {
			t.Fatalf("message %d of the past is not in the log after those before", n)
		}
		at += next
	}
	if strings.Contains(records, "delta") {
		t.Error("a delta of the past is in the log")
	}
	var users int
	c.inLoop(func(a *actor) {
		for _, thread := range a.conv.Threads {
			users += len(thread.Items)
		}
	})
	if users != many {
		t.Errorf("the session has %d messages, want %d", users, many)
	}
	none := newStage(t, Opened{})
	if calls := none.puppets.calls.take(); strings.Contains(calls, "Load") {
		t.Errorf("a session without a past made the calls %q", calls)
	}
	bare := emptyStage(t)
	bare.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) {
		return bareProvider{bare.puppets}, nil, nil
	}
	if err := bare.Create(t.Context(), bare.id, Opened{Params: api.ConnectParams{ResumeSessionID: "past"}}); err != nil || bare.lines.String() != "" {
		t.Errorf("with an agent that keeps no past: %v, the log has %s", err, bare.lines)
	}
}
