package codex

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// TestTracker_recordings checks that every started item of every recording has one end, before or
// at the end of its turn unless it is a command.
func TestTracker_recordings(t *testing.T) {
	cuts := 0
	for _, r := range codexrec.All(t) {
		threads := map[string]*tracker{}
		open, commands := map[string]int{}, map[string]bool{}
		see := func(list []item.Notification) {
			for _, n := range list {
				key := n.Head().TurnID + " " + item.ItemOf(n)
				switch n := n.(type) {
				case *item.ItemStarted:
					open[key]++
					_, commands[key] = n.Item.(*item.CommandExecution)
				case *item.ItemCompleted:
					open[key]--
					delete(commands, key)
				case *item.ItemCut:
					cuts++
					open[n.TurnID+" "+item.ItemOf(n)]--
				case *item.TurnCompleted:
					for key, left := range open {
						background := commands[key] && n.Turn.Status == item.StatusCompleted
						if left != 0 && strings.HasPrefix(key, n.Turn.ID+" ") && !background {
							t.Errorf("%s: item %s is open at the end of its turn", r.Title(), key)
						}
					}
				}
			}
		}
		for _, l := range r.Lines(t) {
			d, err := item.DecodeServer(l.Msg)
			n, ok := d.(item.Notification)
			if l.Client || err != nil || !ok {
				continue
			}
			id := item.ThreadOf(n)
			if threads[id] == nil {
				threads[id] = &tracker{}
			}
			see(threads[id].apply(n))
		}
		for _, tr := range threads {
			see(tr.end())
			if len(tr.open) != 0 {
				t.Errorf("%s: %d items are open", r.Title(), len(tr.open))
			}
		}
		for key, n := range open {
			if n != 0 {
				t.Errorf("%s: item %s has %d starts too many", r.Title(), key, n)
			}
		}
	}
	if cuts == 0 {
		t.Error("nothing was cut in any recording")
	}
}

// TestTracker_background checks that a command is not cut when its turn completes, but when it is interrupted.
func TestTracker_background(t *testing.T) {
	for status, want := range map[string]int{item.StatusCompleted: 1, item.StatusInterrupted: 2, item.StatusFailed: 2} {
		tr := &tracker{}
		head := item.Note{ThreadID: "t", TurnID: "u"}
		tr.apply(&item.ItemStarted{Note: head, Item: &item.CommandExecution{ItemHead: item.ItemHead{ID: "c"}}})
		out := tr.apply(&item.TurnCompleted{Note: item.Note{ThreadID: "t"}, Turn: item.Turn{ID: "u", Status: status}})
		if len(out) != want {
			t.Errorf("%s: %d notifications, want %d", status, len(out), want)
		}
	}
}
