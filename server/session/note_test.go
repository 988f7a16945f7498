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

// TestNotes checks the events for webhooks: each is sent once, with its tenant and position, even if
// the outbox could not be written at first. Until they are stored there is no later snapshot, because a
// load reports only the events after the snapshot.
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

// TestNotable checks which records become notifications, and their text and data.
func TestNotable(t *testing.T) {
	state := &event.SessionState{State: "x"}
	in := func(s State) *facts { return &facts{State: s} }
	cost := 1.25
	for name, tt := range map[string]struct {
		ev              event.Event
		facts           *facts
		typ, text, data string
	}{
		"a permission":       {&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolName: "Bash"}, nil, webhook.NeedsAnswer, "The agent asks for permission to use Bash.", `{"kind":"tool","request_id":"r","tool_name":"Bash"}`},
		"a permission again": {&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolName: "Bash"}, &facts{Asked: &asking{Again: true}}, "", "", ""},
		"a question":         {&event.QuestionRequest{Kind: "question", RequestID: "q"}, &facts{Asked: &asking{}}, webhook.NeedsAnswer, "The agent asks a question.", `{"kind":"question","request_id":"q"}`},
		"a result": {&event.ResultMessage{Subtype: "success", DurationMS: 3, NumTurns: 4, TotalCostUSD: &cost}, in(Idle), webhook.TurnDone, "A turn has ended.",
			`{"duration_ms":3,"num_turns":4,"subtype":"success","total_cost_usd":1.25}`},
		"a failure":          {&event.ResultMessage{Subtype: "error", IsError: true}, nil, webhook.Failed, "A turn has failed.", `{"duration_ms":0,"num_turns":0,"subtype":"error"}`},
		"a spent budget":     {&event.Notice{Code: noticeBudgetReached, Text: "spent"}, nil, webhook.BudgetReached, "spent", ""},
		"another notice":     {&event.Notice{Code: "other", Text: "spent"}, in(Failed), "", "", ""},
		"a failed start":     {state, in(Failed), webhook.Failed, "The agent could not be started.", `{"state":"failed"}`},
		"an agent that died": {state, in(Interrupted), webhook.Failed, "The agent ended in a turn.", `{"state":"interrupted"}`},
		"another state":      {state, in(Running), "", "", ""},
		"no state":           {state, &facts{}, "", "", ""},
		"no facts":           {state, nil, "", "", ""},
		"no event":           {nil, in(Interrupted), webhook.Failed, "The agent ended in a turn.", `{"state":"interrupted"}`},
	} {
		t.Run(name, func(t *testing.T) {
			e, ok := notable("s", "title", 7, record{Time: "now", Facts: tt.facts}, tt.ev)
			if ok != (tt.typ != "") || ok && (e.Type != tt.typ || e.Text != tt.text || tt.data != "" && string(e.Data) != tt.data) {
				t.Errorf("it is %v with the type %q, %q, %s, want %q, %q, %s", ok, e.Type, e.Text, e.Data, tt.typ, tt.text, tt.data)
			}
			if e.ID != "s-7" || e.Time != "now" || e.SessionID != "s" || e.Seq != 7 || e.Title != "title" {
				t.Errorf("the event is %+v, want the place of its record", e)
			}
		})
	}
}

// TestNotes_load checks that a load reports every event after the snapshot, and no event before it.
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
