package session

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// TestLoad_oldSnapshot loads a session with a snapshot of an older form: the snapshot is ignored,
// and the session is folded from the log with its open request.
func TestLoad_oldSnapshot(t *testing.T) {
	s, st := memSessions(t)
	id := Prefix + "old"
	a := s.newActor(id, "e")
	a.provider, a.core.Provider = providerOf(s), "claude"
	a.draft(draft{event: &event.SessionState{State: string(Running)}, facts: &facts{State: Running, Opened: &Opened{Provider: "claude"}}})
	a.take(nil, &event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Blocks: []event.Content{event.TextContent("hello")}})
	a.take(nil, &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "t", ToolName: "Bash"})
	if err := a.write(); err != nil {
		t.Fatal(err)
	}
	a.cancel()
	log := st.logs[id]
	asked := false
	for i, data := range log.events {
		old := regexp.MustCompile(`"asked":{("asked_at":"[^"]*")}`).ReplaceAll(data, []byte(`"asked":{$1,"prompt":{"type":"permission","kind":"tool","requestId":"r","toolUseId":"t","toolName":"Bash"}}`))
		asked = asked || len(old) != len(data)
		log.events[i] = old
	}
	if !asked {
		t.Fatalf("no record asks: %s", log.events)
	}
	log.snap = &eventlog.Snapshot{Cursor: eventlog.Cursor{Seq: uint64(len(log.events))}, Data: []byte(`{"core":{"id":"` + id + `","provider":"claude","opened":{"provider":"claude"},"state":"requires_action","title":"stale",` +
		`"requests":[{"asked_at":"x","prompt":{"type":"permission","kind":"tool","requestId":"stale"}}]},` +
		`"conversation":{"provider":"claude","title":"stale","threads":[],"turns":[],"tasks":[],"prompts":[{"type":"permission","kind":"tool","requestId":"stale"}],"queue":[],"totals":{},"hooks":[],"notices":[{"severity":"info","text":"x"}]}}`)}
	b, err := s.load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer b.cancel()
	var whole event.Conversation
	foldMessages(t, &whole, decodeRecords(t, log.events))
	if got, want := encodedConversation(t, &b.conv), encodedConversation(t, &whole); got != want {
		t.Errorf("loaded %s\nwant   %s", got, want)
	}
	if text := whole.Threads[0].Items[0].Message.Blocks[0].Text.String(); text != "hello" || b.core.Title != "" {
		t.Errorf("the first message is %q, the title %q", text, b.core.Title)
	}
	closed := string(log.events[len(log.events)-1])
	for _, e := range log.events {
		if strings.Contains(string(e), "permission_resolved") {
			closed = string(e)
		}
	}
	if len(b.core.Requests) != 0 || !strings.Contains(closed, `"resolved":"r"`) || !strings.Contains(closed, `"tool_use_id":"t"`) {
		t.Errorf("the open request was not closed: %s", closed)
	}
}
