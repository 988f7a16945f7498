package session

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestLarge checks that the pieces of a large message's record equal the record in one piece.
func TestLarge(t *testing.T) {
	short.SkipQuick(t, "encodes large messages")
	text := strings.Repeat("a\"é\n", largeMessage/4)
	header := event.Header{UUID: "u", SessionID: "s", Provider: "p"}
	content := event.Quote(text)
	message := &event.UserMessage{Header: header, Blocks: []event.Content{{Type: "text", Text: text}}, IsText: true, IsPrompt: true}
	trap := *message
	trap.SessionID = event.JSON(placeholder).Text()
	two := *message
	two.Blocks = append(two.Blocks, event.Content{Type: "text", Text: text})
	item := event.QueueItem{ID: "u", Content: content, Priority: "now", Status: "held"}
	for name, c := range map[string]struct {
		ev    event.Event
		large bool
	}{
		"message":                   {message, true},
		"queue":                     {&event.QueueChanged{Header: header, Items: []event.QueueItem{item}}, true},
		"change of a queue":         {&event.QueueUpdated{Header: header, Items: []event.QueueItem{item}, Removed: []string{"r"}, Order: []string{"u", "v"}}, true},
		"two texts":                 {&two, false},
		"two items":                 {&event.QueueChanged{Header: header, Items: []event.QueueItem{item, item}}, false},
		"blocks":                    {&event.QueueChanged{Header: header, Items: []event.QueueItem{{ID: "u", Content: "[" + content + "]"}}}, false},
		"small":                     {&event.QueueChanged{Header: header, Items: []event.QueueItem{{ID: "u", Content: `"small"`}}}, false},
		"text of the placeholder":   {&trap, false},
		"event about another thing": {&event.Notice{Header: header, Text: text}, false},
	} {
		for _, f := range []*facts{nil, {AgentID: "agent"}} {
			j := &journal{encoder: event.NewEncoder("00000000", 0), core: core{Inputs: []input{{ID: "u", Content: content}}}}
			all := j.encode("time", c.ev)
			if len(all) != 1 || all[0].ev != c.ev || all[0].rec.isLarge() != c.large {
				t.Fatalf("%s: %d records, large %v, want one, %v", name, len(all), all[0].rec.isLarge(), c.large)
			}
			rec := all[0].rec
			rec.Facts = f
			pieces, err := rec.pieces()
			if err != nil {
				t.Fatal(err)
			}
			msg, err := event.NewEncoder("00000000", 0).Messages(c.ev)
			if err != nil {
				t.Fatal(err)
			}
			want, err := (record{Time: "time", Msg: msg[0], Facts: f}).encode()
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Join(pieces, nil); !bytes.Equal(got, want) {
				t.Errorf("%s: the record has %d bytes, %.60s…, want %d, %.60s…", name, len(got), got, len(want), want)
			}
			if n := rec.size(recordHead("time")); n != len(msg[0]) {
				t.Errorf("%s: its message has %d bytes, want %d", name, n, len(msg[0]))
			}
			if brief := strings.Replace(string(msg[0]), string(content), placeholder, 1); c.large && string(rec.brief) != brief {
				t.Errorf("%s: its brief message is %.1000s, want %.1000s", name, rec.brief, brief)
			}
			if again, _ := rec.pieces(); !reflect.DeepEqual(again, pieces) {
				t.Errorf("%s: it is another record when it is written again", name)
			}
		}
	}
}

// TestAppendPieces checks that the pieces of a record are joined for a log that does not accept pieces.
func TestAppendPieces(t *testing.T) {
	log := &memLog{}
	last, err := appendPieces(context.Background(), log, 0, [][][]byte{{[]byte("a")}, {[]byte("b"), nil, []byte("c")}})
	if err != nil || last != 2 || len(log.events) != 2 || string(log.events[0]) != "a" || string(log.events[1]) != "bc" {
		t.Errorf("the log has %q, its end is %d, %v, want a and bc", log.events, last, err)
	}
}

// TestHub_large checks, for each position, that a viewer reads a message from the log if only the
// log has it, and that a viewer of brief messages does not.
func TestHub_large(t *testing.T) {
	h := newHub("s", "e", 0)
	h.watch(1)
	h.publish([]Item{{Seq: 1, msg: []byte("one")}}, noPartial)
	h.publish([]Item{{Seq: 2, msg: []byte("two")}, {Seq: 3, large: true, brief: []byte("brief")}, {Seq: 4, msg: []byte("four")}}, noPartial)
	for _, tt := range []struct {
		seq    uint64
		brief  bool
		want   string
		behind bool
	}{
		{0, false, "one two", false}, {1, false, "two", false}, {2, false, "", true}, {3, false, "four", false},
		{0, true, "one two brief four", false}, {2, true, "brief four", false}, {3, true, "four", false},
	} {
		var got []string
		f := h.after(api.Cursor{Epoch: "e", Seq: tt.seq}, 10, tt.brief)
		for _, it := range f.items {
			got = append(got, string(it.msg))
		}
		if strings.Join(got, " ") != tt.want || f.behind != tt.behind {
			t.Errorf("after %d, brief %v: %q, behind %v; want %s, %v", tt.seq, tt.brief, got, f.behind, tt.want, tt.behind)
		}
	}
}
