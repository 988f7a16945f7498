package jsonwire

import "reflect"

// Table has a function that creates each variant of a union, by the name of the variant on the wire.
type Table[T any] map[string]func() T

// Names returns the names of the variants by their Go types.
func (t Table[T]) Names() map[reflect.Type]string {
	names := make(map[reflect.Type]string, len(t))
	for name, create := range t {
		names[reflect.TypeOf(create())] = name
	}
	return names
}

// Decode decodes the next value into the variant that its member type names, or into the one that
// unknown creates. It also returns the text of the value.
func (t Table[T]) Decode(d *Decoder, unknown func() T) (v T, text string) {
	start := d.Offset()
	create, ok := t[d.Peek("type")]
	if !ok {
		create = unknown
	}
	v = create()
	d.Into(v)
	return v, d.Since(start)
}
