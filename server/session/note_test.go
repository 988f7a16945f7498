package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/webhook"
)

// faultyNotices is an outbox that can be full.
type faultyNotices struct {
	fail error
	told []webhook.Event
}

func (*faultyNotices) Wants(string) bool { return true }

func (n *faultyNotices) Add(_ context.Context, events []webhook.Event) error {
	if n.fail == nil {
		n.told = append(n.told, events...)
	}
	return n.fail
}

// TestNotes checks the events for webhooks: each once, with its tenant and position, also if the outbox
// could not be written at first. Until it has them the log has no snapshot after them, because a load
// reports the events after the snapshot.
func TestNotes(t *testing.T) {
	s, st := memSessions(t)
	notices := &faultyNotices{fail: errors.New("full")}
	s.opts.Notices = notices
	id := Prefix + "notes"
	a := s.newActor(id, "e")
	defer a.cancel()
	a.draft(draft{event: &event.SessionState{State: string(Running)}, facts: &facts{State: Running, Title: "a title", Opened: &Opened{Provider: "claude", Tenant: "acme"}}})
	ask := &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolName: "Bash"}
	for _, ev := range []event.Event{ask, ask, &event.Notice{Code: "other"}, &event.Notice{Header: event.Header{Extra: event.Extra{"budget_id": json.RawMessage(`"b1"`)}}, Code: noticeBudgetReached, Text: "spent"}, &event.ResultMessage{Subtype: "success"}} {
		a.handle(nil, ev)
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
	}
	a.snapshot()
	if log := st.logs[id]; log.snap != nil || len(notices.told) != 0 {
		t.Errorf("a snapshot %v, and %d events in an outbox that is full", log.snap, len(notices.told))
	}
	notices.fail = nil
	for range 2 {
		a.notes.tell()
	}
	var got []string
	for _, ev := range notices.told {
		if ev.Tenant != "acme" || ev.SessionID != id || ev.Title != "a title" || ev.Seq == 0 || ev.Time == "" || ev.ID != fmt.Sprintf("%s-%d", id, ev.Seq) {
			t.Errorf("an event is %+v", ev)
		}
		got = append(got, ev.Type)
		if text := string(ev.Data); !strings.Contains(text, map[string]string{webhook.NeedsAnswer: `"r"`, webhook.BudgetReached: `"budget_id":"b1"`, webhook.TurnDone: ""}[ev.Type]) {
			t.Errorf("the data of %s are %s", ev.Type, text)
		}
	}
	if want := fmt.Sprint([]string{webhook.NeedsAnswer, webhook.BudgetReached, webhook.TurnDone}); fmt.Sprint(got) != want {
		t.Errorf("told of %v, want %s", got, want)
	}
	if a.snapshot(); st.logs[id].snap == nil {
		t.Error("there is no snapshot when the outbox has everything")
	}
}

// TestNotes_load checks that a load reports the events after the snapshot, each of them, and none before it.
func TestNotes_load(t *testing.T) {
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"told", "e")
	defer a.cancel()
	a.draft(draft{event: &event.SessionState{State: string(Idle)}, facts: &facts{State: Idle, Opened: &Opened{Provider: "claude"}}})
	result := func() {
		a.draft(draft{event: &event.ResultMessage{Subtype: "success"}})
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
	}
	result()
	a.snapshot()
	result()
	result()
	notices := &faultyNotices{}
	s.opts.Notices = notices
	b, err := s.load(t.Context(), a.id)
	if err != nil {
		t.Fatal(err)
	}
	defer b.cancel()
	var got []uint64
	for _, ev := range notices.told {
		got = append(got, ev.Seq)
	}
	if want := fmt.Sprint([]uint64{3, 4}); fmt.Sprint(got) != want {
		t.Errorf("the load tells of the events %v, want %s", got, want)
	}
}
