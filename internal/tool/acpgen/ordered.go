package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object that keeps the order of its members.
type object struct {
	keys []string
	m    map[string]any
}

func (o *object) obj(key string) *object {
	if o == nil {
		return nil
	}
	v, _ := o.m[key].(*object)
	return v
}

func (o *object) list(key string) []any {
	if o == nil {
		return nil
	}
	v, _ := o.m[key].([]any)
	return v
}

func (o *object) str(key string) string {
	if o == nil {
		return ""
	}
	v, _ := o.m[key].(string)
	return v
}

// parse reads a JSON text with the order of its members.
func parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := &object{m: map[string]any{}}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			k := fmt.Sprint(key)
			o.keys, o.m[k] = append(o.keys, k), v
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}

// trim writes a schema without blanks and with one sentence a description.
func trim(text []byte) ([]byte, error) {
	v, err := parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := write(&b, v, ""); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, v any, key string) error {
	switch v := v.(type) {
	case *object:
		return writeObject(b, v, key == "$defs")
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, e, ""); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case string:
		if key == "description" {
			v = sentence(v)
		}
		return writeText(b, v)
	}
	return writeText(b, v)
}

// writeObject writes an object; the definitions each on a line.
func writeObject(b *bytes.Buffer, o *object, lines bool) error {
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if lines {
			b.WriteByte('\n')
		}
		if err := writeText(b, k); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := write(b, o.m[k], k); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeText(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// sentence returns the first sentence of a description, on one line.
func sentence(s string) string {
	s, _, _ = strings.Cut(s, "\n\n")
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i >= 0 {
		s = s[:i+1]
	}
	return s
}
