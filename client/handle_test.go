package client

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// The test has every message that a server sends on a socket. For each it lists the event for the caller, the cursor of the next connection, and the error
// that ends this connection.
func TestFollower_handle(t *testing.T) {
	const cursor = `{"cursor":{"epoch":"e","seq":3,"sub":2},"state":"idle"}`
	envelope := `{"seq":4,"sub":1,"epoch":"f","session_id":"s","ts":"t","msg":{"type":"notice","severity":"info","text":"x"}}`
	for name, tt := range map[string]struct {
		m      message
		events int
		after  api.Cursor
		reason api.Reason
		failed bool
	}{
		"an error":                      {m: message{ID: 2, Error: &api.ErrorObject{Message: "no", Data: api.ErrorData{Reason: api.AuthFailed}}}, reason: api.AuthFailed, failed: true},
		"hello":                         {m: message{ID: 1, Result: json.RawMessage(`{}`)}},
		"attached":                      {m: message{ID: 2, Result: json.RawMessage(cursor)}, events: 1, after: api.Cursor{Epoch: "e", Seq: 3, Sub: 2}},
		"attached, unreadable":          {m: message{ID: 2, Result: json.RawMessage(`7`)}, failed: true},
		"resync":                        {m: message{Method: "resync", Params: json.RawMessage(cursor)}, events: 1, after: api.Cursor{Epoch: "e", Seq: 3, Sub: 2}},
		"an event":                      {m: message{Method: "event", Params: json.RawMessage(envelope)}, events: 1, after: api.Cursor{Epoch: "f", Seq: 4, Sub: 1}},
		"an event, unreadable":          {m: message{Method: "event", Params: json.RawMessage(`7`)}, failed: true},
		"detached":                      {m: message{Method: "detached", Params: json.RawMessage(`{"reason":"session_expired"}`)}, reason: api.SessionExpired, failed: true},
		"detached, unreadable":          {m: message{Method: "detached", Params: json.RawMessage(`7`)}, failed: true},
		"a method of a newer server":    {m: message{Method: "wave", Params: json.RawMessage(`7`)}},
		"a notification without params": {m: message{Method: "wave"}},
	} {
		events := 0
		f := &follower{yield: func(Event, error) bool { events++; return events > 1 }}
		err := f.handle(tt.m)
		var after api.Cursor
		if f.after != nil {
			after = *f.after
		}
		if events != tt.events || after != tt.after || (err != nil) != tt.failed || tt.reason != "" && Reason(err) != tt.reason {
			t.Errorf("%s: %d events, the next connection begins at %+v, error %v; want %d, %+v and the reason %q", name, events, after, err, tt.events, tt.after, tt.reason)
		}
		if f.stopped != (tt.events > 0) || f.attached != (tt.events > 0 && name != "an event") {
			t.Errorf("%s: stopped %v, attached %v", name, f.stopped, f.attached)
		}
	}
}

// A snapshot replaces the conversation of a view, a position without a snapshot keeps it, and an unreadable snapshot
// changes nothing.
func TestView_attached(t *testing.T) {
	v := View{Cursor: api.Cursor{Epoch: "a", Seq: 1}}
	v.Conversation.Apply(&event.SessionInfo{Title: new("old")})
	next := api.Cursor{Epoch: "b", Seq: 5}
	if err := v.Apply(Event{Attached: &api.AttachResult{Cursor: next, Snapshot: `7`}}); err == nil || v.Cursor.Seq != 1 || v.Conversation.Title != "old" {
		t.Errorf("a snapshot that cannot be read: %v, at %+v with the title %q; want an error and no change", err, v.Cursor, v.Conversation.Title)
	}
	if err := v.Apply(Event{Attached: &api.AttachResult{Cursor: next}}); err != nil || v.Cursor != next || v.Conversation.Title != "old" {
		t.Errorf("without a snapshot: %v, at %+v with the title %q; want the same conversation", err, v.Cursor, v.Conversation.Title)
	}
	var c event.Conversation
	c.Apply(&event.SessionInfo{Title: new("new")})
	text, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Apply(Event{Attached: &api.AttachResult{Cursor: next, Snapshot: event.JSON(text)}}); err != nil || v.Conversation.Title != "new" {
		t.Errorf("with a snapshot: %v, the title %q; want that of the snapshot", err, v.Conversation.Title)
	}
}
