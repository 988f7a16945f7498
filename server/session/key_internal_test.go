package session

import "testing"

// TestSameKey checks that a key matches only its caller and its method, unless an earlier version stored it.
func TestSameKey(t *testing.T) {
	mine := ScopedKey("a", "m", "k")
	for stored, want := range map[string]bool{
		mine: true, "k": true,
		ScopedKey("b", "m", "k"): false, ScopedKey("a", "n", "k"): false, ScopedKey("a", "m", "l"): false, "l": false, "": false, mine + "x": false,
	} {
		if got := sameKey(stored, mine); got != want {
			t.Errorf("sameKey(%q, %q) = %v, want %v", stored, mine, got, want)
		}
	}
	other := ScopedKey("b", "m", "k")
	if sameKey(other, ScopedKey("a", "m", other)) {
		t.Error("a key that contains the scoped key of another caller counts as that key")
	}
}
