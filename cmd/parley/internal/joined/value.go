package joined

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth limits the nesting of a line.
const maxDepth = 100

// decode reads a line as one JSON object. Numbers keep their text, names of members are compared exactly, and a duplicate name is an
// error, so that no other reader can decode the line differently.
func decode(line []byte) (map[string]any, error) {
	if !json.Valid(line) {
		return nil, errors.New("the line is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	v, err := value(d, maxDepth)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the line is not a JSON object")
	}
	return m, nil
}

// value reads the next value of valid JSON.
func value(d *json.Decoder, depth int) (any, error) {
	if depth == 0 {
		return nil, errors.New("the line is nested too deeply")
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		m := map[string]any{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string) // the JSON is valid
			if _, twice := m[name]; twice || name == "__proto__" {
				return nil, fmt.Errorf("the member %q is invalid or occurs twice", name)
			}
			if m[name], err = value(d, depth-1); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return m, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := value(d, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

// encode returns a value as one line of JSON.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
