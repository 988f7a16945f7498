package acp

import "encoding/json"

// Optional is a member that can be absent, null or have a value. The zero value is absent:
// in an update it leaves what was there before, and null takes it away.
type Optional[T any] struct {
	value T
	state byte // 0 absent, 1 null, 2 a value
}

// Some is a member with a value.
func Some[T any](v T) Optional[T] { return Optional[T]{value: v, state: 2} }

// Null is a member that is null.
func Null[T any]() Optional[T] { return Optional[T]{state: 1} }

// Get returns the value and whether there is one.
func (o Optional[T]) Get() (T, bool) { return o.value, o.state == 2 }

// Or returns the value, or another where there is none.
func (o Optional[T]) Or(other T) T {
	if o.state == 2 {
		return o.value
	}
	return other
}

// IsZero reports whether the member is absent.
func (o Optional[T]) IsZero() bool { return o.state == 0 }

// IsNull reports whether the member is null.
func (o Optional[T]) IsNull() bool { return o.state == 1 }

// IsSet reports whether there is a value.
func (o Optional[T]) IsSet() bool { return o.state == 2 }

// MarshalJSON writes the value, or null where there is none.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != 2 {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value or null.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	*o = Optional[T]{state: 1}
	if string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, &o.value); err != nil {
		*o = Optional[T]{}
		return err
	}
	o.state = 2
	return nil
}
