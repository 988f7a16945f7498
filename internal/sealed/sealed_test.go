package sealed_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/sealed"
)

// TestOpen changes every byte of sealed JSON, truncates it at every position, and appends to it. Open returns an error
// or the original content.
func TestOpen(t *testing.T) {
	const content = `[{"hash":"0a1b","role":"admin","n":17}]`
	whole := sealed.Seal([]byte(content))
	read := func(data []byte) (string, error) {
		got, err := sealed.Open(data)
		if err == nil {
			err = json.Unmarshal(got, new(any))
		}
		return string(got), err
	}
	if got, err := read(whole); err != nil || got != content {
		t.Fatalf("%q, %v", got, err)
	}
	if got, err := read([]byte(content)); err != nil || got != content {
		t.Errorf("without a checksum: %q, %v", got, err)
	}
	for i := range whole {
		for bits := 1; bits < 256; bits++ {
			data := append([]byte{}, whole...)
			data[i] ^= byte(bits)
			if got, err := read(data); err == nil {
				t.Errorf("with byte %d changed by %#x: %q", i, bits, got)
			}
		}
		if got, err := read(whole[:i]); err == nil && strings.TrimSpace(got) != content {
			t.Errorf("cut at %d: %q", i, got)
		}
	}
	if _, err := read(append(append([]byte{}, whole...), "\n"...)); !errors.Is(err, sealed.ErrDamaged) {
		t.Errorf("with a byte more: %v", err)
	}
}
