package joined

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// shape checks a JSON value. It may change the value in place.
type shape func(v any) error

// members are the members that an object may have.
type members map[string]shape

// object accepts an object with only these members, each of which may be missing.
func object(allowed members) shape {
	return func(v any) error {
		m, ok := v.(map[string]any)
		if !ok {
			return errors.New("is not an object")
		}
		for name, v := range m {
			check := allowed[name]
			if check == nil {
				return fmt.Errorf("member %q is not allowed", name)
			}
			if err := check(v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
}

// variant accepts an object with the shape that one of its members selects.
func variant(by string, variants map[string]members) shape {
	return func(v any) error {
		m, _ := v.(map[string]any)
		name, _ := m[by].(string)
		allowed, known := variants[name]
		if !known {
			return fmt.Errorf("%s %q is not allowed", by, name)
		}
		full := members{by: text}
		for name, check := range allowed {
			full[name] = check
		}
		return object(full)(v)
	}
}

// list accepts an array of values of a shape.
func list(of shape) shape {
	return func(v any) error {
		values, ok := v.([]any)
		if !ok {
			return errors.New("is not an array")
		}
		for _, v := range values {
			if err := of(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// either accepts a value of any of the shapes.
func either(shapes ...shape) shape {
	return func(v any) (err error) {
		for _, s := range shapes {
			if err = s(v); err == nil {
				return nil
			}
		}
		return err
	}
}

// one accepts any of these strings.
func one(of ...string) shape {
	return func(v any) error {
		if s, ok := v.(string); !ok || !slices.Contains(of, s) {
			return fmt.Errorf("is not one of %v", of)
		}
		return nil
	}
}

// is accepts the values of a Go type.
func is[T any](v any) error {
	if _, ok := v.(T); !ok {
		return fmt.Errorf("is not a %T", *new(T))
	}
	return nil
}

var (
	text    shape = is[string]
	boolean shape = is[bool]
	number  shape = is[json.Number]
	anyData shape = is[map[string]any] // an object with any members
)

// null accepts only null.
func null(v any) error {
	if v != nil {
		return errors.New("is not null")
	}
	return nil
}
