package random_test

import (
	"regexp"
	"testing"

	"github.com/seed7221b0f9/parley/internal/random"
)

func TestUUID(t *testing.T) {
	id := random.UUID()
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) || id == random.UUID() {
		t.Errorf("UUID returned %q", id)
	}
}

func TestHex(t *testing.T) {
	if s := random.Hex(6); !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(s) || s == random.Hex(6) {
		t.Errorf("Hex(6) returned %q", s)
	}
}
