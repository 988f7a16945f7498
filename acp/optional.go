package acp

import "encoding/json"

// Optional is a member that can be absent, null or have a value. The zero value is absent. In an
// update an absent member keeps the previous value, and null removes it.
type Optional[T any] struct {
	value T
	state byte // 0 absent, 1 null, 2 a value
}

// Some returns a member with a value, as opposed to one that is null or absent.
func Some[T any](v T) Optional[T] { return Optional[T]{value: v, state: 2} }

// NonZero returns a member with a value, and an absent one for the zero value.
func NonZero[T comparable](v T) Optional[T] {
	var zero T
	if v == zero {
		return Optional[T]{}
	}
	return Some(v)
}

// Null returns a member that is null, which the protocol distinguishes from one that is absent.
func Null[T any]() Optional[T] { return Optional[T]{state: 1} }

// Get returns the value and true, or the zero value and false if the member is null or absent.
func (o Optional[T]) Get() (T, bool) { return o.value, o.state == 2 }

// Or returns the value of the member, or other if the member is null or absent.
func (o Optional[T]) Or(other T) T {
	if o.state == 2 {
		return o.value
	}
	return other
}

// IsZero reports whether the member is absent. Because of it omitzero omits an absent member and
// keeps null.
func (o Optional[T]) IsZero() bool { return o.state == 0 }

// IsNull reports whether the member is present and null, as opposed to absent or set to a
// value.
func (o Optional[T]) IsNull() bool { return o.state == 1 }

// IsSet reports whether the member has a value, as opposed to being null or absent.
func (o Optional[T]) IsSet() bool { return o.state == 2 }

// MarshalJSON writes the value, or null for a null member. omitzero omits an absent member.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != 2 {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value or null. It is not called for an absent member, which stays
// absent.
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
