package codex

import (
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/codex/item"
)

// tracker tracks the open items and the usage of one thread. It is pure: its input are the server's
// notifications, its output the notifications for a reader, which are the same plus the ends of
// items that the server omits.
type tracker struct {
	open   map[string]map[string]*openItem // by turn and id
	number int                             // order of the starts
	status item.Status
	usage  item.TokenUsage
	name   string
}

// openItem is a started item that has not ended. Ids are unique in a turn.
type openItem struct {
	number     int
	turnID, id string
	partial    *item.Partial
}

// apply returns the notifications for a reader.
func (t *tracker) apply(n item.Notification) []item.Notification {
	switch n := n.(type) {
	case *item.ItemStarted:
		t.start(n)
	case *item.ItemCompleted:
		t.drop(n.TurnID, item.ItemOf(n))
	case *item.ThreadStatusChanged:
		t.status = n.Status
	case *item.ThreadTokenUsageUpdated:
		t.usage = n.TokenUsage
	case *item.ThreadNameUpdated:
		t.name = n.ThreadName
	case *item.ErrorNotice:
		if n.WillRetry {
			// The streamed text is void: the retry starts new items [error_drop_retry].
			return append([]item.Notification{n}, t.cut(n.TurnID, item.CutRetry, streamed)...)
		}
	case *item.TurnCompleted:
		return append(t.endTurn(&n.Turn), n)
	default:
		t.delta(n)
	}
	return []item.Notification{n}
}

func (t *tracker) start(n *item.ItemStarted) {
	if n.Item == nil {
		return
	}
	id := n.Item.Head().ID
	t.drop(n.TurnID, id) // started twice
	if t.open == nil {
		t.open = map[string]map[string]*openItem{}
	}
	if t.open[n.TurnID] == nil {
		t.open[n.TurnID] = map[string]*openItem{}
	}
	t.number++
	t.open[n.TurnID][id] = &openItem{number: t.number, turnID: n.TurnID, id: id, partial: item.NewPartial(n.Item)}
}

// find returns an open item, or nil.
func (t *tracker) find(turnID, id string) *openItem { return t.open[turnID][id] }

func (t *tracker) drop(turnID, id string) {
	delete(t.open[turnID], id)
	if len(t.open[turnID]) == 0 {
		delete(t.open, turnID)
	}
}

func (t *tracker) delta(n item.Notification) {
	if id := item.ItemOf(n); id != "" {
		if o := t.find(n.Head().TurnID, id); o != nil {
			o.partial.Add(n)
		}
	}
}

// streamed reports whether the model writes the item, in contrast to an action.
func streamed(i item.Item) bool {
	switch i.(type) {
	case *item.AgentMessage, *item.Reasoning, *item.Plan:
		return true
	}
	return false
}

// endTurn closes the open items of a turn. A command of a completed turn continues in the
// background and is completed later [background_terminal].
func (t *tracker) endTurn(turn *item.Turn) []item.Notification {
	return t.cut(turn.ID, item.CutTurnEnded, func(i item.Item) bool {
		_, command := i.(*item.CommandExecution)
		return !command || turn.Status != item.StatusCompleted
	})
}

// end closes everything after the exit of the server.
func (t *tracker) end() (cuts []item.Notification) {
	for _, turnID := range slices.Sorted(maps.Keys(t.open)) {
		cuts = append(cuts, t.cut(turnID, item.CutEnd, func(item.Item) bool { return true })...)
	}
	return cuts
}

// cut closes the matching items of a turn in the order of their starts.
func (t *tracker) cut(turnID, reason string, match func(item.Item) bool) (cuts []item.Notification) {
	for _, o := range slices.SortedFunc(maps.Values(t.open[turnID]), func(a, b *openItem) int { return a.number - b.number }) {
		if match(o.partial.Started()) {
			cuts = append(cuts, &item.ItemCut{Note: item.Note{TurnID: turnID}, Item: o.partial.Item(), Reason: reason})
			t.drop(turnID, o.id)
		}
	}
	return cuts
}
