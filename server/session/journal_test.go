package session

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// TestJournal_coreIsInLog checks that the facts in the log fold to the core that an actor has, also
// those that are carried to the next record, and after a record that could not be written.
func TestJournal_coreIsInLog(t *testing.T) {
	in := func(id string, status inputStatus) input { return input{ID: id, Content: mustJSON(id), Status: status} }
	change := func(list ...input) draft { return draft{queue: true, facts: &facts{Inputs: list}} }
	notice := draft{event: &event.Notice{Text: "x"}}
	tests := map[string]func(t *testing.T, a *actor, log *memLog){
		"carried facts go with a record without facts": func(_ *testing.T, a *actor, _ *memLog) {
			a.delivered(in("a", inputSent))
			a.handle(nil, &event.Notice{Header: event.Header{SessionID: "agent-1"}})
		},
		"the id of the agent goes with a record that has facts": func(_ *testing.T, a *actor, _ *memLog) {
			a.handle(nil, &event.TextDelta{Header: event.Header{SessionID: "agent-1", MessageID: "m"}, Text: "x"})
			a.draft(change(in("b", inputQueued)))
		},
		"facts of the record come after carried ones": func(_ *testing.T, a *actor, _ *memLog) {
			a.delivered(in("a", inputSent))
			a.draft(change(in("a", inputUnknown), in("b", inputQueued)))
		},
		"a record that was not written leaves the carried facts": func(t *testing.T, a *actor, log *memLog) {
			a.delivered(in("a", inputSent))
			log.fail = eventlog.ErrFull
			if a.commit(change(in("b", inputQueued))) == nil {
				t.Fatal("a record was written to a full log")
			}
			log.fail = nil
			if err := a.commit(notice); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			s, st := memSessions(t)
			id := Prefix + "facts"
			a := s.newActor(id, "e")
			defer a.cancel()
			a.draft(draft{event: &event.SessionState{State: string(Running)}, facts: &facts{State: Running, Opened: &Opened{Provider: "claude"}}}, change(in("a", inputSent)))
			if err := a.write(); err != nil {
				t.Fatal(err)
			}
			run(t, a, st.logs[id])
			if err := a.write(); err != nil {
				t.Fatal(err)
			}
			logged := s.newActor(id, "e")
			defer logged.cancel()
			for i, data := range st.logs[id].events {
				if err := logged.replay(eventlog.Event{Seq: uint64(i + 1), Data: data}, 0); err != nil {
					t.Fatal(err)
				}
			}
			got, err1 := json.Marshal(logged.core)
			want, err2 := json.Marshal(a.core)
			if err1 != nil || err2 != nil || string(got) != string(want) {
				t.Errorf("the log folds to\n%s\nthe actor has\n%s", got, want)
			}
		})
	}
}
