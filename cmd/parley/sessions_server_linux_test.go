package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestSessions_server lists the sessions of a server, and reads one through the interface
// agent.History.
func TestSessions_server(t *testing.T) {
	s := newSimServer(t)
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{}, &r)
	id := r.SessionID
	s.call("session.query", api.QueryParams{SessionID: id, Text: "markdown"}, nil)
	s.until(id, func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	h := (&serveragent.Provider{Client: s.c}).History()
	if err := h.Rename(t.Context(), id, "The manual"); err != nil {
		t.Fatal(err)
	}
	out, said, code := s.start("", "sessions", "--server", s.address()).wait()
	if code != 0 || said != "" || !strings.Contains(out, id) || !strings.Contains(out, "idle") || !strings.Contains(out, "The manual") {
		t.Errorf("exit code %d, %q, said %q", code, out, said)
	}
	if m, err := h.Metadata(t.Context(), id); err != nil || m.ID != id || m.Dir == "" || m.Modified.IsZero() {
		t.Errorf("the session is %+v, %v", m, err)
	}
	if _, err := h.Metadata(t.Context(), "s-none"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a session that does not exist: %v", err)
	}
	loaded, err := h.Load(t.Context(), id, agent.HistoryPage{})
	if err != nil {
		t.Fatal(err)
	}
	var conversation strings.Builder
	for ev, err := range loaded.Events {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *event.UserMessage:
			conversation.WriteString("user: " + ev.Blocks[0].Text + "\n")
		case *event.AssistantMessage:
			for _, b := range ev.Blocks {
				conversation.WriteString(b.Block.Text)
			}
		}
	}
	if text := conversation.String(); !strings.HasPrefix(text, "user: markdown\n") || !strings.Contains(text, "The end.") {
		t.Errorf("the conversation is %q", text)
	}
	if err := h.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if list, _, err := h.List(t.Context(), agent.HistoryQuery{}); err != nil || len(list) != 0 {
		t.Errorf("after the deletion there is %+v, %v", list, err)
	}
}
