package serveragent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/server/api"
)

var (
	_ agent.Joined   = (*Session)(nil)
	_ agent.Holder   = (*Session)(nil)
	_ agent.Canceler = (*Session)(nil)
)

// join takes over the server's state of the session when it is attached. The first events report all open
// items: the state, the queue, the requests, and lost parts of the conversation. If the view restarts
// because messages in between are no longer available, join also reports the result of the last turn.
func (s *Session) join(at *api.AttachResult, first bool) error {
	if at.Snapshot == "" {
		return nil
	}
	c := new(event.Conversation)
	if err := json.Unmarshal([]byte(at.Snapshot), c); err != nil {
		return err
	}
	var events []event.Event
	if first {
		s.past = c
	} else {
		events = missed(c, at.State)
	}
	events = append(events, &event.SessionState{State: at.State})
	if len(c.Queue) > 0 || !first {
		events = append(events, &event.QueueChanged{Items: c.Queue})
	}
	for _, n := range c.Notices {
		if n.Notice.Code == event.NoticeLost && first {
			events = append(events, n.Notice)
		}
	}
	open := map[string]bool{}
	for _, p := range c.Prompts {
		events = append(events, p.Event())
		open[p.RequestID()] = true
	}
	for _, ev := range events {
		ev.Head().Provider, ev.Head().SessionID = c.Provider, c.SessionID
	}
	s.kit.Do(func() { s.head = event.Header{Provider: c.Provider, SessionID: c.SessionID} })
	s.kit.Withdraw(func(r *agentkit.Prompt) bool { return !open[r.ID] }) // answered meanwhile
	s.kit.Update(func() []event.Event { return events })
	return nil
}

// missed returns the events for a restarted view: the gap, and the end of the last turn.
func missed(c *event.Conversation, state string) []event.Event {
	events := []event.Event{&event.Notice{Severity: "warning", Text: "A part of the session was not received. Load the session again to see all of it."}}
	thread := c.Thread("")
	if thread == nil || state == "running" || state == "requires_action" {
		return events
	}
	for _, item := range slices.Backward(thread.Items) {
		if item.Result != nil {
			return append(events, item.Result)
		}
	}
	return events
}

// Past returns the server's conversation at the time when this view was opened, or nil.
func (s *Session) Past() *event.Conversation { return s.past }

// Continue resumes the interrupted turn of the session at the server.
func (s *Session) Continue(ctx context.Context) error { return s.refer(ctx, "session.continue") }

// Release runs the held inputs of the session at the server.
func (s *Session) Release(ctx context.Context) error { return s.refer(ctx, "queue.release") }

// Cancel removes an input from the queue of the server. The uuid is that of the input, or its id in
// the queue.
func (s *Session) Cancel(ctx context.Context, uuid string) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	s.kit.Do(func() {
		for id, own := range s.prompts {
			if own == uuid {
				uuid = id
			}
		}
	})
	return s.p.call(ctx, "queue.remove", api.QueueItemParams{SessionID: s.id, ID: uuid}, nil)
}

func (s *Session) refer(ctx context.Context, method string) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	return s.p.call(ctx, method, api.SessionRef{SessionID: s.id}, nil)
}
