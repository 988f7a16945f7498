package event

import (
	"cmp"
	"slices"
)

// Apply returns a queue after the change. It changes neither of the two, and the queue that it
// returns does not share memory with the event.
func (e *QueueUpdated) Apply(queue []QueueItem) []QueueItem {
	all, place := append([]QueueItem{}, queue...), make(map[string]int, len(queue))
	for i, item := range all {
		place[item.ID] = i
	}
	for _, item := range e.Items {
		item = QueueItem{kept(item.ID), clean(keptJSON(item.Content)), kept(item.Priority), kept(item.Status)}
		i, ok := place[item.ID]
		if !ok {
			place[item.ID] = len(all)
			all = append(all, item)
			continue
		}
		item.Content = cmp.Or(item.Content, all[i].Content)
		all[i] = item
	}
	if len(e.Removed) > 0 {
		for _, id := range e.Removed {
			place[id] = -1
		}
		all = slices.DeleteFunc(all, func(item QueueItem) bool { return place[item.ID] < 0 })
	}
	if len(e.Order) > 0 {
		clear(place)
		for i, id := range e.Order {
			place[id] = i - len(e.Order) // others stay behind them
		}
		slices.SortStableFunc(all, func(a, b QueueItem) int { return place[a.ID] - place[b.ID] })
	}
	return all
}
