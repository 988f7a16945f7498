package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/parts"
	"github.com/seed7221b0f9/parley/server/session"
)

// turnView is one turn that is streamed to a client.
type turnView struct {
	session string
	at      parts.Place
	turn    string // the prompt whose turn the client waits for; "" if the turn is running
	message string // the id of the message for the client; "" if it continues a message
	encoder runEncoder
	trailer string

	reducer *parts.Reducer
	decoder event.Decoder
	ended   bool
}

// streamTurn streams a turn until it ends, asks, or the client disconnects. The turn does not
// depend on the client.
func (s *Server) streamTurn(w http.ResponseWriter, r *http.Request, c *caller, t *turnView) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	v, standing, end, err := s.sessions.WatchAfter(ctx, t.session, api.Cursor{Epoch: t.at.Epoch, Seq: t.at.Seq})
	if err != nil {
		return err
	}
	defer end()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	t.reducer = parts.New(t.at)
	out := &eventStream{ctx, w, http.NewResponseController(w)}
	err = out.events(t.encoder.Begin(t.message))
	if t.turn == "" && !standing.Busy && v.Cursor.Seq >= standing.Head {
		err = errors.Join(err, out.events(t.close(parts.End{Reason: parts.Stopped})))
	}
	for err == nil && !t.ended {
		_ = out.rc.Flush() // the next write returns the error
		items, failed := v.Within(ctx, s.opts.Heartbeat)
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case failed != nil:
			err = out.events(t.close(parts.End{Reason: parts.Failed, Message: session.FailureOf(failed).Message}))
		case len(items) == 0:
			err = out.write(": heartbeat\n\n")
		default:
			err = s.writeItems(ctx, c, out, v, t, items)
			if err == nil && !t.ended && t.turn == "" && !standing.Busy && v.Cursor.Seq >= standing.Head {
				err = out.events(t.close(parts.End{Reason: parts.Stopped}))
			}
		}
	}
	if err == nil && t.trailer != "" {
		err = out.write("data: %s\n\n", t.trailer)
	}
	_ = out.rc.Flush()
	s.logger.Debug("a run ended", "session", t.session, "why", err)
	return nil
}

// writeItems writes the parts of a session's messages. The id of the last event of a message is the
// position after it.
func (s *Server) writeItems(ctx context.Context, c *caller, out *eventStream, v *session.Viewer, t *turnView, items []session.Item) error {
	for _, it := range items {
		events, err := t.decoder.Decode(it.Message())
		if err != nil {
			continue // a message of a newer server
		}
		for _, ev := range events {
			var data []json.RawMessage
			for _, p := range t.apply(ev) {
				if p.Kind != parts.Ask {
					data = append(data, t.encoder.Part(p)...)
					continue
				}
				open, err := s.openRequest(ctx, c, t.session, p.ID)
				if err != nil {
					return err
				}
				if open != nil { // otherwise it was answered
					t.ended = true
					data = append(data, t.encoder.Ask(p, t.reducer.Place(v.Cursor.Epoch, it.Seq).String()+"/"+p.ID)...)
				}
			}
			if err := out.placed(data, t.reducer.Place(v.Cursor.Epoch, it.Seq)); err != nil || t.ended {
				return err
			}
		}
	}
	return nil
}

// apply returns the parts of an event.
func (t *turnView) apply(ev event.Event) []parts.Part {
	if t.turn != "" {
		end := t.waiting(ev)
		if end == nil {
			return nil
		}
		t.ended = true
		return t.reducer.Close(*end)
	}
	all := t.reducer.Apply(ev)
	if st, ok := ev.(*event.SessionState); ok {
		switch session.State(st.State) {
		case session.Idle:
			all = t.reducer.Close(parts.End{Reason: parts.Stopped})
		case session.Interrupted, session.Failed, session.Ended, session.LostHost:
			all = t.reducer.Close(parts.End{Reason: parts.Failed, Message: "the agent ended before the turn did: the session is " + st.State})
		}
	}
	t.ended = len(all) > 0 && all[len(all)-1].Kind == parts.Finish
	return all
}

// waiting checks whether the turn has started. It returns the end of the turn if the turn will not
// start.
func (t *turnView) waiting(ev event.Event) *parts.End {
	switch ev := ev.(type) {
	case *event.UserMessage:
		if ev.UUID == t.turn {
			t.turn = ""
		}
	case *event.QueueChanged:
		for _, item := range ev.Items {
			if item.ID != t.turn {
				continue
			}
			if item.Status != "" {
				return held()
			}
			return nil
		}
		return &parts.End{Reason: parts.Cancelled}
	case *event.QueueUpdated:
		for _, item := range ev.Items {
			if item.ID == t.turn && item.Status != "" {
				return held()
			}
		}
		if slices.Contains(ev.Removed, t.turn) {
			return &parts.End{Reason: parts.Cancelled}
		}
	case *event.SessionState:
		if st := session.State(ev.State); st == session.Failed || st == session.Ended || st == session.LostHost {
			return &parts.End{Reason: parts.Failed, Message: "the agent of the session does not run: it is " + ev.State}
		}
	}
	return nil
}

// held returns the end of a turn whose prompt waits for a person.
func held() *parts.End {
	return &parts.End{Reason: parts.Failed, Message: "the prompt waits for a person: release the queue of the session, or remove it"}
}

// close ends a turn without an end in the events.
func (t *turnView) close(end parts.End) []json.RawMessage {
	t.ended = true
	var all []json.RawMessage
	for _, p := range t.reducer.Close(end) {
		all = append(all, t.encoder.Part(p)...)
	}
	return all
}

// placed writes events with a place as the id of the last one.
func (e *eventStream) placed(all []json.RawMessage, at parts.Place) error {
	if len(all) == 0 {
		return nil
	}
	last := len(all) - 1
	if err := e.events(all[:last]); err != nil {
		return err
	}
	return e.write("id: %s\ndata: %s\n\n", at, all[last])
}

// events writes events without a name.
func (e *eventStream) events(all []json.RawMessage) error {
	for _, data := range all {
		if err := e.write("data: %s\n\n", data); err != nil {
			return err
		}
	}
	return nil
}
