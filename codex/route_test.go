package codex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// What a subagent says before its parent is known is shown after the link, in its order.
func TestRoutes_subagent(t *testing.T) {
	r := &routes{threads: map[string]*threadState{}, held: map[string][]item.Notification{}, asks: map[item.JSON]*ask{}}
	owner := newThreadState("owner")
	r.threads["owner"] = owner
	box := newMailbox(1 << 20)
	core := newTurnCore("owner", "turn")
	core.boxes = append(core.boxes, box)
	owner.turns["turn"] = core
	say := func(thread, turn, text string) item.Notification {
		return &item.AgentMessageDelta{Note: item.Note{ThreadID: thread, TurnID: turn}, ItemID: "m", Delta: text}
	}
	var seen []string
	feed := func(n item.Notification) {
		for _, d := range r.toThread(item.ThreadOf(n), n) {
			if d.box == box {
				if delta, ok := d.n.(*item.AgentMessageDelta); ok {
					seen = append(seen, delta.Delta)
				} else {
					seen = append(seen, item.Method(d.n))
				}
			}
		}
	}
	feed(say("child", "c", "one"))
	feed(say("stranger", "s", "never"))
	feed(say("child", "c", "two"))
	feed(say("owner", "turn", "mine"))
	feed(&item.ItemCompleted{Note: item.Note{ThreadID: "owner", TurnID: "turn"}, Item: &item.CollabAgentToolCall{
		ItemHead: item.ItemHead{ID: "call"}, Tool: "spawnAgent", ReceiverThreadIDs: []string{"child"},
	}})
	feed(say("child", "c", "three"))
	if got := strings.Join(seen, " "); got != "mine item/completed one two three" {
		t.Errorf("seen %s", got)
	}
	if o := r.threads["child"].origin; fmt.Sprint(*o) != "{owner turn call}" {
		t.Errorf("origin %+v", o)
	}
}
