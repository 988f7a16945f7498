package workspace

import (
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/filled"
)

// TestFilled checks that each field of a record and of a journal is stored.
func TestFilled(t *testing.T) {
	filled.JSON[journal](t)
	w := newWorld(t)
	want := filled.Of[record](t)
	want.ID = "w-0123456789abcdef"
	if err := w.Manager.save(want); err != nil {
		t.Fatal(err)
	}
	got, err := w.load(want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("the record is %+v, want %+v", got, want)
	}
	if err := w.forget(want.ID); err != nil {
		t.Fatal(err)
	}
}
