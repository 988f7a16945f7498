package codexagent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// say sends a prompt and waits for the end of its turn.
func say(t *testing.T, s agent.Session, events chan event.Event, uuid, text string) {
	t.Helper()
	if err := s.Send(t.Context(), agent.Input{UUID: uuid, Text: text}); err != nil {
		t.Fatal(err)
	}
	for ev := range events {
		if _, ok := ev.(*event.ResultMessage); ok {
			return
		}
	}
	t.Fatal("the events ended")
}

// follow reads the events of a session until it ends.
func follow(t *testing.T, s agent.Session) chan event.Event {
	events := make(chan event.Event)
	go func() {
		defer close(events)
		for ev, err := range s.Events(t.Context()) {
			if err != nil {
				return
			}
			select {
			case events <- ev:
			case <-t.Context().Done():
				return
			}
		}
	}()
	t.Cleanup(func() { _ = s.Close() })
	return events
}

// TestHistory renames, searches, exports, forks and archives threads on disk.
func TestHistory(t *testing.T) {
	s, p := subject(t)
	session, err := p.Open(t.Context(), s.Options)
	if err != nil {
		t.Fatal(err)
	}
	events := follow(t, session)
	say(t, session, events, "uuid-1", "say something about Zanzibar")
	say(t, session, events, "uuid-2", "say more")
	id, h := session.ID(), p.History()

	fork, err := session.(agent.Forker).Fork(t.Context(), "uuid-1")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := h.Metadata(t.Context(), fork); err != nil || m.Messages != 2 {
		t.Errorf("a fork up to the first prompt: %+v, %v", m, err)
	}
	if _, err := session.(agent.Forker).Fork(t.Context(), "nothing"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a fork up to no message: %v", err)
	}
	say(t, session, events, "uuid-3", "go on") // the session still works
	if m, err := h.Metadata(t.Context(), id); err != nil || m.Messages != 6 {
		t.Errorf("the thread after its fork: %+v, %v", m, err)
	}

	if err := h.Rename(t.Context(), id, "About islands"); err != nil {
		t.Fatal(err)
	}
	if list, _, err := h.List(t.Context(), agent.HistoryQuery{Query: "About islands"}); err != nil || len(list) != 1 || list[0].CustomTitle != "About islands" {
		t.Errorf("%+v, %v; want err == nil and len(list) == 1 and list[0].CustomTitle == \"About islands\"", list, err)
	}
	hits, cursor, err := h.Search(t.Context(), agent.HistoryQuery{Query: "zanziBAR", Limit: 1})
	if err != nil || len(hits) != 1 || !strings.Contains(hits[0].Excerpt, "Zanzibar") || hits[0].UUID != "uuid-1" {
		t.Errorf("%+v, %v; want err == nil and len(hits) == 1 and strings.Contains(hits[0].Excerpt, \"Zanzibar\") and hits[0].UUID == \"uuid-1\"", hits, err)
	}
	if more, last, err := h.Search(t.Context(), agent.HistoryQuery{Query: "zanziBAR", Limit: 5, Cursor: cursor}); err != nil || last != "" || len(more) > 1 {
		t.Errorf("the next page: %+v, %q, %v", more, last, err)
	}
	exports(t, h, id)
	for _, err := range []error{h.Tag(t.Context(), id, "x"), h.Rename(t.Context(), "00000000-0000-4000-8000-000000000000", "x")} {
		if !errors.Is(err, agent.ErrUnsupported) && !errors.Is(err, agent.ErrNotFound) {
			t.Error(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if m, err := h.Metadata(t.Context(), id); err != nil || !m.Archived || m.Messages != 6 {
		t.Errorf("after it was archived: %+v, %v", m, err)
	}
}

func exports(t *testing.T, h agent.History, id string) {
	t.Helper()
	md, err := h.Export(t.Context(), id, "markdown")
	if err != nil || !strings.HasPrefix(md.Text, "# About islands\n\n## User\n\nsay something about Zanzibar\n\n## Agent\n\nHello from Codex.") {
		t.Errorf("%+v, %v; want err == nil and strings.HasPrefix(md.Text, \"# About islands\\n\\n## User\\n\\nsay something about Zanzibar\\n\\n## Agent\\n\\nHello from Codex.\")", md, err)
	}
	if js, err := h.Export(t.Context(), id, "json"); err != nil || !strings.Contains(js.Text, `"type": "agentMessage"`) || !strings.Contains(js.Text, `"clientId": "uuid-2"`) {
		t.Errorf("%+v, %v; want err == nil and strings.Contains(js.Text, `\"type\": \"agentMessage\"`) and strings.Contains(js.Text, `\"clientId\": \"uuid-2\"`)", js, err)
	}
	if _, err := h.Export(t.Context(), id, "html"); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("html: %v", err)
	}
	if _, err := h.Export(t.Context(), id, "pdf"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("pdf: %v", err)
	}
}
