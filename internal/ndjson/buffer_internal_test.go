package ndjson

import (
	"strings"
	"testing"
)

// pieces returns one text per read.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

// A reader uses a large buffer during a burst and releases it before it waits, so that idle readers hold
// only a small one.
func TestReader_givesItsBufferBack(t *testing.T) {
	long := strings.Repeat("x", 2*burst)
	r := NewReader(&pieces{long + "\n", long + "\nshort\n", "short\n", "short\n"}, 0)
	for i, want := range []bool{true, true, true, true, false} {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if got := r.large != nil; got != want {
			t.Errorf("line %d: a large buffer is held: %v", i, got)
		}
	}
}
