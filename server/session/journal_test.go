package session

import (
	"encoding/json"
	"errors"
	"github.com/seed7221b0f9/parley/server/budget"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestJournal_coreIsInLog checks that the facts in the log fold to the actor's core, including
// those carried to the next record, and after a record that could not be written.
func TestJournal_coreIsInLog(t *testing.T) {
	in := func(id string, status inputStatus) input {
		return input{ID: id, Content: event.Quote(id), Status: status}
	}
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
		"a newer id of the agent is not replaced by a carried one": func(_ *testing.T, a *actor, _ *memLog) {
			a.handle(nil, &event.TextDelta{Header: event.Header{SessionID: "agent-1", MessageID: "m"}, Text: "x"})
			a.draft(draft{event: &event.SessionState{State: string(Idle)}, facts: &facts{AgentID: "agent-2"}})
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

// TestCommit_lost checks that a session is lost after another server has written to its log, with an
// agent and without one, and stays lost.
func TestCommit_lost(t *testing.T) {
	for name, agent := range map[string]*running{"no agent": nil, "an agent": {close: func() error { return nil }, ended: make(chan struct{})}} {
		s, st := memSessions(t)
		id := Prefix + "lost"
		a := s.newActor(id, "e")
		a.draft(draft{event: &event.SessionState{State: string(Idle)}, facts: &facts{State: Idle, Opened: &Opened{Provider: "claude"}}})
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
		a.agent = agent
		log := st.logs[id]
		log.events = append(log.events, []byte(`{}`))
		for range 2 {
			err := a.commit(a.core.titleDraft("t", "person"))
			if FailureOf(err).Reason != api.NotOwner || a.core.State != LostHost || FailureOf(a.owned()).Reason != api.NotOwner {
				t.Errorf("%s: a change gives %v, the session is %s, want it to be lost", name, err, a.core.State)
			}
		}
		if len(log.events) != 2 || a.core.Title != "" {
			t.Errorf("%s: %d records, the title %q, want those of the other server", name, len(log.events), a.core.Title)
		}
		a.cancel()
		s.wg.Wait()
	}
}

// TestCommit_carried checks that facts which wait for the next record are in the log after a change that could not be stored.
func TestCommit_carried(t *testing.T) {
	s, st := memSessions(t)
	a := s.newActor(Prefix+"carried", "e")
	defer a.cancel()
	a.draft(draft{event: &event.SessionState{State: string(Idle)}, facts: &facts{State: Idle, Opened: &Opened{Provider: "claude"}, Inputs: []input{{ID: "i", Content: `"x"`, Status: inputSent}}}})
	if err := a.write(); err != nil {
		t.Fatal(err)
	}
	a.delivered(a.core.Inputs[0])
	a.core.AgentID, a.carrying().AgentID = "agent", "agent"
	dearest := budget.Amount{USD: 1, Tokens: 2}
	a.core.Dearest, a.carrying().Dearest = dearest, &dearest
	size := fileSize{AgentID: "agent", Size: 7}
	a.core.Kept, a.carrying().Kept = size, &size
	owner := ownedBy{Node: "n", Epoch: 3}
	a.core.Owner, a.carrying().Owner = owner, &owner
	st.logs[a.id].fail = eventlog.ErrFull
	if err := a.commit(a.core.titleDraft("first", "person")); !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("a change on a full disk: %v, want %v", err, eventlog.ErrFull)
	}
	st.logs[a.id].fail = nil
	if err := a.commit(a.core.titleDraft("second", "person")); err != nil {
		t.Fatal(err)
	}
	logged := s.newActor(a.id, "e")
	defer logged.cancel()
	for i, data := range st.logs[a.id].events {
		if err := logged.replay(eventlog.Event{Seq: uint64(i + 1), Data: data}, 0); err != nil {
			t.Fatal(err)
		}
	}
	got, want := asText(logged.core), asText(a.core)
	if got != want || a.core.Title != "second" || a.core.Inputs[0].Status != inputDelivered || a.core.AgentID != "agent" || a.core.Dearest != dearest || a.core.Kept != size || a.core.Owner != owner {
		t.Errorf("the log folds to\n%s\nthe actor has\n%s", got, want)
	}
}

// TestMerged checks that the next record has every fact that waits for it, and that the facts of the record take precedence.
func TestMerged(t *testing.T) {
	inputs := func(id string) []input { return []input{{ID: id, Status: inputDelivered}} }
	filled := func(n uint32, name string) *facts {
		return &facts{
			AgentID: "agent-" + name, Dearest: &budget.Amount{USD: float64(n), Tokens: int64(n)}, Inputs: inputs("input-" + name), Owner: &ownedBy{Node: "node-" + name, Epoch: uint64(n)},
			Host: &n, HostIn: "host-" + name, Box: &api.Box{Kind: "box-" + name},
		}
	}
	carried, own := filled(1, "carried"), filled(2, "own")
	with := func(f *facts, change func(*facts)) *facts { g := *f; change(&g); return &g }
	for name, tt := range map[string]struct{ carried, own, want *facts }{
		"nothing":        {nil, nil, nil},
		"no facts":       {nil, &facts{}, nil},
		"only waiting":   {carried, nil, carried},
		"only its own":   {nil, own, own},
		"beside another": {carried, &facts{State: Idle}, with(carried, func(f *facts) { f.State = Idle })},
		"both":           {carried, own, with(own, func(f *facts) { f.Inputs = append(inputs("input-carried"), f.Inputs...) })},
		"no host":        {carried, &facts{Host: new(uint32(0))}, with(carried, func(f *facts) { f.Host, f.HostIn, f.Box = new(uint32(0)), "", nil })},
	} {
		if got := merged(tt.carried, tt.own); asText(got) != asText(tt.want) {
			t.Errorf("%s: the record has %s, want %s", name, asText(got), asText(tt.want))
		}
	}
}
