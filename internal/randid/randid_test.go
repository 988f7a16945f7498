package randid

import (
	"regexp"
	"testing"
)

func TestRandom(t *testing.T) {
	if id, other := UUID(), UUID(); id == other || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("the UUIDs are %s and %s, want two different ones of version 4", id, other)
	}
	if id, other := Hex(6), Hex(6); id == other || len(id) != 12 {
		t.Errorf("the ids are %s and %s, want two different ones of 12 digits", id, other)
	}
}
