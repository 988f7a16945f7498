package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestPrompts checks which events begin and end the sent prompts.
func TestPrompts(t *testing.T) {
	start := func(id string) event.Event { return &event.TurnStart{PromptID: id} }
	result := func(parent string) event.Event {
		return &event.ResultMessage{Header: event.Header{ParentToolUseID: parent}}
	}
	queue := func(ids ...string) event.Event {
		ev := &event.QueueChanged{}
		for _, id := range ids {
			ev.Items = append(ev.Items, event.QueueItem{ID: id})
		}
		return ev
	}
	sent := func(id string) event.Event { return &event.UserMessage{Header: event.Header{UUID: id}} }
	state := func(id, state string) event.Event {
		return &event.Unknown{OriginalType: "command_lifecycle", Data: event.Encoded(map[string]string{"command_uuid": id, "state": state})}
	}
	for name, c := range map[string]struct {
		events []event.Event
		want   string
	}{
		"a turn":                      {[]event.Event{start("a"), result("")}, "begin a, end a <nil>"},
		"a result of a subagent":      {[]event.Event{start("a"), result("task")}, "begin a, runs"},
		"a turn that another joined":  {[]event.Event{start("a"), state("b", "started"), result("")}, "begin a, begin b, end a <nil>, end b <nil>"},
		"a turn of another client":    {[]event.Event{start("x"), result("")}, ""},
		"sent from the queue":         {[]event.Event{queue("a"), sent("a"), queue(), start("a"), result("")}, "begin a, end a <nil>"},
		"removed from the queue":      {[]event.Event{queue("a", "b"), queue("b")}, "end a " + errRemoved.Error()},
		"cancelled before it began":   {[]event.Event{state("b", "cancelled")}, "end b " + errTakenBack.Error()},
		"finished without a result":   {[]event.Event{start("a"), state("a", "completed"), &event.SessionState{State: "idle"}}, "begin a, end a " + errNoResult.Error() + ", runs"},
		"queued again after it began": {[]event.Event{start("a"), state("a", "queued"), result("")}, "begin a"},
	} {
		var log []string
		p := &prompts{
			list:  []*prompt{{id: "a"}, {id: "b"}},
			begun: func(one *prompt) { log = append(log, "begin "+one.id) },
			over:  func(one *prompt, err error) { log = append(log, fmt.Sprint("end ", one.id, " ", err)) },
		}
		for _, ev := range c.events {
			p.event(ev)
		}
		if p.running {
			log = append(log, "runs")
		}
		if got := strings.Join(log, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
