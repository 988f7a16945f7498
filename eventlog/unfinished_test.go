package eventlog

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestUnfinished stores an incomplete record between others: it is ignored by writers and by readers from every number.
func TestUnfinished(t *testing.T) {
	short.SkipQuick(t, "reads from every number")
	s, err := Open(t.Context(), &Options{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	l := s.Log("a")
	const events = 9
	for seq := uint64(0); seq < events; seq++ {
		if _, err := l.Append(t.Context(), seq, fmt.Appendf(nil, "%d", seq+1)); err != nil {
			t.Fatal(err)
		}
		tip, err := l.tip(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h := header{kind: kindEvents, epoch: tip.epoch, first: tip.last + 1}
		parts := encodeRecord(h, make([]byte, partSize), nil, nil, make([]byte, partSize), nil)
		for _, part := range parts[:len(parts)-1] {
			if _, err := s.js.Publish(t.Context(), l.subject(), part); err != nil {
				t.Fatal(err)
			}
		}
		if last, err := l.Last(t.Context()); err != nil || last.Seq != seq+1 {
			t.Fatalf("with an unfinished record the log ends at %v, %v, want %d", last.Seq, err, seq+1)
		}
	}
	for after := range uint64(events + 1) {
		seq := after
		for e, err := range l.Read(t.Context(), Cursor{Seq: after}) {
			if seq++; err != nil || e.Seq != seq || string(e.Data) != fmt.Sprint(seq) {
				t.Fatalf("after %d: event %d is %d %.5q, %v", after, seq, e.Seq, e.Data, err)
			}
		}
		if seq != events {
			t.Errorf("after %d: read up to %d, want %d", after, seq, events)
		}
	}
}
