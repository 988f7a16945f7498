package event

import (
	"cmp"
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Apply returns a queue after the change. It modifies neither argument, and the result shares no
// memory with the event except contents of a megabyte or more.
func (e *QueueUpdated) Apply(queue []QueueItem) []QueueItem {
	all, place := append([]QueueItem{}, queue...), make(map[string]int, len(queue))
	for i, item := range all {
		place[item.ID] = i
	}
	for _, item := range e.Items {
		item = QueueItem{kept(item.ID), clean(keptLarge(item.Content)), kept(item.Priority), kept(item.Status)}
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
			place[id] = i - len(e.Order) // others follow
		}
		slices.SortStableFunc(all, func(a, b QueueItem) int { return place[a.ID] - place[b.ID] })
	}
	return all
}

// queueSpare is the room for the rest of a message after its queue.
const queueSpare = 1 << 10

// appendQueue appends items as JSON. Their contents may be large, so they are copied only once.
func appendQueue(dst []byte, items []QueueItem) []byte {
	size := queueSpare
	for _, item := range items {
		size += len(item.Content) + 128
	}
	dst = append(slices.Grow(dst, size), '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonwire.AppendString(append(dst, `{"id":`...), item.ID)
		if content := clean(item.Content); content != "" {
			dst = append(append(dst, `,"content":`...), content...)
		}
		if item.Priority != "" {
			dst = jsonwire.AppendString(append(dst, `,"priority":`...), item.Priority)
		}
		if item.Status != "" {
			dst = jsonwire.AppendString(append(dst, `,"status":`...), item.Status)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
