package client

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// View is the state of a session for a screen: the fold of the events that [Client.Follow] yields. The
// zero value is ready to use. A View is not safe for concurrent use.
type View struct {
	Conversation event.Conversation
	Cursor       api.Cursor
}

// Apply adds an event to the view. It returns an error if a snapshot cannot be decoded, or if the
// event does not follow the one before it in the log.
func (v *View) Apply(ev Event) error {
	if a := ev.Attached; a != nil {
		if a.Snapshot != "" {
			var c event.Conversation
			if err := json.Unmarshal([]byte(a.Snapshot), &c); err != nil {
				return fmt.Errorf("client: a snapshot: %w", err)
			}
			v.Conversation = c
		}
		v.Cursor = a.Cursor
		return nil
	}
	e := ev.Envelope
	if e.Sub == 0 && e.Seq != v.Cursor.Seq+1 || e.Sub != 0 && e.Seq != v.Cursor.Seq {
		return fmt.Errorf("client: message %d.%d came after %d.%d", e.Seq, e.Sub, v.Cursor.Seq, v.Cursor.Sub)
	}
	v.Cursor = api.Cursor{Epoch: e.Epoch, Seq: e.Seq, Sub: e.Sub}
	for _, x := range ev.Events {
		v.Conversation.Apply(x)
	}
	return nil
}
