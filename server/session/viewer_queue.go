package session

import (
	"context"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// told is a queue in the form that is reported to viewers.
type told struct {
	header event.Header
	inputs []input
}

func (t *told) message() ([]byte, error) {
	items := make([]event.QueueItem, len(t.inputs))
	for i, in := range t.inputs {
		items[i] = in.item()
	}
	return event.Marshal(&event.QueueChanged{Header: t.header, Items: items})
}

// whole replaces changes of the queue by the whole queue for a viewer that does not accept changes.
func (v *Viewer) whole(items []Item) []Item {
	changes := func(it Item) bool { return it.queue != nil }
	if v.can.Queue || !slices.ContainsFunc(items, changes) {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		it := &items[i]
		if it.queue == nil {
			continue
		}
		if msg, err := it.queue.message(); err == nil {
			it.msg, it.shared = msg, nil
		}
	}
	return items
}

// readQueue is the queue according to the log up to the cursor of a viewer.
type readQueue struct {
	known bool
	items []event.QueueItem
}

// readQueues replaces changes of the queue in a page of the log. If the page does not contain the
// queue before them, the last change becomes the current queue.
func (v *Viewer) readQueues(ctx context.Context, page []Item) error {
	q := &v.queue
	if page[0].Seq == 1 {
		q.known, q.items = true, nil
	}
	last := -1
	for i := range page {
		switch event.MessageType(page[i].msg) {
		case "queue_changed":
			var e event.QueueChanged
			q.known = event.Unmarshal(page[i].msg, &e) == nil
			q.items = e.Items
		case "queue_updated":
			var e event.QueueUpdated
			if q.known = q.known && event.Unmarshal(page[i].msg, &e) == nil; !q.known {
				last = i
				continue
			}
			q.items = e.Apply(q.items)
			msg, err := event.Marshal(&event.QueueChanged{Header: e.Header, Items: q.items})
			if err != nil {
				return err
			}
			page[i].msg = msg
		}
	}
	if last < 0 || q.known {
		return nil
	}
	return v.actor.call(ctx, func() error {
		page[last].queue = &told{v.actor.core.header(""), v.actor.core.told}
		return nil
	})
}
