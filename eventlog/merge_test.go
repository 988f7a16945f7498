package eventlog

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestReader_merge passes records of both streams to a reader in an order that the streams may have.
func TestReader_merge(t *testing.T) {
	events := func(first uint64, texts ...string) *record { return testRecord(kindEvents, 0, first, 0, texts) }
	deltas := func(owner, seq, sub uint64, texts ...string) *record {
		return testRecord(kindDeltas, owner, seq, sub, texts)
	}
	for name, tt := range map[string]struct {
		records []*record
		want    string
	}{
		"in order":               {[]*record{events(1, "a"), deltas(0, 1, 1, "x", "y"), events(2, "b")}, "1.0a 1.1x 1.2y 2.0b"},
		"delta before its event": {[]*record{deltas(0, 2, 1, "x"), events(1, "a", "b")}, "1.0a 2.0b 2.1x"},
		"superseded delta":       {[]*record{events(1, "a", "b"), deltas(0, 1, 1, "x")}, "1.0a 2.0b"},
		"pending is superseded":  {[]*record{deltas(0, 1, 1, "x"), events(1, "a", "b")}, "1.0a 2.0b"},
		"repeated deltas":        {[]*record{events(1, "a"), deltas(0, 1, 1, "x", "y"), deltas(0, 1, 2, "y", "z")}, "1.0a 1.1x 1.2y 1.3z"},
		"repeated events":        {[]*record{events(1, "a", "b"), events(1, "a", "b"), events(2, "b", "c")}, "1.0a 2.0b 3.0c"},
		"older owner":            {[]*record{events(1, "a"), deltas(2, 1, 1, "x"), deltas(1, 1, 2, "no"), deltas(2, 1, 2, "y")}, "1.0a 1.1x 1.2y"},
	} {
		var got []string
		r := &reader{log: &Log{session: "s"}, yield: func(e Event, err error) bool {
			got = append(got, fmt.Sprintf("%d.%d%s", e.Seq, e.Sub, e.Data))
			return true
		}}
		for _, rec := range tt.records {
			var err error
			if rec.kind == kindEvents {
				err = r.events(t.Context(), rec)
			} else {
				err = r.deltas(rec)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

func testRecord(k kind, owner, first, sub uint64, texts []string) *record {
	rec := &record{header: header{kind: k, epoch: [8]byte{1}, owner: owner, first: first, sub: sub, count: uint64(len(texts))}}
	for _, text := range texts {
		rec.data = append(rec.data, []byte(text))
	}
	return rec
}

// TestChain detects missing events between records.
func TestChain(t *testing.T) {
	var c chain
	for _, first := range []uint64{3, 4, 9, 4, 12} {
		msg := encodeRecord(header{kind: kindEvents, first: first}, nil, nil)[0]
		if err := c.add("s", msg); err != nil {
			t.Fatal(err)
		}
	}
	if c.first != 3 || c.last != 13 || fmt.Sprint(c.gaps) != "[session s has lost its events 6 to 8: they are not in the store session s has lost its events 11 to 11: they are not in the store]" {
		t.Errorf("%+v; want c.first == 3 and c.last == 13 and fmt.Sprint(c.gaps) == \"[session s has lost its events 6 to 8: they are not in the store session s has lost its events 11 to 11: they are not in the store]\"", c)
	}
	if err := c.add("s", []byte{Format + 1}); !errors.Is(err, ErrFormat) {
		t.Errorf("newer record: %v", err)
	}
}
