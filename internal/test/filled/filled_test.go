package filled_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/filled"
)

type inner struct {
	A string
	B *int64
}

type outer struct {
	inner
	Name string `json:"name"`
	Size uint32
	On   bool
	At   time.Time
	Raw  json.RawMessage
	List []inner
	Map  map[string]float64
}

// lossy does not encode one of its fields.
type lossy struct {
	Kept string
	Lost string `json:"-"`
}

// failures counts the failures of a test.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Errorf(string, ...any) { f.n++ }
func (f *failures) Helper()               {}

// TestOf checks that every field has a value and that no two are equal.
func TestOf(t *testing.T) {
	v := filled.Of[outer](t)
	seen := map[string]bool{}
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			if v.Type() != reflect.TypeFor[time.Time]() {
				for i := range v.NumField() {
					if v.Type().Field(i).IsExported() {
						look(v.Field(i))
					}
				}
				return
			}
		case reflect.Pointer:
			look(v.Elem())
			return
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Struct {
				look(v.Index(0))
				return
			}
		}
		text, err := json.Marshal(v.Interface())
		if err != nil || v.IsZero() || seen[string(text)] {
			t.Errorf("%s (%v) is zero, or the value of another field", text, err)
		}
		seen[string(text)] = true
	}
	look(reflect.ValueOf(v))
	if len(seen) != 8 {
		t.Errorf("there are %d values, want 8: %v", len(seen), seen)
	}
}

// TestJSON checks that a field that the encoding omits is a failure.
func TestJSON(t *testing.T) {
	filled.JSON[outer](t)
	f := &failures{TB: t}
	if filled.JSON[lossy](f); f.n != 1 {
		t.Errorf("%d failures for a type that loses a field, want 1", f.n)
	}
}

// TestConverted checks that a field without an effect, and a field with another field's value, are
// failures.
func TestConverted(t *testing.T) {
	type pair struct{ A, B string }
	from := filled.Of[pair](t)
	for name, tt := range map[string]struct {
		convert func(pair) pair
		want    int
	}{
		"whole": {func(p pair) pair { return p }, 0}, "dropped": {func(p pair) pair { return pair{A: p.A} }, 2},
		"swapped": {func(p pair) pair { return pair{p.B, p.A} }, 2}, "twice": {func(p pair) pair { return pair{p.A, p.A} }, 2},
	} {
		f := &failures{TB: t}
		if filled.Converted(f, from, tt.convert); f.n != tt.want {
			t.Errorf("%s: %d failures, want %d", name, f.n, tt.want)
		}
	}
	f := &failures{TB: t}
	if filled.Converted(f, from, func(p pair) string { return p.A }, "B"); f.n != 0 {
		t.Errorf("%d failures apart from a field that has no effect, want none", f.n)
	}
}
