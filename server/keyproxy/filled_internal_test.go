package keyproxy

import (
	"net"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/filled"
)

// TestFilled checks that every field of a control message survives the encoding.
func TestFilled(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	want := filled.Of[message](t)
	failed := make(chan error, 1)
	go func() { failed <- newLine(ours).write(want) }()
	got, err := newLine(theirs).read()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	filled.Equal(t, "the message", got, want)
}
