package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// TestShown checks that a load has all text that viewers were shown, regardless of the stored
// events and the time of the kill, that it is marked as cut off, and that the file is deleted when
// the log has everything.
func TestShown(t *testing.T) {
	head := event.Header{MessageID: "m"}
	delta := func(text string) event.Event { return &event.TextDelta{Header: head, Text: text} }
	notice := &event.Notice{Text: "stored in the middle"}
	whole := &event.AssistantMessage{Header: head, Blocks: []event.IndexedBlock{{Block: event.ContentOf(`{"type":"text","text":"abc"}`)}}}
	for name, c := range map[string]struct {
		events []event.Event
		cut    int // number of bytes that a power failure removed from the file
		want   string
		state  event.State
	}{
		"deltas alone":                {events: []event.Event{delta("a"), delta("b")}, want: "ab", state: event.Incomplete},
		"an event between":            {events: []event.Event{delta("a"), notice, delta("b")}, want: "ab", state: event.Incomplete},
		"an event after":              {events: []event.Event{delta("a"), delta("b"), notice}, want: "ab", state: event.Incomplete},
		"several events":              {events: []event.Event{notice, delta("a"), notice, notice, delta("b"), notice}, want: "ab", state: event.Incomplete},
		"the whole message came":      {events: []event.Event{delta("a"), delta("b"), whole, notice}, want: "abc", state: event.Complete},
		"a power cut took the last":   {events: []event.Event{delta("a"), delta("b")}, cut: 3, want: "a", state: event.Incomplete},
		"a power cut left too little": {events: []event.Event{delta("a"), notice}, cut: 100, want: "", state: ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"shown", "e")
			defer a.cancel()
			a.draft(draft{event: &event.SessionState{State: string(Running)}, facts: &facts{State: Running, Opened: &Opened{Provider: "claude"}}}, draft{event: &event.MessageStart{Header: head}})
			for _, ev := range c.events {
				a.publish(a.handle(nil, ev))
				if err := a.write(); err != nil {
					t.Fatal(err)
				}
			}
			if c.cut > 0 {
				info, err := os.Stat(a.shown.path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(a.shown.path, max(info.Size()-int64(c.cut), 0)); err != nil {
					t.Fatal(err)
				}
			}
			b, err := s.load(t.Context(), a.id) // as after a kill: a was neither saved nor closed
			if err != nil {
				t.Fatal(err)
			}
			defer b.cancel()
			var got strings.Builder
			state := event.State("")
			for _, it := range b.conv.Threads[0].Items {
				if it.Message != nil {
					state = it.Message.State
					for _, block := range it.Message.Blocks {
						got.WriteString(block.Text.String())
					}
				}
			}
			if got.String() != c.want || state != c.state {
				t.Errorf("the conversation has %q, %q; want %q, %q", got.String(), state, c.want, c.state)
			}
			if info, err := os.Stat(a.shown.path); err == nil && info.Size() > 0 {
				t.Errorf("the file has %d bytes after the load", info.Size())
			}
			a.shown.close()
		})
	}
}

// A load that cannot write leaves the text that viewers saw on disk, for the next load.
func TestShown_blocked(t *testing.T) {
	c := newStage(t, Opened{})
	c.unloaded()
	path := filepath.Join(c.opts.Dir, c.id)
	rec, err := record{Time: "t", Msg: []byte(`{"type":"text_delta","message_id":"m","text":"a"}`)}.encode()
	if err != nil {
		t.Fatal(err)
	}
	n, _ := c.records(0)
	f := shown{path: path}
	f.add(uint64(n), 0, rec)
	if err := f.flush(); err != nil {
		t.Fatal(err)
	}
	f.close()
	c.log.set("Append", eventlog.ErrFull)
	if err := c.with(t.Context(), c.id, func(a *actor) error { return a.commit(a.core.titleDraft("x", "person")) }); err == nil {
		t.Error("a full log was written")
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the file is %v, %v; want its text until the log has it", info, err)
	}
	c.log.set("Append", nil)
}
