package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestStream_abandoned checks which blocks of a message are kept when it ends: those before the first
// abandoned one, while those of other messages stay open.
func TestStream_abandoned(t *testing.T) {
	other := event.Header{MessageID: "other"}
	for from := int64(-1); from <= 3; from++ {
		h := event.Header{MessageID: "m"}
		s := &stream{}
		s.durable(&event.MessageStart{Header: h})
		for i := range int64(3) {
			s.add(&event.TextStart{Header: h, Index: i})
			s.add(&event.TextDelta{Header: h, Index: i, Text: fmt.Sprint("text ", i)})
		}
		s.add(&event.TextStart{Header: other, Index: 2})
		end := &event.MessageComplete{Header: h}
		want := []int64{0, 1, 2}
		if from >= 0 {
			end.AbandonedFrom = &from
			want = want[:from]
		}
		var got []int64
		for _, ev := range s.durable(end) {
			if start, ok := ev.(*event.TextStart); ok {
				if start.Text != fmt.Sprint("text ", start.Index) {
					t.Errorf("block %d is kept as %q", start.Index, start.Text)
				}
				got = append(got, start.Index)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("abandoned from %d: blocks %v are kept, want %v", from, got, want)
		}
		if len(s.blocks) != 1 || len(s.open) != 0 {
			t.Errorf("abandoned from %d: %d blocks and %d messages are open, want the block of the other message", from, len(s.blocks), len(s.open))
		}
	}
}
